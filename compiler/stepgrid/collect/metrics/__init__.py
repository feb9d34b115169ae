"""Every metric, once: its unit, which way is better, what it is, over which window. docs/metrics.md is made of it.

`python -m stepgrid.collect.metrics_page > docs/metrics.md`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from stepgrid.collect.metrics import published
from stepgrid.collect.metrics.answers import ANSWERS
from stepgrid.collect.metrics.collectors import COLLECTED
from stepgrid.collect.metrics.device import DEVICE
from stepgrid.collect.metrics.host import HOST
from stepgrid.collect.metrics.insert_benchmark import INSERT_BENCHMARK
from stepgrid.collect.metrics.latency import BY_OPERATION, LATENCY
from stepgrid.collect.metrics.memory import MEMORY
from stepgrid.collect.metrics.metric import Metric
from stepgrid.collect.metrics.per_operation import PER_OPERATION
from stepgrid.collect.metrics.processes import PROCESSES
from stepgrid.collect.metrics.quiesce import QUIET
from stepgrid.collect.metrics.series import VARIANCE
from stepgrid.collect.metrics.sizes import SIZES
from stepgrid.collect.metrics.sql import SQL
from stepgrid.collect.metrics.stalls import STALLS
from stepgrid.collect.metrics.sysbench import SYSBENCH
from stepgrid.collect.metrics.throughput import THROUGHPUT
from stepgrid.collect.metrics.tree import TREE
from stepgrid.collect.metrics.work import WORK

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
        metric.name: replace(metric, legacy=columns) if (columns := published.columns(metric.name)) else metric
        for section in SECTIONS.values()
        for metric in section
    }
)


def names(*sections: str) -> list[str]:
    return [metric.name for section in sections for metric in SECTIONS[section]]


def own_name(name: str) -> str | None:
    """Of a metric, by its name or by that of a published column; None where there is none."""
    return name if name in METRICS else published.metrics().get(name)
