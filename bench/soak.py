"""Thousands of real stages of `true`: what one costs, from the first to the last, and what the run leaves behind.

`python bench/soak.py [--stages 2000] [--keep DIR]`. It ends with 1 where the last tenth of the stages takes 1.2
times as long as the first, the run grows by more than 64 MiB, or a process or a live folder is left."""

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
    """Of the main process, a look each second."""

    memory: list[int] = field(default_factory=list)  # bytes
    files: list[int] = field(default_factory=list)  # descriptors

    def look(self, process: psutil.Process, over: threading.Event) -> None:
        while not over.wait(1.0):
            try:
                self.memory.append(process.memory_info().rss)
                self.files.append(process.num_fds())
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
    env, began = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), **lock}, time.monotonic()
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
    grown = max(watched.memory[-10:]) - max(watched.memory[: max(len(watched.memory) // 10, 1)])
    left = [*_processes(work), *(str(path) for path in work.glob("outputs/live/*"))]
    print(
        f"{len(ended):,} of {stages:,} stages in {seconds:.0f} s, exit status {status}; load {os.getloadavg()[0]:.1f}"
    )
    tenths = f"{first:.3f} s in the first tenth, {last:.3f} s in the last"
    print(f"a stage: {tenths}, {seconds / stages:.3f} s with all around it")
    memory = f"{watched.memory[-1] >> 20} MiB, {grown / 2**20:+.1f} MiB from the first tenth to the end"
    print(f"the main process: {memory}; {min(watched.files)} to {max(watched.files)} descriptors")
    print(f"left behind: {', '.join(left) or 'nothing'}")
    fine = status == 0 and len(ended) == stages and not left
    return 0 if fine and last <= SLOWER * first and grown < GROWTH else 1


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
