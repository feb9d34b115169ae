"""The rates that a step's clients were asked for, and whether they sustained them: `target_x` is a target of `x`."""

from __future__ import annotations

from collections.abc import Mapping

from stepgrid.model.plan import PlannedStep
from stepgrid.model.rate_target import met
from stepgrid.plugins.driver import RateTargets
from stepgrid.plugins.drivers import driver

TARGET, MET = "target_", "target_met"


def asked(step: PlannedStep) -> Mapping[str, float]:
    """By the step's settings."""
    kind = driver(step.kind)
    return kind.targets(step.settings) if isinstance(kind, RateTargets) else {}


def figures(metrics: Mapping[str, float]) -> dict[str, float]:
    """Nothing where there was no target, or no rate."""
    targets = {name.removeprefix(TARGET): rate for name, rate in metrics.items() if name.startswith(TARGET)}
    kept = [met(metrics[name], target) for name, target in targets.items() if name in metrics]
    return {MET: float(all(kept))} if kept else {}
