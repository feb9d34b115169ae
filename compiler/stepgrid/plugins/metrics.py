"""Table of all metrics: unit, which way is better, meaning, window. docs/reference/metrics.md is made of it.

`python -m scripts.metrics_page > docs/reference/metrics.md`
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from stepgrid.model.metrics import CORE_SECTIONS, Metric
from stepgrid.model.plan import PlannedStep
from stepgrid.model.records import replace
from stepgrid.plugins.collector import MetricProvider
from stepgrid.plugins.registry import COLLECTORS, DRIVERS, own_metrics

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
    metrics = own_metrics(steps)
    return {name: metrics[name] for name in sorted(metrics.keys() - METRICS.keys())}


def metric_name(name: str) -> str | None:
    """Find a metric by its name or by that of a published column.

    If several layouts have the column for different things, the first counts.
    """
    columns = ((metric, column) for layout in PUBLISHED.values() for metric, column in layout.items())
    return name if name in METRICS else next((metric for metric, column in columns if column == name), None)
