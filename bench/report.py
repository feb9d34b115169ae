"""What collecting and summarizing cost: `.venv/bin/python bench/report.py [--cells 1000] [--steps 10] [--seconds 30]`.

Makes the results of a plan up, in the store's own format, and starts the programs that a run starts: for all results
but one; once more with that one beside them, once for a plan with one cell more, and once with nothing new. The first
is done from nothing `--tries 5` times, and the median counts; its budget (docs/concepts/speed.md) is 6 x the
ingredients. The floor is what the same programs take, with nothing new, for a plan of one cell. The ingredients are
every file of these results, read once: JSON decoded by the standard library, all other text split into words.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, suppress
from io import StringIO
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.synthetic import Results  # noqa: E402  # the checkout's own
from stepgrid.model.plan import Plan  # noqa: E402
from stepgrid.store.plans import Request  # noqa: E402
from stepgrid.store.store import Store  # noqa: E402
from stepgrid.workflow import remaining_work, run_request  # noqa: E402

SPEC = """\
title: made-up results
builds: {{rocksdb: {{engine: rocksdb, versions: {versions}, source: {{system: db_bench}}}}}}
steps: [{steps}]
params: {{keys: 1M, threads: 40, duration: {seconds}s}}
sweep:
  fanout: {{option: max_bytes_for_level_multiplier, values: {fanouts}}}
  bits: {{option: bloom_bits, values: {bits}}}
report: {{base: {{build: rocksdb-7.8.3}}}}
"""
STEP = "{{name: step{number}, kind: db_bench, benchmarks: [{benchmark}, stats]}}"
BENCHMARKS = ("overwrite", "readwhilewriting", "readrandom", "seekrandom")
MANY = {"versions": "[7.8.3, 8.5.4, 9.9.3, 9.10.0, 10.4.2]", "bits": "[5, 6, 7, 8, 9, 10, 11, 12, 13, 14]"}
ONE = {"versions": "[7.8.3]", "bits": "[20]"}  # no cell of the others
CELLS_PER_FANOUT = 50
INGREDIENTS = """\
import json, os
for folder, _, names in os.walk("outputs/results"):
    for name in names:
        with open(f"{folder}/{name}", encoding="utf-8") as file:
            text = file.read()
        if name.endswith(".json"):
            json.loads(text)
        elif name.endswith(".jsonl"):
            list(map(json.loads, text.splitlines()))
        else:
            list(map(str.split, text.splitlines()))
