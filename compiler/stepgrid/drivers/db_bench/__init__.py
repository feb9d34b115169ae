"""Steps of kind db_bench: RocksDB's own benchmark program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.drivers.db_bench import command, live_throughput
from stepgrid.drivers.db_bench.benchmarks import DRAINING, TIMED, counts_operations
from stepgrid.plugins.driver import PackageRunner

if TYPE_CHECKING:
    from stepgrid.lint.rule import Rule
    from stepgrid.model.command import Command
    from stepgrid.model.figures import PrintedStep
    from stepgrid.model.metrics.metric import MetricSet
    from stepgrid.model.plan import PlannedStep
    from stepgrid.plugins.driver import Context, DeclaredBuild, Runner

LOAD_RATE = 200_000  # operations per second of a small machine: only for estimates
DRAIN_SECONDS = {"waitforcompaction": 5.0, **dict.fromkeys(DRAINING - {"waitforcompaction"}, 1.0)}  # it sleeps 5 s


class DbBench(PackageRunner):
    kind = "db_bench"
    revision = 1
    parser = 5
    tables = ("relative", "percentiles", "stalls", "compaction_sum", "iostat", "vmstat")
    reserved = command.RESERVED

    def metrics(self) -> MetricSet:
        from stepgrid.drivers.db_bench.metrics import OWN

        return OWN

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return str(settings["benchmarks"][0])

    def estimate(self, settings: Mapping[str, Any]) -> float:
        benchmarks: Sequence[str] = settings["benchmarks"]
        return sum(_seconds(name, settings) for name in benchmarks)

    def command(self, settings: Mapping[str, Any], options: Mapping[str, Any], context: Context) -> Command:
        from dataclasses import replace

        from stepgrid.drivers.db_bench.parser import log

        return replace(command.command(settings, options, context), keep=(log.NAME,))

    def printed(self, path: Path) -> Sequence[PrintedStep]:
        from stepgrid.drivers.db_bench.parser.standalone_output import printed

        return printed(path)

    def hit_rates(self, steps: Sequence[PlannedStep]) -> Sequence[float | None]:
        from stepgrid.drivers.db_bench.keyspace import found

        return found(steps)

    def facts(self, settings: Mapping[str, Any], build: DeclaredBuild) -> Mapping[str, Any]:
        from stepgrid.drivers.db_bench.lints.step_facts import facts

        return facts(settings, build)

    def rules(self) -> Sequence[Rule]:
        from stepgrid.drivers.db_bench.lints import (
            benchmarks,
            block_cache,
            changed_defaults,
            data_size,
            direct_io,
            level_sizes,
            loads,
            lookups,
            memtable,
            mixgraph,
            readahead,
            tree_shape,
        )

        families = (benchmarks, mixgraph, level_sizes, readahead, block_cache, memtable, direct_io)
        spanning = (tree_shape, loads, lookups, data_size, changed_defaults)
        return [rule for family in (*families, *spanning) for rule in family.RULES]

    def live(self, folder: Path) -> Sequence[tuple[float, float]]:
        return live_throughput.readings(folder)


def _seconds(benchmark: str, settings: Mapping[str, Any]) -> float:
    if not counts_operations(benchmark):
        return DRAIN_SECONDS.get(benchmark, 0.0)
    duration: float | None = settings.get("duration")
    if benchmark in TIMED and duration is not None:
        return duration
    each: int = settings.get("writes") or settings.get("reads") or settings["keys"]
    threads: int = settings.get("threads", 1)
    return each * threads / LOAD_RATE


DRIVER: Runner = DbBench()
