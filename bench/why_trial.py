"""Whether the first cause is the planted one, and nothing is said of equal arms, beside busy loops on all processors.

`.venv/bin/python bench/why_trial.py [--loads 4] [--seconds 3] [--idle] [--keep FOLDER] [CASE …]`: some 30 minutes. Each
case is a sweep of three arms: a base, the same again, and one with a cause. Throttled IO takes root and cgroup v1; the
servers take PostgreSQL on PATH."""

from __future__ import annotations

import argparse
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
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.spent import stepgrid  # noqa: E402  # the checkout's own
from bench.why import report_of  # noqa: E402
from stepgrid.summarize.causes import causes  # noqa: E402
from stepgrid.summarize.changes import change_of, values_by_load  # noqa: E402
from stepgrid.summarize.comparisons.comparison import Case as Ratio  # noqa: E402
from stepgrid.summarize.comparisons.comparison import Comparison  # noqa: E402
from stepgrid.summarize.report import Report  # noqa: E402
from stepgrid.summarize.why import plan_changes  # noqa: E402

SOURCE = Path(__file__).with_name("why_planted.c")
CGROUP = Path("/sys/fs/cgroup/blkio/stepgrid-trial")
READS = 200  # of the throttled device, a second
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
options: [{{engine: postgres, options: {{shared_buffers: 128MB, synchronous_commit: off}}}}]
params: {{scale: 3, clients: 1, duration: {seconds}s, before: SELECT 1}}
steps:
  - {{name: load, kind: pgbench, action: init, mutates: true, measured: false}}
  - {{name: settle, kind: sql, sql: [vacuum analyze, checkpoint], mutates: true, measured: false}}
  - {{checkpoint: loaded}}
  - {{name: before, kind: sql, sql: ["{{{{ params.before }}}}"], mutates: true, measured: false}}
  - {{name: run, kind: pgbench, scripts: {script}, mutates: {mutates}}}
sweep:
  arm: {{from: loaded, points: {{base: {{}}, same: {{launch: {{env: {{SAME: "1"}}}}}}, planted: {planted}}}}}
