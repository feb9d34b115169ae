"""What is wrong with a folder of published results, and what is not understood: where, what was expected there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from stepgrid.model.counted import counted

LONGEST = 100  # characters that are shown of a line


class Mistake(NamedTuple):
    path: Path
    line: int | None  # from 1; None: of the whole file or folder
    message: str
    text: str = ""  # the line as it stands

    @property
    def sentence(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{where}: {self.message}"

    def __str__(self) -> str:
        return f"{self.sentence}\n  | {_shown(self.text)}" if self.text.strip() else self.sentence


def in_order(mistakes: Iterable[Mistake]) -> tuple[Mistake, ...]:
    return tuple(sorted(mistakes, key=lambda each: (str(each.path), each.line or 0)))


class Wrong(Exception):
    """A folder that cannot be imported, with everything that is wrong with it. `unknown`: it may be left out."""

    def __init__(self, faults: Iterable[Mistake], unknown: bool = False) -> None:
        self.faults = in_order(faults)
        self.unknown = unknown
        super().__init__("\n".join(map(str, self.faults)))


class Faults:
    """Collects what is wrong, what is not understood, and which files were read."""

    def __init__(self) -> None:
        self._found: dict[Mistake, None] = {}
        self._unknown: dict[tuple[Path, str], list[Mistake]] = {}
        self.read: set[Path] = set()
        self.cut: list[Path] = []  # whose last line is half a line, which is not read

    def add(self, path: Path, line: int | None, message: str, text: str = "") -> None:
        self._found[Mistake(path, line, message, text)] = None

    def add_unknown(self, path: Path, line: int | None, message: str, text: str = "") -> None:
        """What is not understood. Lines of a file that lack the same are told once, and counted."""
        self._unknown.setdefault((path, message), []).append(Mistake(path, line, message, text))

    def __iter__(self) -> Iterator[Mistake]:
        return iter(self._found)

    @property
    def unknown(self) -> list[Mistake]:
        return [_first_of(alike) for alike in self._unknown.values()]

    def stop(self) -> None:
        if self._found:
            raise Wrong((*self._found, *self.unknown))


def _first_of(alike: list[Mistake]) -> Mistake:
    first, many = alike[0], len(alike)
    if many == 1:
        return first
    return first._replace(message=f"{first.message}; {counted(many, 'such line')}, this is the first")


def _shown(text: str) -> str:
    plain = "".join(character if character.isprintable() else " " for character in text.strip("\n"))
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1]}…"
