"""How commands speak of loads that are added until it is sure."""

from __future__ import annotations

from stepgrid.model.adaptive_repeat import AdaptiveRepeat
from stepgrid.model.plan import Plan, load_counts
from stepgrid.model.units import counted, duration


def limits(until: AdaptiveRepeat) -> str:
    """until decided: 3 to 12 loads within 8h00m"""
    within = "" if until.within is None else f" within {duration(until.within)}"
    return f"{until.goal}: {until.least} to {until.most} loads{within}"


def so_far(plan: Plan, until: AdaptiveRepeat) -> str:
    fewest, most = load_counts(plan)
    loads = counted(most, "load") if fewest == most else f"{fewest} to {most} loads"
    return f"{loads} of a cell so far ({limits(until)})"
