"""The metrics of a plan's commands: a spec gives them their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from stepgrid.model.metrics.metric import STEP, Metric
from stepgrid.model.plan import PlannedStage
from stepgrid.plugins.metrics import METRICS


def own(stages: Iterable[PlannedStage]) -> dict[str, Metric]:
    """Without those that are called like one of ours: they are that one."""
    found: dict[str, Metric] = {}
    for stage in stages:
        for step in stage.steps:
            said = step.settings.get("metrics") if step.kind == "command" else None
            for name, metric in cast(Mapping[str, Mapping[str, Any]], said or {}).items():
                if name not in METRICS:
                    found.setdefault(name, _metric(name, metric))
    return dict(sorted(found.items()))


def _metric(name: str, said: Mapping[str, Any]) -> Metric:
    where = f"at {said['json']}" if said.get("json") else f"by the pattern {said['pattern']}"
    definition = f"A figure of the command's own, found {where}."
    return Metric(name, said["unit"], said["better"], definition, STEP)
