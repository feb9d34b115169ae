"""Clients by turns on one server: their CPU for each kind of work, and whether ours is within its limits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import permutations
from statistics import median
from typing import NamedTuple

from bench.client_arms import Cost
from bench.ratios import Ratio, ratio

ARMS = ("ours", "python", "bare")
ORDERS = tuple(permutations(ARMS))

Round = Mapping[str, Cost]  # by the name of the arm


class Limits(NamedTuple):
    least_of_python: float  # its user CPU over ours
    most_of_bare: float = 1.3  # our user and system CPU over its


def measure(works: Iterable[str], cost: Callable[[str, str], Cost], pairs: int) -> Mapping[str, Sequence[Round]]:
    """`cost`: of an arm and a work."""
    return {work: [_round(work, cost, index) for index in range(pairs)] for work in works}


def _round(work: str, cost: Callable[[str, str], Cost], index: int) -> Round:
    costs = {arm: cost(arm, work) for arm in ORDERS[index % len(ORDERS)]}
    told = ", ".join(f"{arm} {costs[arm].user:.2f} + {costs[arm].system:.2f}" for arm in ARMS)
    print(f"{work} {index + 1}: {told} us", file=sys.stderr, flush=True)
    return costs


def report(found: Mapping[str, Sequence[Round]], limits: Limits) -> int:
    """The exit status."""
    width = max(map(len, found)) + len(", user and system")
    print(f"{'CPU, us':{width}}" + "".join(f"{arm:>9}" for arm in ARMS))
    for work, rounds in found.items():
        for part, name in (("user", "user"), ("all", "user and system")):
            values = "".join(f"{median(getattr(each[arm], part) for each in rounds):9.2f}" for arm in ARMS)
            print(f"{f'{work}, {name}':{width}}{values}")
    print()
    fine = [judged(work, rounds, limits) for work, rounds in found.items()]
    return 0 if all(fine) else 1


def judged(work: str, rounds: Sequence[Round], limits: Limits) -> bool:
    python = ratio([[each["python"].user / each["ours"].user] for each in rounds])
    bare = ratio([[each["ours"].all / each["bare"].all] for each in rounds])
    fine = _is_least(python, limits.least_of_python), _is_most(bare, limits.most_of_bare)
    print(f"{work}: user, python / ours: {python}; {'' if fine[0] else 'not '}at least {limits.least_of_python:g}")
    print(f"{work}: user and system, ours / bare: {bare}; {'' if fine[1] else 'not '}at most {limits.most_of_bare:g}")
    return all(fine)


def _is_least(found: Ratio, least: float) -> bool:
    return found.low is not None and found.low >= least


def _is_most(found: Ratio, most: float) -> bool:
    return found.high is not None and found.high <= most
