"""How many loads of a cell were asked for, because fewer did not decide what the report is about.

A file per cell, named by the last stage of its first load: every spec that has the same stages goes on from there."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from stepgrid.host.files import make_folder, read_json, write_json
from stepgrid.language import files
from stepgrid.plan.order import LoadRecords
from stepgrid.store.store import Store


def of_store(store: Store) -> LoadRecords:
    return LoadRecords(partial(requested, store), partial(measured, store))


def requested(store: Store, stage: str) -> int:
    content = _seen(store.load_request(stage))
    try:
        return int(json.loads(content)["loads"]) if content else 0
    except (ValueError, KeyError, TypeError):
        return 0


def measured(store: Store, stage: str) -> bool:
    _seen(store.mark(stage))
    return bool(store.results(stage))


def ask(store: Store, stage: str, loads: int, why: str) -> None:
    """Never for fewer than before: what is measured stays in the report."""
    path = store.load_request(stage)
    if read_json(path).get("loads", 0) < loads:
        make_folder(path.parent)
        write_json(path, {"loads": loads, "why": why})


def _seen(path: Path) -> bytes | None:
    """A plan that was compiled before holds while this stays as it is."""
    try:
        content = path.read_bytes()
    except OSError:
        content = None
    files.record_file(str(path), content)
    return content


def why(store: Store, stage: str) -> str:
    return str(read_json(store.load_request(stage)).get("why", ""))
