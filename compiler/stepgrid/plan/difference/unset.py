"""A value that is not there: another thing than null."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unset:
    def __repr__(self) -> str:
        return "unset"


UNSET = Unset()
