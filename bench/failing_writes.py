"""Runs a small sweep again and again, and lets one call that writes below outputs/ fail each time, the 1st to the last.

`python bench/failing_writes.py [--every 1] [--first 1] [--errno ENOSPC] [--stays] [--seconds S]`; needs cc.
With `--slow MS` none fails, and each takes so much longer.
After each the plain command must measure what is missing, end with 0 and leave nothing half-made (bench/remains.py)."""

from __future__ import annotations

import argparse
import errno
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "compiler")]

from bench.forked_runs import ForkedRuns, Run  # noqa: E402

SPEC = """\
title: "a small sweep"
builds: {sh: {engine: program, version: 1, source: {system: sh}}}
steps:
  - {name: load, kind: command, argv: [sh, -c, "echo loaded > {data}/file"]}
  - checkpoint: loaded
  - name: read
    kind: command
    argv: [sh, -c, "cat {data}/file; echo qps {{ params.a }}"]
    metrics: {x: {pattern: "qps (.*)"}}
params: {a: 1}
sweep: {a: {values: [1, 2], param: a, from: loaded}}
repeat: 1
allow: {no-repeats: "a test of writes"}
"""
FINE = 0
PROGRESS = 20  # calls between two words of how far it came


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="stepgrid-writes-") as folder:
        found = Bench(Path(folder), options)
        status, said = found.run(0)
        if status != FINE:
            sys.exit(said)
        every = found.count()
        print(f"{every:,} calls that write in a sweep that nothing disturbs", flush=True)
        return found.slow() if options.slow else found.tried(every)


class Bench:
    def __init__(self, work: Path, options: argparse.Namespace) -> None:
        self.work, self.options, self.shim = work, options, _shim(work)
        self.runs = ForkedRuns(work, self.shim)

    def slow(self) -> int:
        began = time.monotonic()
        status, said = self.run(0, self.options.slow)
        seconds = time.monotonic() - began
        wrong = [*_traces(said), *([] if status == FINE else [said]), *self._after()]
        print(
            *wrong, f"each of {self.count():,} calls took {self.options.slow} ms longer: {status} after {seconds:.0f} s"
        )
        return 1 if wrong else 0

    def tried(self, every: int) -> int:
        end, survived, hit, seen = time.monotonic() + self.options.seconds, 0, 0, Counter[int]()
        for number in range(self.options.first, every + 1, self.options.every):
            if time.monotonic() > end:
                break
            status, said = self.run(number)
            hit += self.count() >= number
            seen[status] += 1
            wrong = [*_traces(said), *self._after()]
            survived += not wrong
            for each in wrong:
                print(f"call {number}: {each}", flush=True)
            if seen.total() % PROGRESS == 0:
                print(f"{seen.total():,} tried, the last was call {number:,} of {every:,}", flush=True)
        endings = ", ".join(f"{count} with {status}" for status, count in sorted(seen.items()))
        tried = f"{seen.total():,} tried, of which {hit:,} met a call; {survived:,} survived"
        print(f"{tried}; the runs with the fault ended: {endings}")
        return 0 if survived == seen.total() else 1

    def run(self, number: int, slow: int = 0) -> Run:
        folder = self.work / "run"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "outputs").mkdir(parents=True)
        (folder / "a.yaml").write_text(SPEC)
        (self.work / "counter").write_bytes(bytes(8))
        given = {
            "LD_PRELOAD": str(self.shim),
            "FAIL_BELOW": str(folder / "outputs"),
            "FAIL_COUNTER": str(self.work / "counter"),
            "FAIL_AT": str(number),
            "FAIL_WITH": str(getattr(errno, self.options.errno)),
            "FAIL_SLOW": str(slow),
            **({"FAIL_ON": "1"} if self.options.stays else {}),
        }
        return self.runs.run(folder, given)

    def count(self) -> int:
        return int.from_bytes((self.work / "counter").read_bytes(), sys.byteorder)

    def _after(self) -> list[str]:
        """What the next plain run did not put right."""
        return wrong_after(self.runs.run(self.work / "run"), self.work / "run")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="try each of so many calls")
    parser.add_argument("--first", type=int, default=1, help="the first call that fails")
    parser.add_argument("--errno", default="ENOSPC", help="what it fails with: ENOSPC, EIO …")
    parser.add_argument("--stays", action="store_true", help="all later calls of the run fail as well")
    parser.add_argument("--slow", type=int, default=0, metavar="MS", help="none fails: each takes so much longer")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="when to stop at the latest")
    return parser.parse_args()


def _shim(work: Path) -> Path:
    made = work / "failing_writes.so"
    source = str(Path(__file__).with_suffix(".c"))
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-w", "-o", str(made), source, "-ldl"], check=True)
    return made


def _traces(said: str) -> list[str]:
    found = [line for line in said.splitlines() if line.startswith("Traceback") or "internal error" in line]
    return [f"{found[0]}: {said.splitlines()[-3:]}"] if found else []


def wrong_after(done: Run, folder: Path) -> list[str]:
    """After a plain run that nothing disturbed."""
    outputs = folder / "outputs"
    results = [path for path in outputs.glob("results/s-*/*") if (path / "result.json").is_file()]
    hidden = [path for path in outputs.rglob(".*") if path.parent.name not in ("plans", "requests", "compiled")]
    wrong = _traces(done.said) if done.status == FINE else [f"exit status {done.status}: {done.said[-300:]!r}"]
    wrong += [] if len(results) == 3 else [f"{len(results)} results of 3 stages"]
    wrong += [f"{path.relative_to(outputs)} is left" for path in hidden if path.name.rpartition(".")[2].isdecimal()]
    return [*wrong, *(f"{path.name} is left in live/" for path in outputs.glob("live/*"))]


if __name__ == "__main__":
    sys.exit(main())
