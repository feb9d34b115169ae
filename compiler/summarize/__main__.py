"""python -m compiler.summarize PLAN_DIGEST [--partial]"""

from __future__ import annotations

from compiler.run.leaving import leave
from compiler.summarize import svg


def _main() -> int:
    svg.begin()  # before the imports, which take as long
    from compiler.summarize.command import main

    return main()


if __name__ == "__main__":
    leave(_main())
