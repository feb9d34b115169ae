"""How commands speak of loads that are added until it is sure, or to confirm a claim that fails."""

from __future__ import annotations

from stepgrid.model.adaptive_repeat import AdaptiveRepeat
from stepgrid.model.plan import Plan, load_counts
from stepgrid.model.units import counted, duration


def limits(until: AdaptiveRepeat) -> str:
    """until decided: 3 to 12 loads within 8h00m"""
    within = "" if until.within is None else f" within {duration(until.within)}"
    return f"{until.goal}: {until.least} to {until.most} loads{within}"


def so_far(plan: Plan) -> str:
    """Nothing of a plan whose number of loads is fixed."""
    fewest, most = load_counts(plan)
    if not plan.adds_loads:
        return ""
    loads = counted(most, "load") if fewest == most else f"{fewest} to {most} loads"
    return f"{loads} of a cell so far ({limits(plan.until) if plan.until else 'more to confirm a claim that fails'})"
