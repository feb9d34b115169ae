"""Every metric, once: its unit, which way is better, what it is, over which window. docs/metrics.md is made of it.

`python -m compiler.collect.metrics_page > docs/metrics.md`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from compiler.collect.metrics import published
from compiler.collect.metrics.answers import ANSWERS
from compiler.collect.metrics.collectors import COLLECTED
from compiler.collect.metrics.device import DEVICE
from compiler.collect.metrics.host import HOST
from compiler.collect.metrics.insert_benchmark import INSERT_BENCHMARK
from compiler.collect.metrics.latency import BY_OPERATION, LATENCY
from compiler.collect.metrics.memory import MEMORY
from compiler.collect.metrics.metric import Metric
from compiler.collect.metrics.per_operation import PER_OPERATION
from compiler.collect.metrics.processes import PROCESSES
from compiler.collect.metrics.quiesce import QUIET
from compiler.collect.metrics.series import VARIANCE
from compiler.collect.metrics.sizes import SIZES
from compiler.collect.metrics.sql import SQL
from compiler.collect.metrics.stalls import STALLS
from compiler.collect.metrics.sysbench import SYSBENCH
from compiler.collect.metrics.throughput import THROUGHPUT
from compiler.collect.metrics.tree import TREE
from compiler.collect.metrics.work import WORK

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
