"""Table of all metrics: unit, which way is better, meaning, window. docs/reference/metrics.md is made of it.

`python -m scripts.metrics_page > docs/reference/metrics.md`
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

from stepgrid.model.metrics import CORE_SECTIONS, Metric, MetricSet
from stepgrid.model.plan import PlannedStep
from stepgrid.plugins.registry import COLLECTORS, DRIVERS, driver


@runtime_checkable
class MetricProvider(Protocol):
    """A driver or collector with metrics that no other has, or that stand in columns of published tables."""

    def metrics(self) -> MetricSet: ...


@runtime_checkable
class OwnMetrics(Protocol):
    """A driver whose steps give metrics their names."""

    def own_metrics(self, settings: Mapping[str, Any]) -> Mapping[str, Metric]: ...


_PLUGINS = tuple(
    plugin.metrics()
    for plugin in (*map(DRIVERS.get, DRIVERS.names()), *map(COLLECTORS.get, COLLECTORS.names()))
    if isinstance(plugin, MetricProvider)
)

# Titles that the core does not have come last.
SECTIONS: Mapping[str, tuple[Metric, ...]] = {
    title: (
        *CORE_SECTIONS.get(title, ()),
        *(metric for plugin in _PLUGINS for metric in plugin.sections.get(title, ())),
    )
    for title in dict.fromkeys((*CORE_SECTIONS, *(title for plugin in _PLUGINS for title in plugin.sections)))
}

PUBLISHED: Mapping[str, Mapping[str, str]] = {
    layout: columns for plugin in _PLUGINS for layout, columns in plugin.published.items()
}


METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        metric.name: replace(
            metric,
            legacy={layout: columns[metric.name] for layout, columns in PUBLISHED.items() if metric.name in columns}
            or metric.legacy,
        )
        for section in SECTIONS.values()
        for metric in section
    }
)


def unit(metric: str) -> str:
    """Look up a unit; empty for a metric that is not in the table."""
    return METRICS[metric].unit if metric in METRICS else ""


def step_metrics(steps: Iterable[PlannedStep]) -> dict[str, Metric]:
    """Collect the metrics that steps name themselves, without those that have the name of one in the table."""
    metrics: dict[str, Metric] = {}
    for step in steps:
        plugin = driver(step.kind)
        for name, metric in plugin.own_metrics(step.settings).items() if isinstance(plugin, OwnMetrics) else ():
            metrics.setdefault(name, metric)
    return {name: metrics[name] for name in sorted(metrics.keys() - METRICS.keys())}


def metric_name(name: str) -> str | None:
    """Find a metric by its name or by that of a published column.

    If several layouts have the column for different things, the first counts.
    """
    columns = ((metric, column) for layout in PUBLISHED.values() for metric, column in layout.items())
    return name if name in METRICS else next((metric for metric, column in columns if column == name), None)
