"""Whether the first cause is the planted one, and nothing is said of equal arms.

`.venv/bin/python bench/why_trial.py --keep FOLDER` measures and prints the table of the page "Explain a difference": 11
minutes on two idle processors. What is in FOLDER is not measured again; `--table` measures nothing. A busy host:
`--loads 4 --at-once 6 --busy`, with a busy loop on each processor. Most cases are a sweep of three arms: a base, the
same again, and one with a cause. Throttled IO takes root and cgroup v1; the servers take PostgreSQL on PATH."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.spent import spent  # noqa: E402  # the checkout's own
from bench.why import report_of  # noqa: E402
from stepgrid.host.locks import HOST_LOCK_OVERRIDE  # noqa: E402
from stepgrid.summarize.comparisons.comparison import Case as Ratio  # noqa: E402
from stepgrid.summarize.comparisons.comparison import Comparison  # noqa: E402
from stepgrid.summarize.report import Report  # noqa: E402
from stepgrid_answers.why import why  # noqa: E402

SOURCE = Path(__file__).with_name("why_planted.c")
CGROUP = Path("/sys/fs/cgroup/blkio/stepgrid-trial")
READS = 200  # of the throttled device, a second
NEAR, FAR = 48611, 48612  # ports of the peers: other ones would be another spec, and measured again
DELAY = 0.001  # seconds, of the far peer
PROGRAM = """\
title: {title}
hardware: here
builds:
  planted: {{engine: program, source: {{path: programs, files: why_planted}}, flags: {{programs: why_planted}}}}
params: {{plant: {base}, width: 100, detail: "{near}"}}
steps:
  - {{name: load, kind: command, mutates: true, measured: false,
     argv: ["{{program:why_planted}}", load, "0", "{{data}}", "{{{{ params.width }}}}"]}}
  - {{checkpoint: loaded}}
  - name: run
    kind: command
    duration: {seconds}s
    mutates: {mutates}
    argv: ["{{program:why_planted}}", "{{{{ params.plant }}}}", "{seconds}", "{{data}}", "{{{{ params.detail }}}}"]
    metrics:
      qps: {{pattern: 'per second: ([0-9.]+)', required: true}}
      operations: {{pattern: 'operations: ([0-9]+)', required: true}}
      avg_us: {{pattern: 'average: ([0-9.]+)', required: true}}
sweep:
  arm: {{{start}points: {{base: {{}}, same: {{launch: {{env: {{SAME: "1"}}}}}}, planted: {{params: {{{planted}}}}}}}}}
repeat: {loads}
{profile}report: {{base: {{arm: base}}}}
allow: {{step-short: a bench of the tool}}
"""
SERVER = """\
title: {title}
include: [library/postgres.yaml, library/pgbench.yaml]
hardware: here
builds: {{postgres: {{engine: postgres, version: 15, source: {{system: postgres}}}}}}
options: [{{engine: postgres, options: {{shared_buffers: 256MB, synchronous_commit: off}}}}]
params: {{scale: 3, clients: {clients}, duration: {seconds}s, before: SELECT 1, pause: 1000, hold: 1}}
steps:
  - {{name: load, kind: pgbench, action: init, mutates: true, measured: false}}
  - {{name: settle, kind: sql, sql: [vacuum analyze, checkpoint], mutates: true, measured: false}}
  - {{checkpoint: loaded}}
  - name: before
    kind: sql
    sql: [SET enable_seqscan = off, SELECT sum(abalance) FROM pgbench_accounts WHERE aid > 0, "{{{{ params.before }}}}"]
    mutates: true
    measured: false
  - {{name: run, kind: pgbench, scripts: {script}, mutates: {mutates},
     variables: {{pause: "{{{{ params.pause }}}}", hold: "{{{{ params.hold }}}}"}}}}
sweep:
  arm: {{from: loaded, points: {{base: {{}}, same: {{launch: {{env: {{SAME: "1"}}}}}}, planted: {planted}}}}}
repeat: {loads}
report: {{base: {{arm: base}}}}
allow: {{step-short: a bench of the tool}}
"""
RELEASES = """\
title: {title}
include: [library/postgres.yaml, library/pgbench.yaml]
hardware: here
builds:
  base: {{extends: postgres.zonky, version: 12.22}}
  planted: {{extends: postgres.zonky, version: 13.22}}
options: [{{engine: postgres, options: {{shared_buffers: 256MB, max_parallel_workers_per_gather: 0}}}}]
params: {{scale: 3, clients: {clients}, duration: {seconds}s}}
steps:
  - {{name: load, kind: pgbench, action: init, mutates: true, measured: false}}
  - {{name: settle, kind: sql, sql: [create index by_branch on pgbench_accounts (bid), vacuum analyze, checkpoint],
     mutates: true, measured: false}}
  - {{checkpoint: loaded}}
  - {{name: run, kind: pgbench, scripts: {script}, mutates: {mutates}}}
