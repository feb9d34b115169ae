"""Facts of a step that are neither options nor settings: the benchmark that it is about, and which RocksDB it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from stepgrid.drivers.db_bench.benchmarks import first_measured
from stepgrid.plugins.driver import DeclaredBuild

_NUMBERS = re.compile(r"v?(\d+(?:\.\d+)*)")


def facts(settings: Mapping[str, Any], build: DeclaredBuild) -> Mapping[str, Any]:
    return {"benchmark": benchmark_of(settings), "release": release_of(build), "speedb": is_speedb(build)}


def release_of(build: DeclaredBuild) -> tuple[int, ...] | None:
    """Which RocksDB a build is, or, for a fork, is based on; None where nobody says."""
    match = _NUMBERS.match(build.version)
    return tuple(int(part) for part in match[1].split(".")) if match else None


def is_speedb(build: DeclaredBuild) -> bool:
    """By where it comes from: it is a RocksDB in everything else."""
    return any("speedb" in text.lower() for text in _texts(build.source))


def _texts(source: Any) -> Iterator[str]:
    if isinstance(source, Mapping | list):
        for inner in source.values() if isinstance(source, Mapping) else source:
            yield from _texts(inner)
    elif isinstance(source, str):
        yield str(source)


def benchmark_of(settings: Mapping[str, Any]) -> str | None:
    """The benchmark that a db_bench step is about."""
    names = settings.get("benchmarks")
    return first_measured([str(name) for name in names]) if isinstance(names, list) else None
