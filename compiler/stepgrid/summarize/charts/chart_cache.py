"""Charts that were drawn before, by all that they are drawn of: a file beside the report, which may go at any time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from stepgrid.host import files
from stepgrid.host.files import write_json
from stepgrid.summarize.charts.svg import Draw, drawn


class ChartCache:
    """A store that cannot be written has none."""

    def __init__(self, path: Path, draw: Draw = drawn) -> None:
        self._path, self._draw, self._before = path, draw, _read(path)
        self._used: dict[str, str] = {}

    def drawn(self, chart: Mapping[str, Any]) -> str:
        text = json.dumps([_drawer(), chart], sort_keys=True)
        key = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
        self._used[key] = self._before.get(key) or self._draw(chart)
        return self._used[key]

    def save(self) -> None:
        """What the report does not show any more goes."""
        if self._used.keys() != self._before.keys():
            with suppress(OSError):
                write_json(self._path, self._used)


def _read(path: Path) -> dict[str, str]:
    found = files.read_json(path)
    return found if all(isinstance(drawn, str) for drawn in found.values()) else {}


@cache
def _drawer() -> str:
    return version("vl-convert-python")
