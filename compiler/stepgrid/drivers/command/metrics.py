"""The metrics of a command: a spec gives them their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepgrid.model.metrics.metric import STEP, Metric


def own_metrics(settings: Mapping[str, Any]) -> dict[str, Metric]:
    return {name: _metric(name, said) for name, said in (settings.get("metrics") or {}).items()}


def _metric(name: str, said: Mapping[str, Any]) -> Metric:
    where = f"at {said['json']}" if said.get("json") else f"by the pattern {said['pattern']}"
    definition = f"A figure of the command's own, found {where}."
    return Metric(name, said["unit"], said["better"], definition, STEP)
