"""Results as runs leave them, made up: db_bench's output, its report of each second, the sampler's lines."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.model.plan import Plan, PlannedStage
from stepgrid.model.records import plain
from stepgrid.store import results
from stepgrid.store.store import Store

ATTEMPT = "20260101T000000.000000Z"
STARTED = "2026-01-01T00:00:00+00:00"
HOST = {"kernel": "6.1.0", "governor": "performance", "hostname": "made-up", "thp": "madvise", "swap": "0"}
TICKERS = ("block.cache.miss", "block.cache.hit", "bytes.read", "bytes.written", "stall.micros", "number.keys.read")
DEVICE = (
    *("reads", "read_merges", "read_sectors", "read_ms", "writes", "write_merges", "write_sectors", "write_ms"),
    *("busy_ms", "queue_ms", "discards", "discard_merges", "discard_sectors", "discard_ms", "flushes", "flush_ms"),
)
HEAD = (
    "Level Files Size Score Read(GB) Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) Comp(sec) "
    "CompMergeCPU(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop Rblob(GB) Wblob(GB)"
)
ROW = "{level} 4/0 53.84 MB 0.9 0.0 0.0 0.0 1.1 1.1 0.0 1.0 0.0 48.0 22.90 18.10 40 0.573 1662K 12K 0.0 0.0"


class Results:
    """For the stages of a plan, straight into the store: publishing waits for the disk at each."""

    def __init__(self, store: Store, plan: Plan, seconds: int) -> None:
        self._store, self._plan, self._seconds = store, plan, seconds
        self._samples = "".join(_samples(seconds))  # alike in all steps: what is read costs the same

    def build(self, node: str, name: str) -> None:
        record = {"id": node, "name": name, "engine": "rocksdb", "version": "9.9.3", "route": "system", "quality": {}}
        _json(self._store.build(node) / "build.json", record)

    def result(self, stage: PlannedStage) -> None:
        folder = self._store.results_of(stage.id) / ATTEMPT
        steps = [self._step(folder, index, step.name, step.settings) for index, step in enumerate(stage.steps)]
        common = {"stage": stage.id, "attempt": ATTEMPT, "build": stage.build}
        _json(folder / "attempt.json", {**common, "plan": self._plan.digest, "host": HOST})
        times, files = {"started": STARTED, "ended": STARTED}, plain(results.result_checksums(folder))
        _json(folder / "result.json", {**common, "status": "done", **times, "steps": steps, "files": files})
        mark = self._store.mark(stage.id)
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.symlink_to(Path("..") / folder.relative_to(self._store.root) / "result.json")

    def _step(self, result: Path, index: int, name: str, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        folder = result / "steps" / f"{index}-{name}"
        folder.mkdir(parents=True)
        chance = random.Random(f"{result.parent.name} {name}")
        level = 50_000 * chance.gauss(1, 0.05)
        series = [level * chance.gauss(1, 0.1) for _ in range(self._seconds)]
        (folder / "stdout").write_text(_stdout(str(settings["benchmarks"][0]), series))
        (folder / "stderr").write_text("RocksDB:    version 9.9.3\n")
        (folder / "report.csv").write_text(_report(series))
        (folder / "samples.jsonl").write_text(self._samples)
        _json(folder / "command.json", {"argv": ["db_bench", *(f"--option_{n}={n}" for n in range(60))], "env": {}})
        record = {
            "name": name,
            "kind": "db_bench",
            "status": "done",
            "exit": 0,
            "started": STARTED,
            "ended": STARTED,
            "seconds": float(self._seconds),
            "user": 1.5,
            "system": 0.5,
            "max_rss": 1 << 30,
            "dropped": [],
        }
        _json(folder / "step.json", record)
        return record


def _stdout(benchmark: str, series: Sequence[float]) -> str:
    seconds, rate = len(series), sum(series) / len(series)
    levels = "\n".join(ROW.format(level=name) for name in ("L0", "L4", "L5", "L6", "Sum", "Int"))
    tickers = "\n".join(f"rocksdb.{name} COUNT : {number}" for number, name in enumerate(TICKERS, 1000))
    return f"""Keys:       16 bytes each (+ 0 bytes user-defined timestamp)
