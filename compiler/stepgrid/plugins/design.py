"""A design: how the points of a grid that are measured are chosen, where it is too large to measure them all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from msgspec import Struct

Row: TypeAlias = tuple[int, ...]  # a point of the grid: the number of a value of each factor


class DesignError(Exception):
    """A grid or number that a design cannot be made of: a sentence, and a hint."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.message, self.hint = message, hint
        super().__init__(message)


class Factor(Struct, frozen=True):
    """An axis as a design sees it."""

    name: str
    values: int
    base: int = 0  # the number of the base's value
    decides_load: bool = True  # each of its values needs a database of its own


class DesignRequest(Struct, frozen=True):
    factors: tuple[Factor, ...]
    number: int | None  # that the spec gives beside the name
    seed: int  # of the spec
    allows: Callable[[Row], bool]  # whether the grid has a point: no `when` or `exclude` takes it away


class DesignRows(NamedTuple):
    rows: Sequence[Row]
    notes: Sequence[str] = ()  # what it cannot tell


class Design(Struct, frozen=True):
    choose: Callable[[DesignRequest], DesignRows]  # DesignError where it cannot
    least: int = 0  # of its number; 0: it takes none
    most: int = 0
    default: int | None = None  # None: the spec gives the number
    proposed: int | None = None  # by `check` then