repeat: {loads}
report: {{base: {{arm: base}}}}
allow: {{step-short: a bench of the tool}}
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A cause that is planted in one of three arms; `right`: a pattern of it."""

    name: str
    right: str
    base: str  # what the base does
    planted: str
    mutates: bool = False
    profile: str = ""
    text: str = PROGRAM
    is_loaded: bool = True  # from one load

    def spec(self, loads: int, seconds: int, near: int) -> str:
        words = {"title": f"planted {self.name}", "loads": loads, "seconds": seconds, "near": near}
        words |= {"base": self.base, "script": self.base, "mutates": str(self.mutates).lower()}
        words |= {"start": "from: loaded, " if self.is_loaded else "", "planted": self.planted, "profile": self.profile}
        return self.text.format(**words)


def cases(far: int) -> list[Case]:
    slow = "profile: {where: [run], for: 3s}\n"  # whatever the verdict: a busy host voids it
    return [
        Case("sleep in a call", "^asleep by a timer", "work", "plant: sleep"),
        Case("lock held longer", "^waiting for locks", "short", "plant: long"),
        Case("sync at each write", "^waiting for the disk", "write", "plant: sync", mutates=True),
        Case("slower function", r"^`verify_slowly`", "work", "plant: slow", profile=slow),
        Case("memory mapped anew", "^page faults", "work", "plant: map"),
        Case("throttled reads", "^waiting for the disk", "read", f"plant: throttle, detail: '{CGROUP}/cgroup.procs'"),
        Case("far peer", "^waiting in sockets", "ask", f"detail: {far}"),
        Case("larger rows", "^database", "row", "width: 4000", is_loaded=False),
        Case("smaller cache", "^cache misses", "select-only", "{options: {shared_buffers: 1MB}}", text=SERVER),
        Case(
            "dropped index", "plan changed", "select-only",
            "{params: {before: ALTER TABLE pgbench_accounts DROP CONSTRAINT pgbench_accounts_pkey}}",
            text=SERVER,
        ),
        Case("synced commits", "^waiting for the disk", "tpcb-like", "{options: {synchronous_commit: on}}", True,
             text=SERVER),
    ]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help="all, unless some are named")
    parser.add_argument("--loads", type=int, default=4)
    parser.add_argument("--seconds", type=int, default=3, help="of each step")
    parser.add_argument("--idle", action="store_true", help="start no busy loops")
    parser.add_argument("--keep", type=Path, help="where it measures; what is there is not measured again")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, peer(0.0) as near, peer(DELAY) as far:
        folder = (asked.keep or Path(name)).resolve()
        for part in ("outputs", "programs"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        program = folder / "programs/why_planted"
        if not program.exists():
            flags = ["-O1", "-g", "-fno-omit-frame-pointer", "-pthread"]
            subprocess.run(["cc", *flags, "-o", program, SOURCE], check=True)
        chosen = [case for case in cases(far) if not asked.cases or case.name in asked.cases]
        with busy(0 if asked.idle else os.cpu_count() or 1), throttled(folder):
            results = [run(folder, case, asked, near) for case in chosen]
    right, silent = (sum(column) for column in zip(*results, strict=True))
    print(
        f"\nthe planted cause first in {right} of {len(results)}; something said of {len(results) - silent} equal arms"
    )
    return 0


def run(folder: Path, case: Case, asked: argparse.Namespace, near: int) -> tuple[bool, bool]:
    """Tell whether the planted cause came first, and whether nothing was said of the equal arms."""
    spec = f"{case.name.replace(' ', '-')}.yaml"
    (folder / spec).write_text(case.spec(asked.loads, asked.seconds, near), encoding="utf-8")
    stepgrid(folder, "run", spec)
    report = report_of(folder, f"planted {case.name}")
    texts = {case.arm[0]: said(report, *pair) for pair in pairs(report) for case in pair[1:]}
    ratios = {ratio.arm[0]: f"{ratio.entry.ratio:.2f} {ratio.entry.verdict}" for _, ratio in pairs(report)}
    planted, same = texts.get("planted", []), texts.get("same", [])
    is_right = bool(planted) and re.search(case.right, planted[0]) is not None
    print(f"| {case.name} | {ratios.get('planted')} | {'yes' if is_right else 'NO'} | {'; '.join(planted[:2])} |")
    print(f"|   equal | {ratios.get('same')} | {'silent' if not same else 'SAYS'} | {'; '.join(same)} |", flush=True)
    return is_right, not same


def pairs(report: Report) -> Iterator[tuple[Comparison, Ratio]]:
    for comparison in report.comparisons.leading:
        for ratio in comparison.cases():
            if ratio.row.step == "run" and ratio.entry.ratio:
                yield comparison, ratio


def said(report: Report, comparison: Comparison, ratio: Ratio) -> list[str]:
    """Explain a difference that the verdict, or else the loads alone, show: a busy host may void verdicts."""
    plans = plan_changes(report.setup, ratio.point, ratio.base)
    metric = comparison.metric.name
    change = change_of(*(values_by_load(point, lambda run: run.metrics.get(metric)) for point in ratio[3:]))
    if not (ratio.entry.is_difference or (change and change.is_shown)):
        return plans
    growth = report.data.details.counters([*ratio.point.places, *ratio.base.places])
    found = causes(ratio.point, ratio.base, growth, comparison.metric, report.data.details)
    return [*plans, *(cause.text for cause in found)]


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
def peer(delay: float) -> Iterator[int]:
    """Answer each byte after a while, as a peer behind a slow network does; yield the port."""
    listener = socket.create_server(("127.0.0.1", 0))

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
        yield listener.getsockname()[1]
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
