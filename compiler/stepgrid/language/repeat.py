"""`repeat`: so many loads, or loads until it is sure."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from stepgrid.language.fields import Count, Duration, Model
from stepgrid.model import units
from stepgrid.model.adaptive_repeat import AdaptiveRepeat

DECIDED = "decided"
_EXPECTED = "expected `decided`, or the width of an interval such as 2%"


def _width(value: object) -> object:
    """A width is a share; 2% of 1 is 0.02."""
    if not isinstance(value, str) or value == DECIDED:
        return value
    try:
        found = units.quantity(value, "percent") / 100 if value.rstrip().endswith("%") else 0
    except units.UnitError:
        found = 0
    if found <= 0:
        raise PydanticCustomError("wrong_unit", "{why}", {"why": f"{_EXPECTED}, found `{value}`"})
    return found


Until = Annotated[Literal["decided"] | float, BeforeValidator(_width)]
Loads = Annotated[int, Field(ge=2, le=100)]  # one load has no interval


class Repeat(Model):
    loads: Count = 1
    runs: Count = 1
    until: Until | None = None
    least: Loads = 3
    most: Loads = 12
    within: Duration | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Repeat:
        said = self.model_fields_set
        if self.until is None:
            for name in ("least", "most", "within"):
                if name in said:
                    why = f"`{name}` needs `until`, such as `until: decided` or `until: 2%`"
                    raise PydanticCustomError("needs_key", "{why}", {"why": why})
        elif "loads" in said:
            raise PydanticCustomError("not_both", "{why}", {"why": "it has both `loads` and `until`: keep one"})
        elif self.least > self.most:
            why = f"`least` is {self.least}, `most` is {self.most}: expected `least` to be no larger"
            raise PydanticCustomError("out_of_order", "{why}", {"why": why})
        return self

    @property
    def adaptive(self) -> AdaptiveRepeat | None:
        if self.until is None:
            return None
        width = self.until if isinstance(self.until, float) else None
        return AdaptiveRepeat(self.least, self.most, width, self.within)

    @property
    def fewest(self) -> int:
        """Loads that every cell gets."""
        return self.loads if self.until is None else self.least

    @property
    def highest(self) -> int:
        """Loads that no cell gets more of."""
        return self.loads if self.until is None else self.most
