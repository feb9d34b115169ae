"""How a plan of 500 stages spreads over machines: `.venv/bin/python -m bench.fleet`.

The real planner, on an empty store, and its schedule run against a clock of our own, with stages that take up to a
fifth more or less than was planned. Printed beside it: the shortest that any could be, and its cost.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from stepgrid.host.files import write_json
from stepgrid.model.plan import Plan, PlannedStage
from stepgrid.plan import plan_file
from stepgrid.plan.estimate import Fleet, Schedule, estimate_fleet
from stepgrid.store import plans, results
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan
from stepgrid.workflow.remaining_work import work_of_job
from stepgrid.workflow.run_preview import preview_run

MACHINES = (1, 4, 16, 64)
TIMES = 5  # of which the shortest is told: others are at work on this machine
SPREAD, SEED = 0.2, 21
SPEC = """\
title: a fleet
builds:
  one: {engine: program, version: "1.0", source: {system: sh}, flags: {programs: sh}}
  two: {engine: program, version: "2.0", source: {system: sh}, flags: {programs: sh}}
params: {threads: 1, cache: a}
steps:
  - {name: load, kind: command, argv: [sh, -c, "true"], duration: 600s, measured: false, mutates: true}
  - checkpoint: there
  - {name: go, kind: command, argv: [sh, -c, "echo {{ params.threads }} {{ params.cache }}"], duration: 300s}
sweep:
  cache: {param: cache, values: [a, b, c], from: there}
  threads: {param: threads, values: [1, 2, 4, 8, 16, 32, 64, 128], from: there}
repeat: 10
report: {base: {cache: a}}
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("fleet.yaml").write_text(SPEC, encoding="utf-8")
        plan, seconds = _planned()
        print(f"{len(plan.stages)} stages; compiled in {seconds:.2f} s of CPU")
        print("| machines | planned | shortest possible | ran | of that, waiting | CPU of the schedule per stage |")
        print("|---|---|---|---|---|---|")
        for machines in MACHINES:
            print(_row(plan, machines))
        print("\n| results there | CPU until a job on a node knows its work |\n|---|---|")
        for row in _starts(plan):
            print(row)


def _starts(plan: Plan) -> Iterator[str]:
    """What every job does before it measures: the first of a sweep, one in its middle, and the last."""
    store, there = Store(), 0
    plans.publish(store, plan)
    for many in (0, len(plan.stages) // 2, len(plan.stages) - 1):
        for stage in plan.stages[there:many]:
            _result(store, plan, stage)
        there = many
        yield f"| {many} | {min(_start(store, plan.digest) for _ in range(TIMES)) * 1e3:.0f} ms |"


def _start(store: Store, digest: str) -> float:
    before = time.process_time()
    work_of_job(plan_file.read(store.plan(digest)), store)
    return time.process_time() - before


def _result(store: Store, plan: Plan, stage: PlannedStage) -> None:
    folder = store.results_of(stage.id) / "20260101T000000.000000Z"
    folder.mkdir(parents=True)
    write_json(folder / "attempt.json", {"stage": stage.id, "plan": plan.digest})
    steps = [{"name": step.name} for step in stage.steps]
    times = {"started": "2026-01-01T00:00:00+00:00", "ended": "2026-01-01T00:00:00+00:00"}
    said = {"stage": stage.id, "status": "done", "steps": steps, **times, "files": results.result_checksums(folder)}
    write_json(folder / "result.json", said)


def _planned() -> tuple[Plan, float]:
    before = time.process_time()
    plan = host_plan.compile_for_host("fleet.yaml", None)
    return plan, time.process_time() - before


def _row(plan: Plan, machines: int) -> str:
    preview = preview_run(plan, Store("outputs"))
    before = time.process_time()
    found: Fleet = estimate_fleet(preview, machines)
    each = (time.process_time() - before) / len(plan.stages)
    here, ran = found.schedule, _ran(found.schedule)
    over = here.seconds / here.bound - 1
    idle = 1 - sum(job.job.seconds for job in here.placed) / (here.seconds * machines)
    hours = [f"{seconds / 3600:.2f} h" for seconds in (here.seconds, here.bound, ran)]
    return f"| {machines} | {hours[0]} (+{over:.1%}) | {hours[1]} | {hours[2]} | {idle:.0%} | {each * 1e3:.2f} ms |"


def _ran(here: Schedule) -> float:
    """Each machine takes its jobs in turn, as they really last."""
    chance, clocks = random.Random(SEED), defaultdict[int, float](float)
    for job in sorted(here.placed, key=lambda each: each.start):
        clocks[job.machine] += job.job.seconds * chance.uniform(1 - SPREAD, 1 + SPREAD)
    return max(clocks.values())


if __name__ == "__main__":
    main()
