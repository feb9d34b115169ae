"""stepgrid bisect on repositories of 64 commits: `.venv/bin/python bench/bisection.py [--searches 20] [--seed 1]`.

In each a commit makes a small C program 5 % slower, and two others do not build. What the program prints is no time:
its figure has a noise of 2 %, seeded by the load and the commit, so that a search takes a minute and a busy host
changes nothing. Repositories, builds, runs and results are real. Each search is killed once by kill -9, at a moment of
chance, and goes on by the same command. Ends with exit status 1 unless 19 of 20 find the commit with at most 12 builds.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.bisect_repository import COMMITS, Repository, repository  # the checkout's own
from bench.bisect_search import Ended, search

BUILDS = 12
SHARE = 0.95


def main(arguments: Sequence[str] | None = None) -> int:
    given = _arguments(arguments)
    folder, dice = Path(tempfile.mkdtemp(prefix="stepgrid-bisect-bench-")), random.Random(given.seed)
    print(
        f"seed {given.seed}, {COMMITS} commits\nsearch  change  do not build  builds  loads  killed at  seconds  result"
    )
    ended = [_search(folder / str(number), number, dice) for number in range(1, given.searches + 1)]
    good = [each for each in ended if each.is_right and each.builds <= BUILDS]
    print(f"{len(good)} of {len(ended)} found with at most {BUILDS} builds; medians: {_medians(ended)}")
    shutil.rmtree(folder)
    return 0 if len(good) >= SHARE * len(ended) else 1


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="How often a planted slowdown is found, through a kill -9 each.")
    parser.add_argument("--searches", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


def _search(folder: Path, number: int, dice: random.Random) -> Ended:
    made: Repository = repository(folder / "repository", dice)
    began = time.monotonic()
    ended = search(folder, made, dice)
    broken = ", ".join(map(str, sorted(made.broken)))
    print(
        f"{number:6}  {made.change:6}  {broken:>12}  {ended.builds:6}  {ended.loads:5}  {ended.killed:>9}  "
        f"{time.monotonic() - began:7.0f}  {ended.said}",
        flush=True,
    )
    return ended


def _medians(ended: Sequence[Ended]) -> str:
    return f"{median(each.builds for each in ended):g} builds, {median(each.loads for each in ended):g} loads"


if __name__ == "__main__":
    sys.exit(main())
