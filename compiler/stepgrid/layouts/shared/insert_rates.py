"""The rates of a step of the insert benchmark: what counts as its speed, and whether it sustained its target."""

from __future__ import annotations

from collections.abc import Mapping

from stepgrid.model import rate_target

INSERTS, QPS, TARGET = "inserts_per_s", "qps", "target_inserts_per_s"
Values = Mapping[str, float]


def queries(values: Values) -> float | None:
    """Queries per second. Where a step only inserts, its qps are rows; one that queries has a target for these."""
    only_inserts = INSERTS in values and TARGET not in values
    return None if only_inserts else values.get(QPS)


def speed(values: Values) -> float | None:
    """Of a step that queries its queries/s; of one that only inserts its rows/s."""
    found = queries(values)
    return values.get(INSERTS) if found is None else found


def metric(values: Values) -> str:
    """Which of the two it is."""
    return INSERTS if queries(values) is None else QPS


def sustained(values: Values) -> bool:
    """By the figures as they are shown: over several loads, their medians."""
    rate, target = values.get(INSERTS), values.get(TARGET)
    return rate is None or target is None or rate_target.met(rate, target)
