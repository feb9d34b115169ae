"""What a metric is: its unit, which way is better, what it is, over which window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Metric:
    name: str
    unit: str
    better: Literal["higher", "lower"] | None  # None: depends on what is asked
    definition: str
    window: str
    legacy: Mapping[str, str] = field(default_factory=dict)  # published layout -> its column for the same


@dataclass(frozen=True, slots=True)
class MetricSet:
    """What one driver or collector adds to the metrics."""

    sections: Mapping[str, tuple[Metric, ...]] = field(default_factory=dict)  # of docs/metrics.md, by title
    # Published layout -> metric -> the column that holds the same figure; its unit, and what is added up, may differ.
    # A column that is computed in another way and has another value (the published scan rates) is no alias.
    published: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def columns(pairs: str) -> Mapping[str, str]:
    """Metric -> column, of `metric=column metric=column …`."""
    return dict(pair.split("=") for pair in pairs.split())


# Over which time a figure is, where many metrics have the same.

STEP = "the step, from its start to its exit"
MEASURED = "the step, without what db_bench opens before and drains after its benchmark"
BENCHMARK = "the measured benchmark: the first of the step that counts operations"
OPENED = (
    "from when the step opened the database to its last statistics dump (its end, where it lists `stats`); of a "
    "server: the step"
)
END = "at the end of the step"
DUMP = "at the step's last statistics dump (its end, where it lists `stats`); of a server: at its end"
SAMPLES = "mean of the samples: of the step, or what of it was measured"
