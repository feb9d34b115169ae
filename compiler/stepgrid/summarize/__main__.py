"""python -m stepgrid.summarize PLAN_DIGEST [--partial]"""

from __future__ import annotations

from stepgrid.host.processes.signals import exit_now
from stepgrid.host.terminal_output import screened
from stepgrid.summarize.job import main

if __name__ == "__main__":
    with screened():
        exit_now(main())
