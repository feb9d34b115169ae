"""Thousands of real stages of `true`: what one costs, from the first to the last, and what the run leaves behind.

`python bench/soak.py [--stages 2000] [--keep DIR]`. It ends with 1 where the last tenth of the stages takes 1.2
times as long as the first, the run or the largest process that it starts grows by more than 64 MiB, or a process, a
socket, a temporary file or a live folder is left."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median

import psutil

ROOT = Path(__file__).resolve().parents[1]
SPEC = """\
title: "nothing, many times"
builds: {{true: {{engine: program, version: 1, source: {{system: "true"}}}}}}
steps: [{{name: nothing, kind: command, argv: ["true", "{{{{ params.number }}}}"]}}]
params: {{number: 0}}
sweep: {{number: {{param: number, values: [{values}]}}}}
allow: {{no-repeats: "only the cost of a stage counts", step-short: "likewise"}}
repeat: 1
"""
SLOWER, GROWTH = 1.2, 64 << 20


@dataclass
class Watched:
    """A look each second."""

    memory: list[int] = field(default_factory=list)  # bytes of the main process
    files: list[int] = field(default_factory=list)  # descriptors of the main process
    started: list[int] = field(default_factory=list)  # bytes of the largest process that it started

    def look(self, process: psutil.Process, over: threading.Event) -> None:
        while not over.wait(1.0):
            try:
                self.memory.append(process.memory_info().rss)
                self.files.append(process.num_fds())
                self.started.append(max(map(_memory, process.children(recursive=True)), default=0))
            except psutil.Error:
                return


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stages", type=int, default=2000)
    parser.add_argument("--keep", type=Path, help="a new folder for the run, which stays")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stepgrid-soak-") as folder:
        work = options.keep or Path(folder)
        work.mkdir(exist_ok=True)
        (work / "a.yaml").write_text(SPEC.format(values=", ".join(map(str, range(options.stages)))))
        watched, status, seconds = _run(work)
        return _told(work, watched, status, seconds, options.stages)


def _run(work: Path) -> tuple[Watched, int, float]:
    lock = {"STEPGRID_HOST_LOCK": str(work / "lock"), "STEPGRID_SITE": ""}
    (work / "tmp").mkdir()
    own = {"PYTHONPATH": str(ROOT / "compiler"), "TMPDIR": str(work / "tmp")}
    env, began = {**os.environ, **own, **lock}, time.monotonic()
    argv = (sys.executable, "-m", "stepgrid.cli", "run", "a.yaml")
    watched, over = Watched(), threading.Event()
    with (work / "said").open("wb") as said:
        run = subprocess.Popen(argv, cwd=work, env=env, stdout=said, stderr=said)
        watcher = threading.Thread(target=watched.look, args=(psutil.Process(run.pid), over), daemon=True)
        watcher.start()
        status = run.wait()
    over.set()
    watcher.join()
    return watched, status, time.monotonic() - began


def _told(work: Path, watched: Watched, status: int, seconds: float, stages: int) -> int:
    ended = sorted(path.stat().st_mtime for path in work.glob("outputs/results/s-*/*/result.json"))
    costs = [after - before for before, after in pairwise(ended)]
    part = max(len(costs) // 10, 1)
    first, last = median(costs[:part]), median(costs[-part:])
    left = [*_processes(work), *_sockets(work), *map(str, [*work.glob("outputs/live/*"), *work.glob("tmp/*")])]
    print(
        f"{len(ended):,} of {stages:,} stages in {seconds:.0f} s, exit status {status}; load {os.getloadavg()[0]:.1f}"
    )
    tenths = f"{first:.3f} s in the first tenth, {last:.3f} s in the last"
    print(f"a stage: {tenths}, {seconds / stages:.3f} s with all around it")
    print(f"the main process: {_mib(watched.memory)}; {min(watched.files)} to {max(watched.files)} descriptors")
    print(f"the largest process that it starts: {_mib(watched.started)}")
    print(f"left behind: {', '.join(left) or 'nothing'}")
    fine = status == 0 and len(ended) == stages and not left
    grown = max(_growth(watched.memory), _growth(watched.started))
    return 0 if fine and last <= SLOWER * first and grown < GROWTH else 1


def _growth(looks: Sequence[int]) -> float:
    """Of the first tenth's median look to the last's: plans are made before, tables after."""
    part = max(len(looks) // 10, 1)
    return median(looks[-part:]) - median(looks[:part])


def _mib(looks: Sequence[int]) -> str:
    return f"{median(looks) / 2**20:.0f} MiB, {_growth(looks) / 2**20:+.1f} MiB from the first tenth to the last"


def _memory(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0  # it has ended


def _sockets(work: Path) -> Sequence[str]:
    named = Path("/proc/net/unix").read_text().splitlines()
    return [f"socket {line.split()[-1]}" for line in named if f" {work}/" in line]


def _processes(work: Path) -> Sequence[str]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and Path(process.cwd()).is_relative_to(work):
                found.append(f"process {process.pid}")
        except (psutil.Error, OSError):
            continue
    return found


if __name__ == "__main__":
    sys.exit(main())
