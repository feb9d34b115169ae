"""What is wrong with a folder of published results: where, what was expected there. All of it is told at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

LONGEST = 100  # characters that are shown of a line


class Mistake(NamedTuple):
    path: Path
    line: int | None  # from 1; None: of the whole file or folder
    message: str
    text: str = ""  # the line as it stands

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        said = f"{where}: {self.message}"
        return f"{said}\n  | {_shown(self.text)}" if self.text.strip() else said


class Wrong(Exception):
    """A folder that cannot be imported, with everything that is wrong with it."""

    def __init__(self, faults: Iterable[Mistake]) -> None:
        self.faults = tuple(sorted(faults, key=lambda fault: (str(fault.path), fault.line or 0)))
        super().__init__("\n".join(map(str, self.faults)))


class Faults:
    """Collects."""

    def __init__(self) -> None:
        self._found: dict[Mistake, None] = {}

    def add(self, path: Path, line: int | None, message: str, text: str = "") -> None:
        self._found[Mistake(path, line, message, text)] = None

    def __iter__(self) -> Iterator[Mistake]:
        return iter(self._found)

    def stop(self) -> None:
        if self._found:
            raise Wrong(self._found)


def _shown(text: str) -> str:
    plain = "".join(character if character.isprintable() else " " for character in text.strip("\n"))
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1]}…"
