"""What the client of the insert benchmark costs: CPU per row and per query beside one in Python and the bare driver.

`bench/client.py --insert`. The bare driver sends one text of 100 rows, or one query, over and over; of Python's only
the loop counts, of the others all of the process: in runs of a few seconds its start is half a microsecond a query and
more. All three have one server and take turns.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path
from statistics import median

from bench import client_run, mysqlclient_package
from bench.insert_arms import Cost, Lab, Work, cost, load
from bench.ratios import Ratio, ratio

ARMS = ("ours", "python", "bare")
ORDERS = tuple(permutations(ARMS))
LEAST_OF_PYTHON, MOST_OF_BARE = 4.0, 1.3
NAMES = {"insert": "row", "query": "query"}

Round = Mapping[str, Cost]  # by the name of the arm


def measure(builds: Path, folder: Path, asked: Namespace) -> int:
    packages = mysqlclient_package.installed(folder) if asked.server == "mariadb" else None
    with client_run.served(builds, asked.server, folder) as (access, sysbench):
        lab = Lab(access, asked.server, sysbench, folder, packages)
        load(lab, asked.rows)
        works = (Work("query", 0, asked.seconds), Work("insert", asked.inserts, 0))  # the first ask what was loaded
        found = {work.action: [_round(lab, work, index) for index in range(asked.pairs)] for work in works}
    return _report(found, asked)


def _round(lab: Lab, work: Work, index: int) -> Round:
    costs = {arm: cost(lab, arm, work) for arm in ORDERS[index % len(ORDERS)]}
    told = ", ".join(f"{arm} {costs[arm].user:.2f} + {costs[arm].system:.2f}" for arm in ARMS)
    print(f"{work.action} {index + 1}: {told} us", file=sys.stderr, flush=True)
    return costs


def _report(found: Mapping[str, Sequence[Round]], asked: Namespace) -> int:
    print(f"{asked.pairs} rounds, {asked.inserts} rows, {asked.seconds} s of queries, server: {asked.server}\n")
    print(f"CPU, us{'':14}" + "".join(f"{arm:>9}" for arm in ARMS))
    for action, rounds in found.items():
        for part, name in (("user", "user"), ("all", "user and system")):
            values = "".join(f"{median(getattr(each[arm], part) for each in rounds):9.2f}" for arm in ARMS)
            print(f"  {NAMES[action]}, {name:{17 - len(NAMES[action])}}{values}")
    print()
    fine = [_judged(action, rounds) for action, rounds in found.items()]
    return 0 if all(fine) else 1


def _judged(action: str, rounds: Sequence[Round]) -> bool:
    python = ratio([[each["python"].user / each["ours"].user] for each in rounds])
    bare = ratio([[each["ours"].all / each["bare"].all] for each in rounds])
    fine = _is_least(python), _is_most(bare)
    word = NAMES[action]
    print(f"{word}: user CPU, python / ours: {python}; {'' if fine[0] else 'not '}at least {LEAST_OF_PYTHON:g}")
    print(f"{word}: user and system, ours / bare: {bare}; {'' if fine[1] else 'not '}at most {MOST_OF_BARE:g}")
    return all(fine)


def _is_least(found: Ratio) -> bool:
    return found.low is not None and found.low >= LEAST_OF_PYTHON


def _is_most(found: Ratio) -> bool:
    return found.high is not None and found.high <= MOST_OF_BARE
