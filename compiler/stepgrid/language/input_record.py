"""What a compilation looked at, and what it found there: its plan holds for as long as all of it stays as it was."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class InputRecord(NamedTuple):
    files: dict[str, str | None]  # path -> digest of the content that was read; None = there was no file
    programs: dict[str, str]  # name -> what held it still
    trees: dict[str, tuple[str, str]]  # path -> a mark that is cheap to compare, what held it still
    inputs: dict[str, tuple[str, str]]  # path -> a mark likewise, the checksum


_watching: ContextVar[InputRecord | None] = ContextVar("watching", default=None)


@contextmanager
def watching() -> Iterator[InputRecord]:
    found = InputRecord({}, {}, {}, {})
    token = _watching.set(found)
    try:
        yield found
    finally:
        _watching.reset(token)


def saw(path: str, content: bytes | None) -> None:
    """The content as it was read, not as it may be by now."""
    if (witness := _watching.get()) is not None:
        witness.files[path] = None if content is None else digest(content)


def saw_program(name: str, pin: str) -> None:
    if (witness := _watching.get()) is not None:
        witness.programs[name] = pin


def saw_tree(path: str, mark: str, pin: str) -> None:
    if (witness := _watching.get()) is not None:
        witness.trees[path] = (mark, pin)


def saw_input(path: str, mark: str, checksum: str) -> None:
    if (witness := _watching.get()) is not None:
        witness.inputs[path] = (mark, checksum)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
