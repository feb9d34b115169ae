"""A small experiment in a store of its own: the plan, build records and result folders with db_bench's real shapes."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stepgrid.model.plan import (
    CellStep,
    Option,
    Plan,
    PlannedAxis,
    PlannedBuild,
    PlannedCell,
    PlannedClaim,
    PlannedRepeat,
    PlannedReport,
    PlannedStage,
    PlannedStep,
)
from stepgrid.model.records import plain
from stepgrid.store import plans, results
from stepgrid.store.store import Store

STEPS = ("readww", "overwrite")
BENCHMARK = defaultdict(lambda: "overwrite", {"fillseq": "fillseq", "readww": "readwhilewriting"})
ASSERTIONS = "Assertions are enabled; benchmarks unnecessarily slow"
HOST = {"kernel": "6.1.0", "governor": "performance", "hostname": "bench-7"}
HARDWARE = {
    "id": "h-1",
    "declared": False,
    "cpu": "AMD EPYC 7763",
    "cores": 2,
    "memory": 8 << 30,
    "storage": {"device": "nvme0n1", "kind": "nvme", "filesystem": "xfs"},
}
SUITES = {"rocksdb-6.11.4": "bullseye", "rocksdb-7.8.3": "bookworm", "rocksdb-9.10.0": "trixie"}


@dataclass
class Experiment:
    """Axes build, cache and threads; the load is shared, `cache` and `threads` begin at its checkpoint."""

    root: Path
    builds: Sequence[str] = ("rocksdb-7.8.3",)
    caches: Sequence[str] = ("lru", "hyper")
    threads: Sequence[str] = ("1", "2")
    loads: int = 3
    runs: int = 1
    base: Mapping[str, str] = field(default_factory=lambda: {"cache": "lru"})
    title: str = "LRU against hyper-clock cache"
    seconds: int = 4
    alike: Sequence[tuple[str, str]] = ()  # (build, cache) whose stages are those of another cache: the first,
    alike_to: str | None = None  # or this one
    spec: str = "specs/cache.yaml"
    within: float | None = None  # compare_within
    tables: Sequence[Mapping[str, Any]] = ()
    claims: Sequence[Mapping[str, Any]] = ()
    checksums: bool = True  # older results have none
    as_shipped: str | None = None  # allow: {mixed-quality: …}
    strict: str | None = None
    metric: str | None = None  # that the report leads with
    steps: Sequence[str] = STEPS

    def __post_init__(self):
        self.store = Store(self.root / "outputs")
        self.plan = self._plan()
        plans.write(self.plan, self.store.plan(self.plan.digest))

    # ids say what they stand for, so that a test reads well
    def stage(self, build, cache, threads, load, run=0):
        cache = (self.alike_to or self.caches[0]) if (build, cache) in self.alike else cache
        return f"s-{build[8:]}-{cache}-{threads}-{load}" + (f"-{run}" if run else "")

    def load_stage(self, build, load):
        return f"s-{build[8:]}-load-{load}"

    def _plan(self):
        stages = {stage.id: stage for stage in self._stages()}
        return Plan(
            digest="p-synthetic",
            title=self.title,
            spec=self.spec,
            scale=None,
            axes=(
                PlannedAxis("build", tuple(self.builds)),
                PlannedAxis("cache", tuple(self.caches), STEPS),
                PlannedAxis("threads", tuple(self.threads), STEPS),
            ),
            cells=tuple(self._cells()),
            builds=tuple(
                PlannedBuild(f"b-{name}", name, "rocksdb", name[8:], {"debian": "rocksdb-tools"})
                for name in self.builds
            ),
            stages=tuple(stages[node] for node in sorted(stages)),
            hardware=HARDWARE,
            report=PlannedReport(
                self.base,
                0.02,
                tuple(self.tables),
                tuple(PlannedClaim(**claim) for claim in self.claims),
                self.within,
                self.as_shipped,
                self.strict,
                metric=self.metric,
            ),
        )

    def _stages(self):
        found = []
        for build in self.builds:
            for load in range(self.loads):
                root = self.load_stage(build, load)
                found.append(self._stage(root, build, None, load, 0, ("fillseq",)))
                found += [
                    self._stage(self.stage(build, cache, threads, load, run), build, root, load, run, self.steps)
                    for cache in self.caches
                    for threads in self.threads
                    for run in range(self.runs)
                ]
        return found

    def _stage(self, node, build, parent, load, run, steps):
        planned = tuple(
            PlannedStep(
                name,
                "db_bench",
                1,
                {"benchmarks": [BENCHMARK[name]], "keys": 1000, "threads": 1},
                {"cache_type": Option("lru_cache", "cell")},
                7,
            )
            for name in steps
        )
        return PlannedStage(
            node,
            f"{node}: {', '.join(steps)}",
            f"b-{build}",
            parent,
            (),
            load,
            run,
            "h-1",
            planned,
            8,
            int(parent is not None),
        )

    def _cells(self):
        steps = (
            CellStep("fillseq", "db_bench", 0, 0, True),
            *(CellStep(name, "db_bench", 1, index, True) for index, name in enumerate(self.steps)),
        )
        return [
            PlannedCell(
                f"c-{build[8:]}-{cache}-{threads}",
                {"build": build, "cache": cache, "threads": threads},
                f"b-{build}",
                steps,
                tuple(
                    PlannedRepeat(
                        load, run, (self.load_stage(build, load), self.stage(build, cache, threads, load, run))
                    )
                    for load in range(self.loads)
                    for run in range(self.runs)
                ),
            )
            for build in self.builds
            for cache in self.caches
            for threads in self.threads
        ]

    # what a run would leave
    def add_build(self, build, quality=None, warnings=(), defaults=None):
        node, version = f"b-{build}", build[8:]
        attempt = self.store.new_attempt(node)
        package = {"name": "rocksdb-tools", "version": f"{version}-1", "digest": "ab" * 32}
        record = {
            "id": node,
            "name": build,
            "engine": "rocksdb",
            "version": version,
            "route": "debian",
            "artifacts": [package],
            "programs": {"db_bench": ["root/db_bench"]},
            "warnings": list(warnings),
            "quality": quality or {"route": "debian", "suite": SUITES[build]},
        }
        (attempt / "build.json").write_text(json.dumps(record))
        if defaults is not None:
            catalogue = {name: {"type": "string", "default": text, "help": ""} for name, text in defaults.items()}
            (attempt / "catalogue.json").write_text(json.dumps(catalogue))
        self.store.publish_build(node, attempt)

    def add_load(self, build, load, qps=300_000):
        return self._publish(self.load_stage(build, load), f"b-{build}", [("fillseq", [qps] * self.seconds)])

    def add(self, build, cache, threads, load, qps, run=0):
        series = [
            (step, [float(rate)] * self.seconds if isinstance(rate, (int, float)) else list(rate))
            for step, rate in qps.items()
        ]
        return self._publish(self.stage(build, cache, threads, load, run), f"b-{build}", series)

    def add_unsupported(self, build, cache, threads, load, reason):
        node = self.stage(build, cache, threads, load)
        attempt = self.store.new_attempt(node)
        record = {"stage": node, "attempt": attempt.name, "status": "unsupported", "reason": reason, "steps": []}
        (attempt / "result.json").write_text(json.dumps(record))
        return self.store.publish_result(node, attempt)

    def add_failure(self, node, message, step="readww", status="failed"):
        attempt = self.store.new_attempt(node)
        log = str(attempt / "steps/0-readww/stderr")
        record = {"node": node, "attempt": attempt.name, "status": status, "message": message, "tail": "", "log": log}
        (attempt / "failure.json").write_text(json.dumps({**record, "step": step}))
        return attempt

    def _publish(self, node, build, steps):
        attempt = self.store.new_attempt(node)
        records = [self._step(attempt, index, name, series) for index, (name, series) in enumerate(steps)]
        (attempt / "attempt.json").write_text(
            json.dumps({"stage": node, "attempt": attempt.name, "build": build, "host": HOST})
        )
        record = {"stage": node, "attempt": attempt.name, "status": "done", "build": build, "steps": records}
        files = {"files": plain(results.result_checksums(attempt))} if self.checksums else {}
        (attempt / "result.json").write_text(json.dumps(record | files))
        return self.store.publish_result(node, attempt)

    def seal(self, result):
        """A test has written other files into it: these are what was published."""
        record = json.loads((result / "result.json").read_text())
        (result / "result.json").write_text(json.dumps({**record, "files": plain(results.result_checksums(result))}))

    def _step(self, attempt, index, name, series):
        folder = attempt / f"steps/{index}-{name}"
        folder.mkdir(parents=True)
        (folder / "stdout").write_text(stdout(BENCHMARK[name], series))
        (folder / "stderr").write_text("RocksDB:    version 7.8.3\n")
        (folder / "report.csv").write_text(report(series))
        argv = ["root/db_bench", f"--benchmarks={BENCHMARK[name]}", "--num=1000", "--db=outputs/live/my data"]
        (folder / "command.json").write_text(json.dumps({"argv": argv, "env": {"LC_ALL": "C"}}))
        record = {
            "name": name,
            "kind": "db_bench",
            "status": "done",
            "exit": 0,
            "started": f"2026-11-20T10:00:0{index}Z",
            "ended": "2026-11-20T10:00:09Z",
            "seconds": float(len(series)),
            "user": 1.5,
            "system": 0.5,
            "max_rss": 1 << 20,
        }
        (folder / "step.json").write_text(json.dumps(record))
        return record


def stdout(benchmark, series):
    """As db_bench 7.8.3 prints it."""
    seconds, rate = len(series), sum(series) / len(series)
    operations, micros = round(rate * seconds), 1e6 / rate if rate else 0.0
    return f"""Set seed to 7
Keys:       16 bytes each (+ 0 bytes user-defined timestamp)
Values:     100 bytes each (50 bytes after compression)
Entries:    1000
Compression: Snappy
------------------------------------------------
DB path: [live]
{benchmark:<12} : {micros:11.3f} micros/op {int(rate)} ops/sec {seconds:.3f} seconds {operations} operations; \
   2.7 MB/s
Microseconds per read:
Count: {operations} Average: {micros:.4f}  StdDev: 45.50
Min: 0  Median: {micros:.4f}  Max: 14649
Percentiles: P50: {micros:.2f} P75: {2 * micros:.2f} P99: {5 * micros:.2f} P99.9: {9 * micros:.2f} \
P99.99: {20 * micros:.2f}
------------------------------------------------------
[       0,       1 ]   {operations} 100.000% 100.000% ####################
"""


def report(series):
    return "secs_elapsed,interval_qps\n" + "".join(f"{at},{rate:.0f}\n" for at, rate in enumerate(series, 1))
