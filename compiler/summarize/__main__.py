"""python -m compiler.summarize PLAN_DIGEST [--partial]"""

from __future__ import annotations

import sys

from compiler.collect.alone import alone
from compiler.run.leaving import leave
from compiler.store.store import Store
from compiler.summarize import svg


def _main() -> int:
    alone()
    if not Store().kept(sys.argv[1] if len(sys.argv) > 1 else "").is_dir():
        svg.begin()  # before the imports, which take as long
    from compiler.summarize.command import main

    return main()


if __name__ == "__main__":
    leave(_main())
