"""Every metric, once: its unit, which way is better, what it is, over which window. docs/metrics.md is made of it.

`python -m scripts.metrics_page > docs/metrics.md`
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

from stepgrid.model.metrics.garbage import GARBAGE
from stepgrid.model.metrics.host import DEVICE, HOST, MEMORY
from stepgrid.model.metrics.latency import BY_OPERATION, LATENCY
from stepgrid.model.metrics.metric import Metric, MetricSet
from stepgrid.model.metrics.per_operation import PER_OPERATION
from stepgrid.model.metrics.processes import PROCESSES
from stepgrid.model.metrics.throughput import ANSWERS, THROUGHPUT, VARIANCE
from stepgrid.model.metrics.work import SIZES, STALLS, TREE, WORK
from stepgrid.model.plan import PlannedStep
from stepgrid.plugins import drivers
from stepgrid.plugins.registry import COLLECTORS, DRIVERS


@runtime_checkable
class MetricProvider(Protocol):
    """A driver or collector with metrics that no other has, or that stand in columns of published tables."""

    def metrics(self) -> MetricSet: ...


@runtime_checkable
class OwnMetrics(Protocol):
    """A driver whose steps give metrics their names."""

    def own_metrics(self, settings: Mapping[str, Any]) -> Mapping[str, Metric]: ...


def _of_plugins() -> Iterator[MetricSet]:
    """By name, drivers first."""
    every = [*map(DRIVERS.get, sorted(DRIVERS.names())), *map(COLLECTORS.get, sorted(COLLECTORS.names()))]
    yield from (each.metrics() for each in every if isinstance(each, MetricProvider))


_PLUGINS = tuple(_of_plugins())

_SECTIONS: Mapping[str, tuple[Metric, ...]] = {
    "Throughput": THROUGHPUT,
    "Throughput over time": VARIANCE,
    "Inserts and searches": ANSWERS,
    "Statements": (),
    "Sysbench": (),
    "Latency": LATENCY,
    "State of the tree": TREE,
    "Work of the engine": WORK,
    "Stalls": STALLS,
    "Processes": PROCESSES,
    "Cost of an operation": PER_OPERATION,
    "Sizes": SIZES,
    "Garbage": GARBAGE,
    "Host": HOST,
    "Memory and sensors": MEMORY,
    "Device": DEVICE,
    "Quiet": (),
    "Collectors": (),
    "Latency by kind of operation": BY_OPERATION,
}

# Titles that only plug-ins fill are above for their place on the page: those of other plug-ins come last.
SECTIONS: Mapping[str, tuple[Metric, ...]] = {
    title: (*_SECTIONS.get(title, ()), *(metric for each in _PLUGINS for metric in each.sections.get(title, ())))
    for title in dict.fromkeys((*_SECTIONS, *(title for each in _PLUGINS for title in each.sections)))
}

PUBLISHED: Mapping[str, Mapping[str, str]] = {
    layout: columns for each in _PLUGINS for layout, columns in each.published.items()
}


def _columns(metric: str) -> dict[str, str]:
    """Layout -> its column."""
    return {layout: columns[metric] for layout, columns in PUBLISHED.items() if metric in columns}


METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        metric.name: replace(metric, legacy=columns) if (columns := _columns(metric.name)) else metric
        for section in SECTIONS.values()
        for metric in section
    }
)


def unit(metric: str) -> str:
    """Nothing of one that is not ours."""
    return METRICS[metric].unit if metric in METRICS else ""


def own(steps: Iterable[PlannedStep]) -> dict[str, Metric]:
    """The metrics that steps give their names, without those that are called like one of ours: they are that one."""
    found: dict[str, Metric] = {}
    for step in steps:
        kind = drivers.driver(step.kind)
        for name, metric in kind.own_metrics(step.settings).items() if isinstance(kind, OwnMetrics) else ():
            found.setdefault(name, metric)
    return {name: found[name] for name in sorted(found.keys() - METRICS.keys())}


def own_name(name: str) -> str | None:
    """Of a metric, by its name or by that of a published column; None where there is none.

    Of a column that several layouts have for different things, what the first means.
    """
    columns = ((metric, column) for each in PUBLISHED.values() for metric, column in each.items())
    return name if name in METRICS else next((metric for metric, column in columns if column == name), None)
