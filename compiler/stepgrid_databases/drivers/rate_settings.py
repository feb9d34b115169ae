"""The settings of kinds whose steps may have a rate (drivers/open_loop.py)."""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, Discriminator, Field, Tag, ValidationInfo, model_validator

from stepgrid.language.validation import quantity, sentence_error
from stepgrid.plugins.settings import DURATION, InnerCount, Late, Nested, Seconds, Settings
from stepgrid_databases.drivers.open_loop import SHAPES

Span: TypeAlias = Annotated[float, quantity("duration"), Field(gt=0, strict=True, allow_inf_nan=False)]


class RateShape(Settings):
    """A rate that changes: one of these, with what belongs to it."""

    ramp: Annotated[tuple[InnerCount, InnerCount] | None, Field(description="from one rate to another")] = None
    over: Annotated[Span | None, Field(description="how long a ramp takes; then its last rate holds")] = None
    sine: Annotated[tuple[InnerCount, InnerCount] | None, Field(description="between two rates, from the lower")] = None
    period: Annotated[Span | None, Field(description="of a sine")] = None
    steps: Annotated[tuple[InnerCount, ...] | None, Field(min_length=2, description="rates in turn, then again")] = None
    hold: Annotated[Span | None, Field(description="how long each of the steps takes")] = None
    trace: Annotated[
        str | None, Field(min_length=1, description="a file of two columns, seconds and rate; each rate holds")
    ] = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        named = [name for name in SHAPES if getattr(self, name) is not None]
        if len(named) != 1:
            raise sentence_error("rate", f"a rate that changes has one of {', '.join(SHAPES)}")
        if self.sine and self.sine[0] > self.sine[1]:
            raise sentence_error("rate", "`sine` has the lower rate first: it begins there")
        needed = SHAPES[named[0]]
        for name in filter(None, SHAPES.values()):
            if (getattr(self, name) is None) == (name == needed):
                message = f"`{named[0]}` needs `{name}`" if name == needed else f"`{name}` is not of `{named[0]}`"
                raise sentence_error("rate", message)
        return self


def _tag(value: object) -> str:
    return "none" if value is None else "shape" if isinstance(value, dict | RateShape) else "count"


Rate: TypeAlias = Annotated[
    Annotated[InnerCount, Tag("count")] | Annotated[RateShape, Tag("shape")] | Annotated[None, Tag("none")],
    Discriminator(_tag),
    Nested(),
    Late(),
    Field(
        description="operations per second of all clients: a number, or {ramp:, over:}, {sine:, period:}, "
        "{steps:, hold:}, {trace:}; latency counts from when one should have begun"
    ),
]


LatencyLimit: TypeAlias = Annotated[
    Seconds | None,
    DURATION,
    Late(),
    Field(description="the part of the time in which an operation takes longer is told (over_limit_pct)"),
]


def _check_arrivals(value: str | None, info: ValidationInfo) -> str | None:
    if value is not None and not info.data.get("rate") and not info.data.get("insert_rate"):
        raise sentence_error("arrivals", "it is of a `rate`, and there is none")
    return value


Arrivals: TypeAlias = Annotated[
    Literal["even", "poisson"] | None,
    AfterValidator(_check_arrivals),
    Late(),
    Field(description="of operations at a rate: at equal distances, as where nothing is said, or at random"),
]
