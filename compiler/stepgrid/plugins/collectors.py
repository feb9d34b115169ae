"""The collectors by name. A module is imported when it is asked for, so that this costs nothing."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from stepgrid.plugins.collector import Collector

_MODULES = {
    "perf_stat": "stepgrid.collectors.perf_stat",
    "perf_record": "stepgrid.collectors.perf_record",
    "pidstat": "stepgrid.collectors.pidstat",
    "iostat": "stepgrid.collectors.iostat",
    "vmstat": "stepgrid.collectors.vmstat",
}


def names() -> tuple[str, ...]:
    return tuple(_MODULES)


def collector(name: str) -> Collector:
    if name not in _MODULES:
        raise LookupError(f"there is no collector {name!r}; there are: {', '.join(_MODULES)}")
    return cast("Collector", import_module(_MODULES[name]).COLLECTOR)
