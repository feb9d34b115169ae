"""Every metric, once: its unit, which way is better, what it is, over which window. docs/metrics.md is made of it.

`python -m stepgrid.collect.metrics_page > docs/metrics.md`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from stepgrid.collectors.perf_stat import COLLECTED
from stepgrid.drivers.insert_benchmark.metrics import INSERT_BENCHMARK
from stepgrid.drivers.quiesce.metrics import QUIET
from stepgrid.drivers.sql.metrics import SQL
from stepgrid.drivers.sysbench.metrics import SYSBENCH
from stepgrid.model.metrics.host import DEVICE, HOST, MEMORY
from stepgrid.model.metrics.latency import BY_OPERATION, LATENCY
from stepgrid.model.metrics.metric import Metric
from stepgrid.model.metrics.per_operation import PER_OPERATION
from stepgrid.model.metrics.processes import PROCESSES
from stepgrid.model.metrics.series import VARIANCE
from stepgrid.model.metrics.throughput import ANSWERS, THROUGHPUT
from stepgrid.model.metrics.work import SIZES, STALLS, TREE, WORK
from stepgrid.plugins import published_columns

SECTIONS: Mapping[str, tuple[Metric, ...]] = {
    "Throughput": THROUGHPUT,
    "Throughput over time": VARIANCE,
    "Inserts and searches": (*ANSWERS, *INSERT_BENCHMARK),
    "Statements": SQL,
    "Sysbench": SYSBENCH,
    "Latency": LATENCY,
    "State of the tree": TREE,
    "Work of the engine": WORK,
    "Stalls": STALLS,
    "Processes": PROCESSES,
    "Cost of an operation": PER_OPERATION,
    "Sizes": SIZES,
    "Host": HOST,
    "Memory and sensors": MEMORY,
    "Device": DEVICE,
    "Quiet": QUIET,
    "Collectors": COLLECTED,
    "Latency by kind of operation": BY_OPERATION,
}

METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        metric.name: replace(metric, legacy=columns) if (columns := published_columns.columns(metric.name)) else metric
        for section in SECTIONS.values()
        for metric in section
    }
)


def names(*sections: str) -> list[str]:
    return [metric.name for section in sections for metric in SECTIONS[section]]


def unit(metric: str) -> str:
    """Nothing of one that is not ours."""
    return METRICS[metric].unit if metric in METRICS else ""


def own_name(name: str) -> str | None:
    """Of a metric, by its name or by that of a published column; None where there is none."""
    return name if name in METRICS else published_columns.metrics().get(name)
