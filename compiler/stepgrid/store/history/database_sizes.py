"""What databases grew to, by what was done to them: the next stage that does the same is expected to need as much.

A cache of what attempts say (`disk` in attempt.json): one that is lost is learnt again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress

from stepgrid.host.files import make_folder, write_json
from stepgrid.store.store import Store

MOST = 8  # of the latest


def note(store: Store, shape: str, grown: int) -> None:
    path = store.database_sizes(shape)
    with suppress(OSError):
        make_folder(path.parent)
        write_json(path, {"bytes": [*known(store, shape), grown][-MOST:]})


def known(store: Store, shape: str) -> Sequence[int]:
    """Bytes of the latest stages of this shape, oldest first."""
    try:
        found = json.loads(store.database_sizes(shape).read_text(encoding="utf-8"))["bytes"]
        return [int(each) for each in found]
    except (OSError, ValueError, KeyError, TypeError):
        return []