Values:     100 bytes each (50 bytes after compression)
DB path: [live]
{benchmark:<12} : {1e6 / rate:11.3f} micros/op {int(rate)} ops/sec {seconds:.3f} seconds {round(rate * seconds)} \
operations;
Microseconds per read:
Count: {round(rate * seconds)} Average: {1e6 / rate:.4f}  StdDev: 45.50
Min: 0  Median: {1e6 / rate:.4f}  Max: 14649
Percentiles: P50: 9.10 P75: 12.20 P99: 55.30 P99.9: 120.40 P99.99: 900.50
------------------------------------------------------
{"".join(f"[ {at:7}, {at + 1:7} ] {at:8} 1.000% {at:3}.000%{chr(10)}" for at in range(100))}
** Compaction Stats [default] **
{HEAD}
-----------------------------------------------------
{levels}

Blob file count: 0, total size: 0.0 GB, garbage size: 0.0 GB, space amp: 0.0

Uptime(secs): {seconds + 1.0:.1f} total, {seconds + 1.0:.1f} interval
Flush(GB): cumulative 1.065, interval 1.065
Cumulative compaction: 1.10 GB write, 48.02 MB/s write, 0.00 GB read, 0.00 MB/s read, 22.9 seconds
Estimated pending compaction bytes: 1234
Write Stall (count): cf-l0-file-count-limit-delays-with-ongoing-compaction: 0, l0-file-count-limit-delays: 3, \
l0-file-count-limit-stops: 0, memtable-limit-delays: 0, memtable-limit-stops: 1, \
pending-compaction-bytes-delays: 0, pending-compaction-bytes-stops: 0, total-delays: 3, total-stops: 1
** DB Stats **
Cumulative writes: 8M writes, 8M keys, 8M commit groups, 1.0 writes per commit group, ingest: 1.10 GB, 48.00 MB/s
Cumulative WAL: 8M writes, 0 syncs, 8000000.00 writes per sync, written: 1.10 GB, 48.00 MB/s
Cumulative stall: 00:00:1.234 H:M:S, 4.1 percent
{tickers}
"""


def _report(series: Sequence[float]) -> str:
    return "secs_elapsed,interval_qps\n" + "".join(f"{at},{rate:.0f}\n" for at, rate in enumerate(series, 1))


def _samples(seconds: int) -> Iterator[str]:
    for at in range(seconds + 1):
        cpu = {"user": 9.5 * at, "nice": 0.0, "system": 3.1 * at, "idle": 3.0 * at, "iowait": 0.4 * at}
        sample: dict[str, Any] = {
            "t": 1795276416.874 + at,
            "monotonic": 1000.0 + at,
            "cpu": {**cpu, "irq": 0.0, "softirq": 0.1 * at},
            "interrupts": 80_000 * at,
            "switches": 120_000 * at,
            "running": 14,
            "blocked": 0,
            "memory": {"free": 20 << 30, "available": 24 << 30, "buffers": 1 << 27, "cached": 3 << 30, "swap": 0}
            | {"swap_free": 0, "dirty": 6_598_656, "writeback": 0, "reclaimable": 457_527_296},
            "paging": {"read": at << 24, "written": at << 25, "swapped_in": 0, "swapped_out": 0},
            "pressure": {"cpu": 900_000 * at, "io": 10_000 * at, "memory": 0},
            "devices": {"nvme0n1": {name: (number + 1) * 1000 * at for number, name in enumerate(DEVICE)}},
            "device": "nvme0n1",
            "process": {"user": 1.5 * at, "system": 0.5 * at, "rss": 1 << 30, "read_bytes": at << 24, "threads": 40},
        }
        if at % 5 == 0:
            sample |= {"database_bytes": 5 << 30, "sensors": {"mhz": 2596.122, "celsius": 61.0, "throttles": 0}}
        yield json.dumps(sample, separators=(",", ":")) + "\n"


def _json(path: Path, record: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1), encoding="utf-8")
