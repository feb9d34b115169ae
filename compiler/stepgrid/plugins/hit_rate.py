"""Lookups of a step that find a key, and how many should: reads of missing keys are another benchmark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from stepgrid.model.plan import PlannedStep
from stepgrid.plugins.driver import HitRates
from stepgrid.plugins.registry import find_driver
from stepgrid.plugins.work import MISSES, WorkFigure

FOUND, EXPECTED = "found_pct", "found_expected_pct"  # metrics
WARNING = "% of the keys that it looked up"  # in a warning of this kind, and no other
LEAST = 0.99  # of the expected share
SIGMAS = 4.0  # of a random draw of keys, below which it is not by chance
FOUND_KEYS = WorkFigure(FOUND, "{:.3g} % of the keys found", 5.0)
HITS = 20.0  # so many are not all missed by chance


def expected_percent(steps: Sequence[PlannedStep]) -> list[float | None]:
    """Ask the drivers about a sequence of steps that begins without a database; None if a share is unknown.

    What runs beside another step has a share that nobody knows, and is not in the sequence."""
    shares: list[float | None] = [None] * len(steps)
    positions = [at for at, step in enumerate(steps) if not step.is_beside]
    sequence = [steps[at] for at in positions]
    for kind in {step.kind for step in sequence}:
        plugin = find_driver(kind)
        rates = plugin.hit_rates(sequence) if isinstance(plugin, HitRates) else ()
        for at, rate in zip(positions, rates, strict=False):
            if steps[at].kind == kind and rate is not None:
                shares[at] = 100 * rate
    return shares


def is_low(metrics: Mapping[str, float], expected: float, step: PlannedStep) -> bool:
    """Tell whether a step found fewer than 99 % of the expected keys, and not by chance."""
    percent, lookups = metrics.get(FOUND), _lookups(metrics, step)
    if percent is None or percent >= LEAST * expected:
        return False
    if expected >= 100:
        return True
    if lookups is None:
        return False
    share = expected / 100  # of the keys that are drawn, and of those that a random load drew
    deviation = 100 * math.sqrt(share * (1 - share) * (1 / lookups + 1 / _count(step, "keys")))
    return percent < expected - SIGMAS * deviation


def is_zero(metrics: Mapping[str, float], expected: float | None, step: PlannedStep) -> bool:
    """Tell whether a step found no key, and not by chance; a benchmark of missing keys says so in its name."""
    lookups, plugin = _lookups(metrics, step), find_driver(step.kind)
    key = plugin.seed_key(step.settings) if plugin else ""
    if metrics.get(FOUND) != 0 or MISSES in f"{step.name} {key}".lower():
        return False
    if expected is None:
        return lookups is None or lookups >= HITS
    return expected >= 100 if lookups is None else lookups * expected / 100 >= HITS


def hit_warning(metrics: Mapping[str, float], expected: float) -> str:
    return f"found {metrics[FOUND]:.3g} {WARNING}; {expected:.3g} % were expected"


def _lookups(metrics: Mapping[str, float], step: PlannedStep) -> float | None:
    """Lookups of one client, whose hits the output has."""
    operations = metrics.get("operations")
    return operations / _count(step, "threads") if operations else None


def _count(step: PlannedStep, name: str) -> int:
    value = step.settings.get(name)
    return value if isinstance(value, int) and value > 0 else 1
