"""python -m stepgrid.summarize PLAN_DIGEST [--partial]"""

from __future__ import annotations

import sys

from stepgrid.host.numpy_threads import alone
from stepgrid.host.processes.exit_signals import leave
from stepgrid.store.store import Store
from stepgrid.summarize.charts import svg


def _main() -> int:
    alone()
    if not Store().kept(sys.argv[1] if len(sys.argv) > 1 else "").is_dir():
        svg.begin()  # before the imports, which take as long
    from stepgrid.summarize.job import main

    return main()


if __name__ == "__main__":
    leave(_main())
