"""Facts of a step that are neither options nor settings: what it is called, what it measures, which RocksDB it runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from stepgrid.drivers.db_bench.benchmarks import first_measured
from stepgrid.expand.builds import Build
from stepgrid.expand.steps.resolved_step import ResolvedStep

_NUMBERS = re.compile(r"v?(\d+(?:\.\d+)*)")


def release_of(build: Build) -> tuple[int, ...] | None:
    """Which RocksDB a build is, or, for a fork, is based on; None for another engine, or when nobody says."""
    if build.engine not in ("rocksdb", "speedb"):
        return None
    said = getattr(build, "based_on", None) or (build.version if build.engine == "rocksdb" else "")
    match = _NUMBERS.match(str(said))
    return tuple(int(part) for part in match[1].split(".")) if match else None


def is_speedb(build: Build) -> bool:
    """By where it comes from: it is a RocksDB in everything else."""
    return any("speedb" in text.lower() for text in _texts(build.source))


def _texts(source: Any) -> Iterator[str]:
    if isinstance(source, Mapping | list):
        for inner in source.values() if isinstance(source, Mapping) else source:
            yield from _texts(inner)
    elif isinstance(source, str):
        yield str(source)


def benchmark_of(step: ResolvedStep) -> str | None:
    """The benchmark that a db_bench step is about."""
    names = step.settings.values.get("benchmarks")
    return first_measured([str(name) for name in names]) if isinstance(names, list) else None


def inside(facts: Mapping[str, Any], path: str) -> Any:
    """facts["storage"]["max_sectors_kb"] by `storage.max_sectors_kb`; None where there is none."""
    value: Any = facts
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


DERIVED: Mapping[str, Callable[[ResolvedStep, Build], Any]] = {
    "step": lambda step, build: step.head.name,
    "kind": lambda step, build: step.head.kind,
    "measured": lambda step, build: step.head.measured,
    "build": lambda step, build: build.name,
    "speedb": lambda step, build: is_speedb(build),
    "release": lambda step, build: release_of(build),
    "benchmark": lambda step, build: benchmark_of(step),
}
