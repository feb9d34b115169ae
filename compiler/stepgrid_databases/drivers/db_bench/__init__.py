"""Steps of kind db_bench: RocksDB's own benchmark program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.model.plan import Value
from stepgrid.plugins.driver import CountedWork, PackageRunner, ParserOutput
from stepgrid.plugins.durability import COMMIT, GROUP, NONE, OS, OTHER, SYNC, WORKLOAD, Promise
from stepgrid.plugins.hit_rate import FOUND_KEYS
from stepgrid_databases.drivers.db_bench.benchmarks import (
    DRAINING,
    OPERATIONS,
    TIMED,
    counts_operations,
    first_measured,
)
from stepgrid_databases.drivers.db_bench.command import RESERVED, live_rates, step_command

if TYPE_CHECKING:
    from stepgrid.lint.rule import Rule
    from stepgrid.model.metrics import MetricSet
    from stepgrid.model.plan import Command, PlannedStep
    from stepgrid.plugins.driver import Context, DeclaredBuild, Runner

LOAD_RATE = 200_000  # operations per second of a small machine: only for estimates
DRAIN_SECONDS = {"waitforcompaction": 5.0, **dict.fromkeys(DRAINING - {"waitforcompaction"}, 1.0)}  # it sleeps 5 s

REPLAY = "replay"  # the benchmark that reads the trace that others write

# layout -> columns of its published tables that hold metrics of db_bench
PUBLISHED_COLUMNS = {
    "db_bench": """
        qps=ops_sec mb_per_s=mb_sec lsm_bytes=lsm_sz blob_bytes=blob_sz write_amplification_published=w_amp
        compaction_write_bytes=c_wgb compaction_write_mb_per_s=c_mbps compaction_seconds=c_wsecs
        compaction_cpu_seconds=c_csecs blob_read_bytes=b_rgb blob_write_bytes=b_wgb usec_per_op=usec_op
        p50_us=p50 p99_us=p99 p99_9_us=p99.9 p99_99_us=p99.99 max_us=pmax uptime_seconds=uptime stall_pct=stall%
        stalls=Nstall process_rss_bytes=rss
        """,
    "mixgraph": """
        qps=o/s gets_per_s=get/s puts_per_s=put/s seeks_per_s=seek/s device_reads_per_s=r/s
        device_read_mb_per_s=rMB/s device_write_mb_per_s=wMB/s reads_per_op=r/o read_kb_per_op=rKB/o
        write_kb_per_op=wKB/o reads_per_lookup=r/s+g read_kb_per_lookup=rKB/s+g write_kb_per_put=wKB/p
        """,
}

_LOOKUPS, _PUTS = ("gets_per_s", "seeks_per_s"), ("puts_per_s",)
# figure of mixgraph, whose operations are of several kinds -> figure of any operation, and which of them it is of
_PER_KIND: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "reads_per_lookup": ("reads_per_op", _LOOKUPS),
    "read_kb_per_lookup": ("read_kb_per_op", _LOOKUPS),
    "write_kb_per_put": ("write_kb_per_op", _PUTS),
}


class DbBench(ParserOutput, PackageRunner):
    kind = "db_bench"
    revision = 1
    parser = 6
    tables = ("relative", "percentiles", "stalls", "compaction_sum", "iostat", "vmstat")
    reserved = RESERVED
    operations = OPERATIONS
    work_figures = (FOUND_KEYS,)
    promises = (
        Promise(
            COMMIT, "sync", "0", {"1": SYNC, OTHER: OS}, shared={SYNC: GROUP},
            changes=(
                (WORKLOAD, "fillsync", {OS: SYNC}),
                ("manual_wal_flush", "1", {OS: NONE}),  # a sync writes the buffered log first
                ("disable_wal", "1", {OS: NONE, SYNC: NONE}),
            ),
        ),
    )  # fmt: skip

    def workloads(self, settings: Mapping[str, Any]) -> Sequence[str]:
        return tuple(settings.get("benchmarks", ()))

    def metrics(self) -> MetricSet:
        from stepgrid.model.metrics import MetricSet, columns

        return MetricSet(published={layout: columns(text) for layout, text in PUBLISHED_COLUMNS.items()})

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return str(settings["benchmarks"][0])

    def estimate(self, settings: Mapping[str, Any]) -> float:
        return sum(_estimate(benchmark, settings) for benchmark in settings["benchmarks"])

    def counted_work(self, settings: Mapping[str, Any]) -> CountedWork | None:
        counting = [benchmark for benchmark in settings["benchmarks"] if counts_operations(benchmark)]
        is_timed = settings.get("duration") is not None and not TIMED.isdisjoint(counting)
        if is_timed or not counting:
            return None
        work = _work(settings)
        return work._replace(operations=work.operations * len(counting), seconds=work.seconds * len(counting))

    def command(self, settings: Mapping[str, Any], options: Mapping[str, Value], context: Context) -> Command:
        return step_command(settings, options, context)

    def printed_figures(self, settings: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]]:
        """Read `readrandom   :  3.5 micros/op 285714 ops/sec 10.0 seconds 2857140 operations;`."""
        name = first_measured(settings["benchmarks"])
        return {"qps": (f"{name} ", "micros/op"), "operations": (f"{name} ", "ops/sec", "seconds")} if name else {}

    def hit_rates(self, steps: Sequence[PlannedStep]) -> Sequence[float | None]:
        from stepgrid_databases.drivers.db_bench import keyspace

        return keyspace.hit_rates(steps)

    def read_options(self, settings: Mapping[str, Any]) -> Sequence[str]:
        return ("options_file", "trace_file") if REPLAY in settings["benchmarks"] else ("options_file",)

    def facts(self, settings: Mapping[str, Any], build: DeclaredBuild) -> Mapping[str, Any]:
        from stepgrid_databases.drivers.db_bench.step_lints import step_facts

        return step_facts(settings, build)

    def rules(self) -> Sequence[Rule]:
        from stepgrid_databases.drivers.db_bench import sequence_lints, step_lints

        return (*step_lints.RULES, *sequence_lints.RULES)

    def derived(self, metrics: Mapping[str, float]) -> Mapping[str, float]:
        figures: dict[str, float] = {}
        for name, (per_operation, kinds) in _PER_KIND.items():
            if {"qps", per_operation, *kinds} <= metrics.keys() and (share := sum(metrics[kind] for kind in kinds)):
                figures[name] = metrics[per_operation] * metrics["qps"] / share
        return figures

    def live(self, folder: Path) -> Sequence[tuple[float, float]]:
        return live_rates(folder)


def _estimate(benchmark: str, settings: Mapping[str, Any]) -> float:
    if not counts_operations(benchmark):
        return DRAIN_SECONDS.get(benchmark, 0.0)
    duration: float | None = settings.get("duration")
    if benchmark in TIMED and duration is not None:
        return duration
    return _work(settings).seconds


def _work(settings: Mapping[str, Any]) -> CountedWork:
    """Return the operations of one benchmark."""
    setting = next((name for name in ("writes", "reads") if settings.get(name)), "keys")
    operations = settings[setting] * settings.get("threads", 1)
    return CountedWork(setting, operations, operations / LOAD_RATE)


DRIVER: Runner = DbBench()
