"""An axis in an expression: `fanout == 32`, `cache == 'lru'`, `build == 'rocksdb'` (label, value, family)."""

from __future__ import annotations

from stepgrid.model import units


class Label(str):
    """A point's label; equal to its own text, to the number that the text means, and to its other names."""

    number: int | float | None
    also: frozenset[str]

    def __new__(cls, text: str, also: frozenset[str] = frozenset()) -> Label:
        self = super().__new__(cls, text)
        self.number = units.number(text)
        self.also = also
        return self

    def __eq__(self, other: object) -> bool:
        if isinstance(other, bool):
            return str(self) == str(other).lower()
        if isinstance(other, int | float):
            return self.number == other
        return isinstance(other, str) and (str(self) == str(other) or str(other) in self.also)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __lt__(self, other: object) -> bool:
        return self._ordered(other) < 0

    def __gt__(self, other: object) -> bool:
        return self._ordered(other) > 0

    def __le__(self, other: object) -> bool:
        return self._ordered(other) <= 0

    def __ge__(self, other: object) -> bool:
        return self._ordered(other) >= 0

    def _ordered(self, other: object) -> float:
        value = units.number(other) if isinstance(other, str) else other
        if self.number is None or not isinstance(value, int | float):
            raise TypeError(f"`{self}` and `{other}` have no order")
        return self.number - value
