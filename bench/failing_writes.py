"""Runs a small sweep again and again, and lets one call that writes below outputs/ fail each time, the 1st to the last.

`python bench/failing_writes.py [--every 1] [--first 1] [--errno ENOSPC] [--stays] [--seconds S]`; needs cc.
With `--slow MS` none fails, and each takes so much longer.
After each the plain command must measure what is missing, end with 0 and leave nothing half-made (bench/remains.py)."""

from __future__ import annotations

import argparse
import errno
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
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
COMMAND = (sys.executable, "-m", "stepgrid.cli", "run", "a.yaml")
LONGEST = 120  # seconds of a run
FINE = "exit status 0"


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="stepgrid-writes-") as folder:
        work = Path(folder)
        shim = _shim(work)
        said, every = _run(work, shim, 0, options)
        if _ending(said) != FINE:
            sys.exit(said)
        print(f"{every:,} calls that write in a sweep that nothing disturbs", flush=True)
        if options.slow:
            return _slow(work, shim, options)
        return _tried(work, shim, every, options)


def _slow(work: Path, shim: Path, options: argparse.Namespace) -> int:
    began = time.monotonic()
    said, every = _run(work, shim, 0, options, options.slow)
    wrong = [*_traces(said), *([] if _ending(said) == FINE else [said]), *_after(work)]
    for each in wrong:
        print(each)
    print(
        f"each of {every:,} calls took {options.slow} ms longer: {_ending(said)} after {time.monotonic() - began:.0f} s"
    )
    return 1 if wrong else 0


def _tried(work: Path, shim: Path, every: int, options: argparse.Namespace) -> int:
    end, wrong, seen = time.monotonic() + options.seconds, list[str](), Counter[str]()
    for number in range(options.first, every + 1, options.every):
        if time.monotonic() > end:
            break
        said, _ = _run(work, shim, number, options)
        seen[_ending(said)] += 1
        wrong += [f"call {number}: {each}" for each in (*_traces(said), *_after(work))]
    for each in wrong:
        print(each)
    tried = seen.total()
    print(f"{tried:,} tried, {tried - len(wrong):,} survived; the runs with the fault ended: {dict(seen)}")
    return 1 if wrong else 0


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


def _run(work: Path, shim: Path, number: int, options: argparse.Namespace, slow: int = 0) -> tuple[str, int]:
    """What it said, and how many calls there were."""
    shutil.rmtree(work / "run", ignore_errors=True)
    (work / "run" / "outputs").mkdir(parents=True)
    (work / "run" / "a.yaml").write_text(SPEC)
    (work / "counter").write_bytes(bytes(8))
    given = {
        "LD_PRELOAD": str(shim),
        "FAIL_BELOW": str(work / "run" / "outputs"),
        "FAIL_COUNTER": str(work / "counter"),
        "FAIL_AT": str(number),
        "FAIL_WITH": str(getattr(errno, options.errno)),
        "FAIL_SLOW": str(slow),
        **({"FAIL_ON": "1"} if options.stays else {}),
    }
    done = _command(work, given)
    return f"{done.stdout}{done.stderr}\nexit status {done.returncode}", _count(work)


def _command(work: Path, more: dict[str, str]) -> subprocess.CompletedProcess[str]:
    lock = {"STEPGRID_HOST_LOCK": str(work / "lock"), "STEPGRID_LOOK": "0", "STEPGRID_SITE": ""}
    env = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), **lock, **more}
    return subprocess.run(COMMAND, cwd=work / "run", env=env, capture_output=True, text=True, timeout=LONGEST)


def _count(work: Path) -> int:
    return int.from_bytes((work / "counter").read_bytes(), sys.byteorder)


def _ending(said: str) -> str:
    return said.rsplit("\n", 1)[-1]


def _traces(said: str) -> list[str]:
    found = [line for line in said.splitlines() if line.startswith("Traceback") or "internal error" in line]
    return [f"{found[0]}: {said.splitlines()[-3:]}"] if found else []


def _after(work: Path) -> list[str]:
    """What the next plain run did not put right."""
    return wrong_after(_command(work, {}), work / "run")


def wrong_after(done: subprocess.CompletedProcess[str], folder: Path) -> list[str]:
    """After a plain run that nothing disturbed."""
    outputs = folder / "outputs"
    results = [path for path in outputs.glob("results/s-*/*") if (path / "result.json").is_file()]
    hidden = [path for path in outputs.rglob(".*") if path.parent.name not in ("plans", "requests", "compiled")]
    wrong = [] if done.returncode == 0 else [f"exit status {done.returncode}: {done.stderr[-300:]!r}"]
    wrong += [] if len(results) == 3 else [f"{len(results)} results of 3 stages"]
    wrong += [f"{path.relative_to(outputs)} is left" for path in hidden if path.name.rpartition(".")[2].isdecimal()]
    return [*wrong, *(f"{path.name} is left in live/" for path in outputs.glob("live/*"))]


if __name__ == "__main__":
    sys.exit(main())
