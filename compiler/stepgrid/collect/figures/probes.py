"""What the probes of a step saw: their seconds, which are metrics of their names, and what they counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from stepgrid.model.metrics.metric import Metric
from stepgrid.model.plan import PlannedStage

WINDOW = "the probe"


def figures(record: Mapping[str, Any]) -> dict[str, float]:
    """`record`: of the step."""
    return {str(name): float(seconds) for name, seconds in (record.get("probes") or {}).items()}


def counted(record: Mapping[str, Any]) -> Iterator[tuple[str, str, float]]:
    """Probe, counter, by how much it grew."""
    for probe, counters in (record.get("counters") or {}).items():
        yield from ((str(probe), str(name), float(grown)) for name, grown in counters.items())


def metrics(stages: Iterable[PlannedStage]) -> dict[str, Metric]:
    """Of a plan's probes: a spec gives them their names."""
    setups = {id(step.setup): step.setup for stage in stages for step in stage.steps}
    found = [probe for setup in setups.values() for when in ("before", "after") for probe in _probes(setup, when)]
    return {name: _metric(name) for name in sorted({str(probe["name"]) for probe in found})}


def _probes(setup: Mapping[str, Any], when: str) -> Iterable[Mapping[str, Any]]:
    return setup.get(when) or ()


def _metric(name: str) -> Metric:
    return Metric(name, "s", "lower", f"Time of the probe {name}.", WINDOW)
