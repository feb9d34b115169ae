"""python -m stepgrid.collect PLAN_DIGEST [--partial]"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

from stepgrid.collect.job import collect
from stepgrid.host.files import retry_stale
from stepgrid.host.processes.signals import exit_now
from stepgrid.host.terminal_output import screened
from stepgrid.model.plan import Plan
from stepgrid.model.status import ENDED, NodeStatus
from stepgrid.plan import plan_file
from stepgrid.plugins.registry import PluginError
from stepgrid.store.active_run import DiskFull, is_system_refusal, with_reserve
from stepgrid.store.paths import RESULT_FILE
from stepgrid.store.store import Store, revision


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m stepgrid.collect", description="Writes a plan's tables.")
    parser.add_argument("plan", help="digest of a plan under outputs/plans/")
    parser.add_argument("--partial", action="store_true", help="some results may be missing")
    options = parser.parse_args(arguments)
    store = Store()
    try:
        plan = plan_file.read(store.plan(options.plan))
    except FileNotFoundError:
        print(f"collect: there is no plan {options.plan} under {store.root}/plans; start a run first", file=sys.stderr)
        return 1
    try:
        nodes = with_reserve(store, lambda: retry_stale(lambda: _collected(store, plan)))
    except (DiskFull, PluginError) as error:
        print(f"collect: {error}", file=sys.stderr)
        return 1
    except Exception as error:  # of a disk that fails, or a folder that is no folder
        if not is_system_refusal(error):
            raise
        print(f"collect: the system refused: {error}", file=sys.stderr)
        return 1
    return _report(plan, nodes, options.partial)


def _collected(store: Store, plan: Plan) -> Mapping[str, NodeStatus]:
    store.drop_stamps(plan.digest)
    nodes = collect(store, plan)
    results = [node.result.folder / RESULT_FILE for node in nodes.values() if node.result]
    store.stamp_tables(plan.digest, revision(), results)
    return nodes


def _report(plan: Plan, nodes: Mapping[str, NodeStatus], partial: bool) -> int:
    open_stages = [nodes[stage.id] for stage in plan.stages if nodes[stage.id].status not in ENDED]
    if not open_stages or partial:
        return 0
    print(
        f"collect: {len(open_stages)} of {len(plan.stages)} stages have no result; the tables hold what there is.\n"
        f"First: {open_stages[0].title}: {open_stages[0].sentence}\n"
        "Run again to measure the rest, or give --partial to summarize without it.",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    with screened():
        exit_now(main())
