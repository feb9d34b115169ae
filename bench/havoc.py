"""One sweep under seeded blows: strike, start the plain command again, and again, until everything is measured."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench import victims
from bench.victims import BUILD, MAIN, REPORT, RUNNER

ROOT = Path(__file__).resolve().parents[1]
KILL, TWO, PAUSED = "kill -9", "two kill -9 at once", "stopped and continued"
TOLD = (signal.SIGTERM, signal.SIGINT)
WAYS = (KILL, TWO, PAUSED, *(number.name for number in TOLD))
WEIGHTS = (16, 2, 1, 1, 1)
AT_WORK, LAST = (RUNNER, REPORT), (REPORT,)
IN_WORK = 0.75  # of the blows fall while something is measured, the others at any time
MOST_RUNS = 60  # of one sweep: more means that it does not get on
LONGEST = 300.0  # seconds that one run may take
SPEC = """\
title: "a small real sweep"
builds:
  rocksdb: {engine: rocksdb, version: 7.8.3, source: {debian: rocksdb-tools, suite: bookworm}}
options: [{write_buffer_size: 1MiB, compression_type: none, cache_size: 32MiB}]
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true, duration: null, threads: 1}
  - checkpoint: loaded
  - {name: overwrite, kind: db_bench, benchmarks: [overwrite]}
  - {name: readrandom, kind: db_bench, benchmarks: [readrandom]}
params: {keys: 20k, duration: 1s}
sweep:
  bits:
    from: loaded
    points:
      small: {options: {block_cache_trace_max_trace_file_size_in_bytes: 1000000}}
      large: {options: {block_cache_trace_max_trace_file_size_in_bytes: 2000000}}
repeat: {loads: 2, runs: 2}
report: {base: {bits: small}}
"""


@dataclass(frozen=True, slots=True)
class Length:
    """Of a sweep that nobody disturbs."""

    seconds: float
    results: int


@dataclass(slots=True)
class Checkout:
    """A folder with a spec, and the plain command in it."""

    folder: Path
    runs: int = 0

    def __post_init__(self) -> None:
        (self.folder / "tmp").mkdir(parents=True, exist_ok=True)

    def start(self) -> subprocess.Popen[bytes]:
        """In a session of its own, as a terminal would start it."""
        self.runs += 1
        argv = [sys.executable, "-m", "stepgrid.cli", "run", "spec.yaml"]
        with (self.folder / "screen").open("ab") as screen:
            return subprocess.Popen(
                argv, cwd=self.folder, env=self._env(), stdin=subprocess.DEVNULL, stdout=screen, stderr=screen,
                start_new_session=True,
            )  # fmt: skip

    def finish(self) -> int:
        return self.start().wait(LONGEST)

    @property
    def results(self) -> int:
        return sum(1 for _ in self.folder.glob("outputs/results/*/*/result.json"))

    def _env(self) -> dict[str, str]:
        own = {"TMPDIR": str(self.folder / "tmp"), "STEPGRID_HOST_LOCK": str(self.folder / "host.lock")}
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "compiler"), **own}


@dataclass(slots=True)
class Havoc:
    """A sweep with so many blows; `struck` counts (way, victim)."""

    checkout: Checkout
    length: Length
    blows: int
    dice: random.Random
    struck: Counter[tuple[str, str]] = field(default_factory=Counter)
    say: Callable[[str], None] = print

    def run(self) -> None:
        """Returns when the plain command, undisturbed at last, has measured everything."""
        left, running = self.blows, self.checkout.start()
        while left:
            if not self._wait(running, left):
                if running.returncode == 0:
                    break  # the moment was after its end
                running = self._again()
                continue
            left -= self._strike(running)
            if not victims.alive(running.pid):
                running = self._again(running)
        self._end(running)

    def _wait(self, running: subprocess.Popen[bytes], left: int) -> bool:
        """Until the moment of the next blow; whether the run was still there."""
        aim, delay = self._aim(left)
        until = _now() + (LONGEST if aim else delay)
        while _now() < until and running.poll() is None:
            if aim and any(kind in aim for kind in victims.alive(running.pid)):
                aim, until = (), _now() + delay
            time.sleep(0.01)
        return running.poll() is None

    def _aim(self, left: int) -> tuple[Sequence[str], float]:
        """Whom to wait for, and how long from then on; nobody: from now on, be it in the start-up.

        The first blow waits for a build, the last for what the results become: they are too short to be met.
        """
        if left == self.blows and not (self.checkout.folder / "outputs" / "builds").exists():
            return (BUILD,), self.dice.uniform(0.0, 3.0)
        if left <= len(LAST):
            return (LAST[-left],), self.dice.uniform(0.0, 0.5)
        return (AT_WORK if self.dice.random() < IN_WORK else ()), self._moment(left)

    def _moment(self, left: int) -> float:
        """Uniformly over what is left, in such parts that the blows are spread over all of it."""
        part = max(self.length.results - self.checkout.results, 1) / self.length.results
        return self.dice.uniform(0.0, 2.0 * self.length.seconds * part / (left - len(LAST) + 1))

    def _strike(self, running: subprocess.Popen[bytes]) -> int:
        """How many blows it was: none when nobody was there any more."""
        there = victims.alive(running.pid)
        if not there:
            return 0
        way = self.dice.choices(WAYS, WEIGHTS)[0]
        kinds = self.dice.sample(sorted(there), min(len(there), 2 if way == TWO else 1))
        chosen = [self.dice.choice(there[kind]) for kind in kinds]
        if way in (KILL, TWO):
            victims.kill(chosen)
        elif way == PAUSED:
            victims.pause(chosen[0])
        else:
            victims.told(running.pid, signal.Signals[way])
            kinds = [MAIN]
        self.struck.update((way, kind) for kind in kinds)
        self.say(f"  {way}: {', '.join(kinds)} ({self.checkout.results}/{self.length.results} measured)")
        return 1

    def _again(self, before: subprocess.Popen[bytes] | None = None) -> subprocess.Popen[bytes]:
        """The plain command; sometimes at once, while those whom the one before left are still about to end."""
        if before is not None:
            before.wait(LONGEST)
            time.sleep(self.dice.choice((0.0, 0.0, 0.5)))
        if self.checkout.runs > MOST_RUNS:
            raise RuntimeError(f"{self.checkout.folder} does not get on")
        return self.checkout.start()

    def _end(self, running: subprocess.Popen[bytes]) -> None:
        status = running.wait(LONGEST)
        status = self.checkout.finish() if status else status
        if status:
            raise RuntimeError(f"an undisturbed run in {self.checkout.folder} ended with exit status {status}")


def _now() -> float:
    return time.monotonic()
