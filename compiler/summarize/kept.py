"""Charts that were drawn before, each by all that it is drawn of: a cache, which may go at any time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

from compiler.store import halfmade
from compiler.store.durable import make_folder, write_cache

Drawing: TypeAlias = Callable[[], str]  # was begun; waits for its end
Draw: TypeAlias = Callable[[Mapping[str, Any]], Drawing]


class Kept:
    """In a folder of their own; a store that cannot be written has none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._used: set[str] = set()

    def drawn(self, chart: Mapping[str, Any], draw: Draw) -> Drawing:
        name = _digest(json.dumps([_drawer(), chart], sort_keys=True))
        self._used.add(f"{name}.svg")
        found = self._read(name)
        return partial(self._finished, name, draw(chart)) if found is None else lambda: found

    def _finished(self, name: str, drawing: Drawing) -> str:
        found = drawing()
        self._write(name, found)
        return found

    def sweep(self) -> None:
        """What the page does not show any more, and what a kill left."""
        halfmade.sweep(self._folder)
        with suppress(OSError):
            for path in self._folder.glob("*.svg"):
                if path.name not in self._used:
                    path.unlink(missing_ok=True)

    def _read(self, name: str) -> str | None:
        """Nothing when it is not what was written, as after a power cut."""
        try:
            said, _, found = (self._folder / f"{name}.svg").read_text(encoding="utf-8").partition("\n")
        except (OSError, ValueError):
            return None
        return found if said == _digest(found) else None

    def _write(self, name: str, found: str) -> None:
        with suppress(OSError):
            make_folder(self._folder)
            write_cache(self._folder / f"{name}.svg", f"{_digest(found)}\n{found}")


_kept: Kept | None = None


@contextmanager
def keeping(folder: Path) -> Iterator[None]:
    """While a page is made; what it did not need then goes."""
    global _kept
    _kept = Kept(folder)
    try:
        yield
        _kept.sweep()
    finally:
        _kept = None


def drawn(chart: Mapping[str, Any], draw: Draw) -> Drawing:
    return draw(chart) if _kept is None else _kept.drawn(chart, draw)


@cache
def _drawer() -> str:
    return version("vl-convert-python")


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
