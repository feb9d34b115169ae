"""python -m stepgrid.summarize PLAN_DIGEST [--partial]"""

from __future__ import annotations

from stepgrid.host.processes.exit_signals import leave
from stepgrid.summarize.job import main

if __name__ == "__main__":
    leave(main())
