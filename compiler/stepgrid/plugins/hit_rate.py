"""How many of its lookups a step found, and how many it should find: reads of missing keys are another benchmark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from stepgrid.model.plan import PlannedStep
from stepgrid.plugins.driver import HitRates
from stepgrid.plugins.drivers import driver

FOUND, EXPECTED = "found_pct", "found_expected_pct"  # metrics
SAID = "% of the keys that it looked up"  # by a warning of this kind, and no other
LEAST = 0.99  # of what is expected
SIGMAS = 4.0  # of a random draw of keys, below which it is not by chance
HITS = 20.0  # so many are not all missed by chance


def expected(steps: Sequence[PlannedStep]) -> list[float | None]:
    """Percent, of each step of a sequence that begins without a database; None where it is unknown."""
    found: list[float | None] = [None] * len(steps)
    for kind in {step.kind for step in steps}:
        of = driver(kind)
        rates = of.hit_rates(steps) if isinstance(of, HitRates) else ()
        for at, rate in enumerate(rates):
            if steps[at].kind == kind and rate is not None:
                found[at] = 100 * rate
    return found


def is_low(metrics: Mapping[str, float], wanted: float, step: PlannedStep) -> bool:
    """Fewer than 99 % of what is expected, and not by chance."""
    found, lookups = metrics.get(FOUND), _lookups(metrics, step)
    if found is None or found >= LEAST * wanted:
        return False
    if wanted >= 100:
        return True
    return lookups is not None and found < wanted - SIGMAS * _deviation(wanted, lookups, step)


def is_nothing(metrics: Mapping[str, float], wanted: float, step: PlannedStep) -> bool:
    lookups = _lookups(metrics, step)
    if metrics.get(FOUND) != 0:
        return False
    return wanted >= 100 if lookups is None else lookups * wanted / 100 >= HITS


def words(metrics: Mapping[str, float], wanted: float) -> str:
    return f"found {metrics[FOUND]:.3g} {SAID}; {wanted:.3g} % were expected"


def _lookups(metrics: Mapping[str, float], step: PlannedStep) -> float | None:
    """Of one client: what is printed is of one."""
    operations = metrics.get("operations")
    return operations / _count(step, "threads") if operations else None


def _deviation(wanted: float, lookups: float, step: PlannedStep) -> float:
    """Percent: of the keys that are drawn, and of those that a random load drew."""
    share, keys = wanted / 100, _count(step, "keys")
    return 100 * math.sqrt(share * (1 - share) * (1 / lookups + 1 / keys))


def _count(step: PlannedStep, name: str) -> int:
    value = step.settings.get(name)
    return value if isinstance(value, int) and value > 0 else 1