sweep: {{build: {planted}}}
repeat: {loads}
report: {{base: {{build: base}}}}
allow: {{step-short: a bench of the tool, mixed-quality: a bench of the tool}}
"""
INNODB = """\
title: {title}
include: [library/mariadb.yaml, library/sysbench.yaml]
hardware: here
builds: {{server: {{extends: mariadb.debian}}}}
options: [{{engine: mariadb, options: {{innodb_buffer_pool_size: 128MiB, innodb_flush_log_at_trx_commit: 2}}}}]
params: {{tables: 1, rows: 20000, threads: {clients}}}
steps:
  - {{name: load, kind: sysbench, lua: load, measured: false, mutates: true}}
  - {{checkpoint: loaded}}
  - {{name: run, kind: sysbench, lua: {script}, duration: {seconds}s, mutates: {mutates}}}
sweep:
  arm: {{from: loaded, points: {{base: {{}}, same: {{launch: {{env: {{SAME: "1"}}}}}}, planted: {planted}}}}}
repeat: {loads}
report: {{base: {{arm: base}}}}
allow: {{step-short: a bench of the tool}}
"""
COUNT = '{count: {sql: "SELECT count(*) FROM pgbench_accounts WHERE bid = 1"}}'
# a client sleeps before it locks the row, or while it holds it
LOCK = (
    r'{lock: {sql: "BEGIN;\n\\sleep :pause us\nUPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1;\n'
    r'\\sleep :hold us\nEND;"}}'
)


@dataclass(frozen=True, slots=True)
class Case:
    """A cause that is planted in one of the arms; `right`: a pattern of it."""

    name: str
    right: str
    base: str  # what the base does
    planted: str
    mutates: bool = False
    profile: str = ""
    text: str = PROGRAM
    is_loaded: bool = True  # from one load
    clients: int = 1

    @property
    def title(self) -> str:
        return f"planted: {self.name}"

    def spec(self, loads: int, seconds: int) -> str:
        words = {"title": json.dumps(self.title), "loads": loads, "seconds": seconds, "near": NEAR}
        words |= {"base": self.base, "script": self.base, "mutates": str(self.mutates).lower()}
        words |= {"clients": self.clients}
        words |= {"start": "from: loaded, " if self.is_loaded else "", "planted": self.planted, "profile": self.profile}
        return self.text.format(**words)


def cases() -> list[Case]:
    slow = "profile: {where: [run], for: 3s}\n"  # whatever the verdict: a busy host voids it
    return [
        Case("a sleep of 0.2 ms in each call", "^asleep by a timer", "work", "plant: sleep"),
        Case("a lock held longer, 4 threads", "^waiting for locks", "short", "plant: long"),
        Case("a sync at each write", "^waiting for the disk", "write", "plant: sync", mutates=True),
        Case("a sync at each 16th write", "^waiting for the disk", "write", "plant: sync16", mutates=True),
        Case("a slower function, profiled", r"^`verify_slowly`", "work", "plant: slow", profile=slow),
        Case("memory mapped anew for each call", "^page faults", "work", "plant: map"),
        Case(
            "reads throttled to 200 a second", "^waiting for the disk", "read",
            f"plant: throttle, detail: '{CGROUP}/cgroup.procs'",
        ),
        Case("a sleep of 0.2 ms in each pread", "^asleep by a timer", "read", "plant: doze"),
        Case("a peer that answers after 1 ms", "^waiting in sockets", "ask", f"detail: {FAR}"),
        Case("rows of 4,000 bytes in place of 100", "^database", "row", "width: 4000", is_loaded=False),
        Case(
            "a smaller cache, PostgreSQL", "^cache misses|^waiting for reads of blocks", "select-only",
            "{options: {shared_buffers: 1MB}}", text=SERVER,
        ),
        Case(
            "a dropped index, PostgreSQL", "plan changed", "select-only",
            "{params: {before: ALTER TABLE pgbench_accounts DROP CONSTRAINT pgbench_accounts_pkey}}",
            text=SERVER,
        ),
        Case(
            "synced commits, PostgreSQL", "^waiting for syncs of the log|^waiting for the disk", "tpcb-like",
            "{options: {synchronous_commit: on}}", mutates=True, text=SERVER,
        ),
        Case(
            "a row lock held longer, PostgreSQL, 4 clients", "^waiting for row locks", LOCK,
            "{params: {pause: 1, hold: 1000}}", mutates=True, text=SERVER, clients=4,
        ),
        Case("a smaller index: PostgreSQL 12 and 13", "^index by_branch", COUNT, "[base, planted]", text=RELEASES),
        Case(
            "synced commits, InnoDB: flush 1 and 2", "^waiting for the disk", "update_index",
            "{options: {innodb_flush_log_at_trx_commit: 1}}", mutates=True, text=INNODB,
        ),
    ]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help="parts of their names: all, unless some are given")
    parser.add_argument("--loads", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=3, help="of each step")
    parser.add_argument("--at-once", type=int, default=1, help="as many sweeps at a time: the host is busy with them")
    parser.add_argument("--busy", action="store_true", help="a busy loop on each processor, too")
    parser.add_argument("--table", action="store_true", help="measure nothing")
    parser.add_argument("--keep", type=Path, help="where it measures; what is there is not measured again")
    asked = parser.parse_args()
    began, loads = time.monotonic(), [os.getloadavg()[0]]
    with tempfile.TemporaryDirectory() as name, peer(NEAR, 0.0), peer(FAR, DELAY):
        folder = (asked.keep or Path(name)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        lanes = [cases()[lane :: asked.at_once] for lane in range(asked.at_once)]
        if asked.cases:
            lanes = [[case for case in lane if any(part in case.name for part in asked.cases)] for lane in lanes]
        with busy((os.cpu_count() or 1) * asked.busy), throttled(folder), ThreadPoolExecutor(asked.at_once) as pool:
            lines = pool.map(lambda lane: [run(folder / f"lane{lane}", case, asked) for case in lanes[lane]],
                             range(asked.at_once))  # fmt: skip
            results = {case.name: result for lane, part in zip(lanes, lines, strict=True)
                       for case, result in zip(lane, part, strict=True)}  # fmt: skip
            loads.append(os.getloadavg()[0])
    print("| planted | ratio | first cause | equal arms |", "|---|---|---|---|", sep="\n")
    print(*(results[case.name].row for case in cases() if case.name in results), sep="\n")
    right, told = (sum(getattr(result, name) for result in results.values()) for name in ("is_right", "is_told"))
    equal = sum(result.equal != "-" for result in results.values())
    print(f"\nThe planted cause came first in {right} of {len(results)};", end=" ")
    print(f"something was said of {told} of {equal} equal arms.")
    print(f"{time.monotonic() - began:.0f} s, load average {loads[0]:.1f} before and {loads[1]:.1f} at the end")
    return 0


class Result(NamedTuple):
    row: str
    is_right: bool
    equal: str  # ratio of the equal arms
    is_told: bool  # something of them


def run(folder: Path, case: Case, asked: argparse.Namespace) -> Result:
    for part in ("outputs", "programs"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    program = folder / "programs/why_planted"
    if not program.exists():
        flags = ["-O1", "-g", "-fno-omit-frame-pointer", "-pthread"]
        subprocess.run(["cc", *flags, "-o", program, SOURCE], check=True)
    spec = f"{re.sub('[^a-z0-9]+', '-', case.name.lower())}.yaml"
    (folder / spec).write_text(case.spec(asked.loads, asked.seconds), encoding="utf-8")
    if not asked.table:
        # others may use a host that is to be busy
        own = {HOST_LOCK_OVERRIDE: str(folder / "lock")} if asked.busy or asked.at_once > 1 else {}
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), **own}
        spent([sys.executable, "-m", "stepgrid.cli", "run", spec], folder, environment)
    report = report_of(folder, case.title)
    texts, ratios = {}, {}
    for comparison, ratio in pairs(report):
        growth = report.data.details.counters([*ratio.point.places, *ratio.base.places])
        texts[ratio.arm[0]] = why(comparison, ratio, report.setup, report.data.details, growth)
        ratios[ratio.arm[0]] = f"{ratio.entry.ratio:.2f} *{ratio.entry.verdict}*"
    planted, same = texts.get("planted", []), texts.get("same", [])
    first, equal = planted[0] if planted else "nothing", ratios.get("same", "-")
    is_right = re.search(case.right, first) is not None
    mark = "" if is_right else "**not first:** "
    row = f"| {case.name} | {ratios.get('planted')} | {mark}{first} | {equal}: {'; '.join(same) or 'nothing'} |"
    print(row, f"    then: {'; '.join(planted[1:])}", sep="\n", file=sys.stderr, flush=True)
    return Result(row, is_right, equal, bool(same))


def pairs(report: Report) -> Iterator[tuple[Comparison, Ratio]]:
    for comparison in report.comparisons.leading:
        for ratio in comparison.cases():
            if ratio.row.step == "run" and ratio.entry.ratio:
                yield comparison, ratio


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """Keep processors busy with something else, at the usual priority."""
    children = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for child in children:
            child.kill()
            child.wait()


@contextmanager
def peer(port: int, delay: float) -> Iterator[None]:
    """Answer each byte after a while, as a peer behind a slow network does."""
    listener = socket.create_server(("127.0.0.1", port))

    def answer(connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection:
            while data := connection.recv(1):
                time.sleep(delay)
                connection.sendall(data)

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield
    finally:
        listener.close()


@contextmanager
def throttled(folder: Path) -> Iterator[None]:
    """Make a cgroup whose members read slowly from the device of the folder."""
    device = folder.stat().st_dev
    if not (CGROUP.parent / "blkio.throttle.read_iops_device").exists() or not shutil.which("cc"):
        yield
        return
    CGROUP.mkdir(exist_ok=True)
    limit = f"{os.major(device)}:{os.minor(device)} {READS}"
    (CGROUP / "blkio.throttle.read_iops_device").write_text(limit, encoding="ascii")
    try:
        yield
    finally:
        with suppress(OSError):  # another trial may use it
            CGROUP.rmdir()


if __name__ == "__main__":
    raise SystemExit(main())
