"""What a report was made of before, each by all that it is made of: a cache, which may go at any time.

Charts have a file each; of smaller things there are many in a book.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

from stepgrid.host import temporary_files
from stepgrid.store.code_revision import revision
from stepgrid.summarize.cache import verified_file
from stepgrid.summarize.cache.value_cache import Book

Drawing: TypeAlias = Callable[[], str]  # was begun; waits for its end
Draw: TypeAlias = Callable[[Mapping[str, Any]], Drawing]


class Kept:
    """In a folder of their own; a store that cannot be written has none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._used: set[str] = set()
        self._books: dict[str, Book] = {}

    def book(self, name: str) -> Book:
        if name not in self._books:
            self._books[name] = Book(self._folder / f"{name}.json", revision())
        return self._books[name]

    def drawn(self, chart: Mapping[str, Any], draw: Draw) -> Drawing:
        name = f"{verified_file.digest(json.dumps([_drawer(), chart], sort_keys=True))}.svg"
        self._used.add(name)
        found = verified_file.read(self._folder / name)
        return partial(self._finished, name, draw(chart)) if found is None else lambda: found

    def _finished(self, name: str, drawing: Drawing) -> str:
        found = drawing()
        verified_file.write(self._folder / name, found)
        return found

    def sweep(self) -> None:
        """What the report does not need any more, and what a kill left."""
        temporary_files.sweep(self._folder)
        for book in self._books.values():
            book.save()
        with suppress(OSError):
            for path in self._folder.glob("*.svg"):
                if path.name not in self._used:
                    path.unlink(missing_ok=True)


_kept: Kept | None = None


@contextmanager
def keeping(folder: Path, whole: bool = True) -> Iterator[None]:
    """While a report is made; what it did not need then goes. Where it is only read, nothing is written."""
    global _kept
    if _kept is not None:  # of a larger part of the work
        yield
        return
    _kept = Kept(folder)
    try:
        yield
        if whole:
            _kept.sweep()
    finally:
        _kept = None


def drawn(chart: Mapping[str, Any], draw: Draw) -> Drawing:
    return draw(chart) if _kept is None else _kept.drawn(chart, draw)


def book(name: str) -> Book:
    """An empty one where nothing is kept."""
    return Book() if _kept is None else _kept.book(name)


@cache
def _drawer() -> str:
    return version("vl-convert-python")
