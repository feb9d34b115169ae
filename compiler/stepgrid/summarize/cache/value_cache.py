"""What was worked out before, by all that it was worked out of: many small values in one file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from stepgrid.summarize.cache import verified_file

Value = TypeVar("Value")


class Book:
    """Values are what JSON has. `made`: by what; another one's values are worked out again."""

    def __init__(self, path: Path | None = None, made: str = "") -> None:
        self._path, self._made = path, made
        self._before = _read(path, made) if path else {}
        self._used: dict[str, Any] = {}

    def get(self, key: str) -> Any:
        """None where it is not known."""
        found = self._used.get(key)
        if found is None and (found := self._before.get(key)) is not None:
            self._used[key] = found
        return found

    def put(self, key: str, value: Any) -> None:
        self._used[key] = value

    def of(self, key: str, make: Callable[[], Value]) -> Value:
        found: Value | None = self.get(key)
        if found is None:
            found = make()
            self.put(key, found)
        return found

    def save(self) -> None:
        """What was of no use this time goes."""
        from pydantic_core import to_json

        if self._path and self._used.keys() != self._before.keys():
            verified_file.write(self._path, to_json({"made": self._made, "values": self._used}).decode())


def _read(path: Path, made: str) -> dict[str, Any]:
    from pydantic_core import from_json  # as json.loads, in half its time

    text = verified_file.read(path)
    said = from_json(text) if text else {}
    values: dict[str, Any] = said["values"] if said.get("made") == made else {}
    return values
