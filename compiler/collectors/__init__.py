"""The collectors by name. A module is imported when it is asked for, so that this costs nothing."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from compiler.collectors.protocol import Collector

_MODULES = {
    "perf_stat": "compiler.collectors.perf_stat",
    "perf_record": "compiler.collectors.perf_record",
    "pidstat": "compiler.collectors.pidstat",
    "iostat": "compiler.collectors.iostat",
    "vmstat": "compiler.collectors.vmstat",
}


def names() -> tuple[str, ...]:
    return tuple(_MODULES)


def collector(name: str) -> Collector:
    if name not in _MODULES:
        raise LookupError(f"there is no collector {name!r}; there are: {', '.join(_MODULES)}")
    return cast("Collector", import_module(_MODULES[name]).COLLECTOR)
