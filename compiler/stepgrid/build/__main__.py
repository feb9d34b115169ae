"""python -m stepgrid.build PLAN BUILD, in the folder that holds outputs/."""

from __future__ import annotations

import sys

from stepgrid.build.job import make
from stepgrid.host.processes import signals
from stepgrid.host.processes.signals import OrphanedError, follow_parent
from stepgrid.host.terminal_output import screened
from stepgrid.plan import plan_file
from stepgrid.store.store import Store


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("usage: python -m stepgrid.build PLAN BUILD", file=sys.stderr)
        return 2
    digest, node = arguments
    store = Store()
    try:
        signals.interrupt_on_signals()
        follow_parent()
        try:
            build = plan_file.build(store.plan(digest), node)
        except (FileNotFoundError, KeyError):
            print(f"there is no build {node} in {store.plan(digest)}: compile the spec again", file=sys.stderr)
            return 1
        return make(store, build)
    except signals.Interrupted as signal:
        return 128 + signal.number
    except (OrphanedError, OSError) as error:
        print(f"build {node}: {error}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    with screened():
        sys.exit(main(sys.argv[1:]))
