"""python -m compiler.summarize PLAN_DIGEST [--partial]"""

from __future__ import annotations

import sys

from compiler.plan.uncollected import unsearched
from compiler.summarize import svg


def _main() -> int:
    unsearched()
    svg.begin()  # before the imports, which take as long
    from compiler.summarize.command import main

    return main()


if __name__ == "__main__":
    sys.exit(_main())