"""
PR_SET_CHILD_SUBREAPER = 36


class Cost(NamedTuple):
    cpu: float
    peak: float  # bytes
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, number in (("cells", 1000), ("steps", 10), ("seconds", 30), ("tries", 5)):
        parser.add_argument(f"--{name}", type=int, default=number)
    given = parser.parse_args()
    _adopt()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for line in _measured(max(1, given.cells // CELLS_PER_FANOUT), given.steps, given.seconds, given.tries):
            print(line, flush=True)


def _measured(fanouts: int, steps: int, seconds: int, tries: int) -> Iterator[str]:
    plan, results = _plan("large.yaml", list(range(2, fanouts + 2)), steps, seconds)
    *most, last = plan.stages
    for stage in most:
        results.result(stage)
    yield f"{len(plan.cells):,} cells x {steps} steps of {seconds} s: CPU s, peak of the larger program, wall s"
    idle = _spent(["-c", "import duckdb, numpy"], [])
    yield _line("bare imports: duckdb, numpy", idle)
    bare, whole = list[tuple[Cost, ...]](), list[tuple[Cost, ...]]()
    for _ in range(tries):
        _forget()
        bare.append(_spent(["-c", INGREDIENTS], []))
        yield _line("bare ingredients: all read once", bare[-1])
        whole.append(_both(plan))
        yield _line(f"all of {len(most):,} results", whole[-1])
    page = Path("outputs/summary", plan.digest, "index.html").stat().st_size
    yield f"its page: {page / 1e6:.1f} MB"
    results.result(last)
    more = _both(plan)
    yield _line("one result more", more)
    grown, others = _plan("larger.yaml", list(range(2, fanouts + 3)), steps, seconds)
    old = {stage.id for stage in plan.stages}
    new = [stage for stage in grown.stages if stage.id not in old]
    others.result(new[0])
    yield _line("a plan that grew by a cell", _both(grown))
    yield _line("nothing new", _both(plan))
    floor = _floor(steps, seconds)
    yield _line("a plan of one cell, nothing new", floor)
    ratios = [sum(each.cpu for each in all_) / read[0].cpu for all_, read in zip(whole, bare, strict=True)]
    yield f"all, to the ingredients: {median(ratios):.1f} times"
    yield f"one result more, to the floor: {_ratio(more, floor)}"


def _forget() -> None:
    """What earlier tries left."""
    shutil.rmtree("outputs/summary", ignore_errors=True)
    for cache in Path("outputs/results").glob("*/*/figures.*"):
        cache.unlink()


def _floor(steps: int, seconds: int) -> tuple[Cost, Cost]:
    plan, results = _plan("one.yaml", [8], steps, seconds, ONE)
    results.result(plan.stages[0])
    _both(plan)
    return _both(plan)


def _ratio(more: tuple[Cost, Cost], floor: tuple[Cost, Cost]) -> str:
    named = zip(("collect", "summarize"), more, floor, strict=True)
    return ", ".join(f"{name} {each.cpu / least.cpu:.1f} times" for name, each, least in named)


def _both(plan: Plan) -> tuple[Cost, Cost]:
    """Collect, summarize."""
    return _spent(["-m", "stepgrid.pipeline", "collect"], [plan.digest, "--partial"])[0], _spent(
        ["-m", "stepgrid.pipeline", "summarize"], [plan.digest, "--partial"]
    )[0]


def _spent(program: Sequence[str], arguments: Sequence[str]) -> tuple[Cost, ...]:
    """Of a program of its own, with its imports and with the process that draws its charts."""
    began = os.times()
    child = os.posix_spawn(sys.executable, [sys.executable, *program, *arguments], _environment())
    ended = [os.wait4(child, 0)]
    seconds = os.times().elapsed - began.elapsed
    if code := os.waitstatus_to_exitcode(ended[0][1]):
        sys.exit(f"{' '.join(program)} ended with {code}")
    with suppress(ChildProcessError):  # what it left behind comes to us
        while True:
            ended.append(os.wait4(-1, 0))
    cpu = sum(used.ru_utime + used.ru_stime for _, _, used in ended)
    return (Cost(cpu, max(used.ru_maxrss for _, _, used in ended) * 1024.0, seconds),)


def _environment() -> dict[str, str]:
    """As a run has it: what is compiled once is read from then on."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": str(ROOT / "compiler")}


def _adopt() -> None:
    """Processes whose parent ended without waiting for them become children of this one."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _line(name: str, costs: tuple[Cost, ...]) -> str:
    parts = [f"{each.cpu:7.2f} s {each.peak / 1e6:6.0f} MB {each.seconds:7.2f} s" for each in costs]
    return f"{name:32}{' | '.join(parts)}"


def _plan(
    name: str, fanouts: Sequence[int], steps: int, seconds: int, axes: Mapping[str, str] | None = None
) -> tuple[Plan, Results]:
    listed = (STEP.format(number=number, benchmark=BENCHMARKS[number % len(BENCHMARKS)]) for number in range(steps))
    text = SPEC.format(steps=", ".join(listed), seconds=seconds, fanouts=list(fanouts), **(axes or MANY))
    Path(name).write_text(text, encoding="utf-8")
    with redirect_stderr(StringIO()):  # the spec's warnings
        store, plan = Store(), run_request.requested_plan(Request(name))
    remaining_work.remaining_work(plan, store)
    results = Results(store, plan, seconds)
    for build in plan.builds:
        results.build(build.id, build.name)
    return plan, results


if __name__ == "__main__":
    main()
