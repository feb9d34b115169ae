"""The next round of a run that adds loads until it is sure: the same command line, in the same process.

A round is a run like any other, of the plan that has the loads that were asked for. A kill at any moment, or between
two rounds, loses nothing: the next command compiles the same plan."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from stepgrid.model.plan import Plan
from stepgrid.model.units import counted
from stepgrid.store import load_requests
from stepgrid.workflow import host_plan, plan_cache, run_request
from stepgrid.workflow.remaining_work import RemainingWork

COMMANDS = ("stepgrid", "snakemake")  # any other program, which may use either, would begin anew
ELSEWHERE = ("-d", "--directory")  # of Snakemake: from there, the same command line leads to another folder


def sentence(work: RemainingWork, config: Mapping[str, Any]) -> str:
    """What is added and why; nothing where all is decided."""
    if not work.plan.adds_loads or not config:
        return ""
    plan, _ = plan_cache.compiled(host_plan.store(), run_request.request(config))
    known = {stage.id for stage in work.plan.stages}
    new = [stage for stage in plan.stages if stage.id not in known]
    if not new:
        return ""
    whys = list(dict.fromkeys(_whys(work, plan)))
    first = f"{whys[0]}{f'; and {len(whys) - 1} more' if len(whys) > 1 else ''}" if whys else "undecided"
    again = "" if is_possible() else "; the same command measures them"
    return f"{first}\n{counted(len(new), 'stage')} more{again}"


def _whys(work: RemainingWork, plan: Plan) -> Iterator[str]:
    before = {cell.id: len(cell.repeats) for cell in work.plan.cells}
    for cell in plan.cells:
        if len(cell.repeats) > before.get(cell.id, 0):
            yield load_requests.why(work.store, cell.repeats[0].stages[-1])


def is_possible() -> bool:
    main = sys.modules["__main__"]
    name = main.__spec__.name.partition(".")[0] if main.__spec__ else Path(sys.argv[0]).name
    return name in COMMANDS and not any(each.startswith(ELSEWHERE) for each in sys.orig_argv[1:])


def start() -> NoReturn:
    """With the environment as it is: a run that stops by the clock stops when it was to."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
