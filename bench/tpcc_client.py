"""What the client of tpcc costs: CPU per transaction of the mix beside the bare driver; and its memory over a long run.

`bench/client.py --tpcc [--growth]`. The bare driver sends the same prepared statements with the same numbers, over and
over. With --growth the client runs for 10 minutes.
"""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from pathlib import Path
from statistics import median

import psutil

from bench import client_arms, client_run
from bench.client_arms import Cost, Lab, Lines
from bench.ratios import ratio
from stepgrid_databases.drivers.tpcc import TpcC

DRIVER = TpcC()
TABLES = {"warehouses": 1, "items": 1000, "customers": 300}
MOST_OF_BARE = 1.3
MOMENTS = (60, 180, 300, 420, 600)  # seconds after which the memory is read; LuaJIT compiles for some minutes
MOST_GROWTH = 1.02  # from the middle to the end


def measure(builds: Path, folder: Path, asked: Namespace) -> int:
    with client_run.served(builds, asked.server, folder) as (access, sysbench):
        lab = Lab(access, asked.server, sysbench, folder, None)
        client_arms.load(lab, DRIVER, {"action": "load", **TABLES})
        if asked.growth:
            return _growth(lab)
        pairs = [_pair(lab, asked.seconds, index) for index in range(asked.pairs)]
    print(f"{asked.pairs} pairs, {asked.seconds} s each, server: {asked.server}\n")
    for part in ("user", "system", "all"):
        ours, bare = (median(getattr(pair[arm], part) for pair in pairs) for arm in (0, 1))
        print(f"{part:7} us per transaction: ours {ours:7.1f}, bare {bare:7.1f}")
    found = ratio([[ours.all / bare.all] for ours, bare in pairs])
    fine = found.high is not None and found.high <= MOST_OF_BARE
    print(f"\nuser and system, ours / bare: {found}; {'' if fine else 'not '}at most {MOST_OF_BARE:g}")
    return 0 if fine else 1


def _pair(lab: Lab, seconds: int, index: int) -> tuple[Cost, Cost]:
    """By turns: ours, the bare driver; the bare driver, ours; …"""
    order = (True, False) if index % 2 else (False, True)
    costs = {is_ours: _ours(lab, seconds) if is_ours else _bare(lab, seconds) for is_ours in order}
    print(f"pair {index + 1}: {costs[True].all:.1f}, {costs[False].all:.1f} us", file=sys.stderr, flush=True)
    return costs[True], costs[False]


def _ours(lab: Lab, seconds: int) -> Cost:
    return client_arms.ours(lab, DRIVER, {"action": "run", "duration": seconds, **TABLES}, _transactions)


def _transactions(lines: Lines) -> int:
    return sum(line["operations"] for line in lines if line["report"] == "client")


def _bare(lab: Lab, seconds: int) -> Cost:
    return client_arms.bare(lab, DRIVER, [], {"seconds": seconds}, "tpcc_constant.lua")


def _growth(lab: Lab) -> int:
    duration = MOMENTS[-1] + 10
    with client_arms.started(lab, DRIVER, {"action": "run", "duration": duration, "clients": 2, **TABLES}) as client:
        sizes, began = [], time.monotonic()
        for moment in MOMENTS:
            time.sleep(max(0.0, began + moment - time.monotonic()))
            sizes.append(psutil.Process(client.pid).memory_info().rss)
            print(f"after {moment} s: {sizes[-1] / 1024**2:.1f} MiB", flush=True)
    return 0 if sizes[-1] <= MOST_GROWTH * sizes[len(MOMENTS) // 2] else 1
