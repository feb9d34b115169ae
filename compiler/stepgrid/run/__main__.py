"""python -m stepgrid.run PLAN STAGE: runs one stage of a compiled plan, in the folder that holds outputs/."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from stepgrid.host.processes.signals import Interrupted, OrphanedError, follow_parent, interrupt_on_signals
from stepgrid.host.terminal_output import screened

USAGE = "usage: python -m stepgrid.run PLAN STAGE"


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 2:
        print(USAGE, file=sys.stderr)
        return 2
    try:
        interrupt_on_signals()
        follow_parent()
        return _run(*arguments)
    except OrphanedError as error:
        print(f"not started: {error}", file=sys.stderr)
        return 1
    except Interrupted as error:
        return 128 + error.number


def _run(plan: str, stage: str) -> int:
    gc.disable()
    from stepgrid.host import activity

    first = activity.first_reading_of_job()
    from stepgrid.language.problems import SpecError
    from stepgrid.language.site import current_site
    from stepgrid.run.attempt import Job, refuse
    from stepgrid.run.stage import run
    from stepgrid.store.store import Store

    gc.freeze()  # modules are no garbage: neither now nor when the process ends
    gc.enable()
    try:
        site = current_site()
    except (SpecError, OSError) as error:
        print(f"the site file cannot be used: {error}", file=sys.stderr)
        return 1
    try:
        job = Job.load(Store(data=site.data), plan, stage, site, first)
    except (OSError, KeyError) as error:
        print(f"the plan {plan} has no stage {stage} here: {error.args[-1]}", file=sys.stderr)
        return 2
    try:
        return 0 if run(job) else 1
    except OSError as error:  # before there is an attempt, or while it ends
        print(refuse(job, error).block(job.stage.title), file=sys.stderr)
        return 1


if __name__ == "__main__":
    with screened():
        sys.exit(main(sys.argv[1:]))
