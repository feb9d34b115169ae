"""stepgrid builds SPEC --make: makes builds without running steps, by the same jobs as a run."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

from stepgrid.cli.builds import BuildsError
from stepgrid.cli.builds.names import find, of_plan
from stepgrid.cli.shared import spec_arguments
from stepgrid.errors import FAILED, FINE, PROBLEMS
from stepgrid.host.processes import signals
from stepgrid.host.processes.signals import PARENT
from stepgrid.model.package_data import PACKAGE
from stepgrid.model.plan import Plan, PlannedBuild
from stepgrid.model.units import counted, duration
from stepgrid.store import plans
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan
from stepgrid.workflow.support_check import of_builds

_PAUSE = 0.05  # seconds between two looks at what runs


def make(args: argparse.Namespace, spec: str) -> int:
    if args.jobs < 1:
        raise BuildsError("-j takes the number of builds that are made at once: 1 or more")
    plan = spec_arguments.quietly(args, spec)
    if plan is None:
        return PROBLEMS
    store = host_plan.store()
    asked = _asked(plan, args.make, store)
    lacking = [build for build in asked if not store.has_build(build.id)]
    if refused := of_builds(lacking):
        print("\n".join(refused), file=sys.stderr)
        return PROBLEMS
    if lacking:
        plans.publish(store, plan)
    return _made(plan, asked, lacking, args.jobs)


def _asked(plan: Plan, names: Sequence[str], store: Store) -> list[PlannedBuild]:
    known = of_plan(plan)
    chosen = {find(name, known, store) for name in names}
    return [build for build in plan.builds if build.id in chosen or not names]


def _made(plan: Plan, asked: Sequence[PlannedBuild], lacking: Sequence[PlannedBuild], jobs: int) -> int:
    there, failed, began = len(asked) - len(lacking), [], time.monotonic()
    signals.interrupt_on_signals()
    working: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for done, (build, status) in enumerate(_ended(plan, lacking, jobs, working), 1):
            if status:
                failed.append(build.name)
            print(f"[{done}/{len(lacking)}] {build.name}: {_became(status)}", flush=True)
    except signals.Interrupted as interrupted:
        _stop(list(working.values()))
        print(f"stopped by {interrupted}; the same command goes on", file=sys.stderr)
        return FAILED
    took = f" in {duration(time.monotonic() - began)}" if lacking else ""
    parts = [f"{len(lacking) - len(failed)} built{took}", f"{there} there already", f"{len(failed)} failed"]
    why = f": {', '.join(failed)}" if failed else ""
    print(f"{plan.spec}: {counted(len(asked), 'build')}: {', '.join(parts)}{why}")
    return FAILED if failed else FINE


def _became(status: int) -> str:
    """A job that is killed, as when memory is short, says nothing itself."""
    if status < 0:
        return f"failed, killed by {signal.Signals(-status).name}"
    return "failed" if status else "built"


def _ended(
    plan: Plan, lacking: Sequence[PlannedBuild], jobs: int, working: dict[str, subprocess.Popen[bytes]]
) -> Iterator[tuple[PlannedBuild, int]]:
    """Each with its exit status, as they end; a failure keeps none of the others from being made."""
    builds, left = {build.id: build for build in lacking}, list(lacking)[::-1]
    while left or working:
        while left and len(working) < jobs:
            build = left.pop()
            working[build.id] = _start(plan, build)
        over = [node for node, job in working.items() if job.poll() is not None]
        for node in over:
            yield builds[node], working.pop(node).returncode
        if not over:
            time.sleep(_PAUSE)


def _start(plan: Plan, build: PlannedBuild) -> subprocess.Popen[bytes]:
    """As the rule of Snakemake does; from the package that this process runs, wherever it was started."""
    places = [str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]
    path = os.pathsep.join(place for place in places if place)
    environment = {**os.environ, PARENT: str(os.getpid()), "PYTHONPATH": path}
    argv = [sys.executable, "-m", "stepgrid.build", plan.digest, build.id]
    return subprocess.Popen(argv, env=environment, process_group=0)  # Ctrl-C is for this process, which tells them


def _stop(working: Sequence[subprocess.Popen[bytes]]) -> None:
    """They clear up, and keep what they were doing as an interrupted attempt."""
    for job in working:
        job.terminate()
    for job in working:
        job.wait()
