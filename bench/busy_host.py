"""What a busy host can still tell: equal arms while others come and go, judged by QPS and by CPU time per operation.

`.venv/bin/python bench/busy_host.py [--reports 40] [--loads 3]`: five equal arms of two steps (point reads of SQLite;
random reads of 64 MiB), each run beside none to three processes that spin or copy memory, drawn anew for each run.
About four minutes on two cores with 40 reports of three loads; the others' load is drawn from a fixed seed, what the
host itself does is not."""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from stepgrid.summarize.statistics import verdicts  # noqa: E402
from stepgrid.summarize.statistics.confidence_intervals import sample, table_intervals  # noqa: E402

SEED, ARMS, ROWS, WORDS, SECONDS, EFFECT, SLOWER = 20265, 5, 20_000, 8 << 20, 0.15, 0.02, 1.3
MOST_OTHERS = 3


class Figures(NamedTuple):
    qps: float
    cpu: float  # seconds of an operation


def point_reads() -> Callable[[int], None]:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, pad TEXT)")
    database.executemany("INSERT INTO t VALUES (?, ?)", ((key, "x" * 100) for key in range(ROWS)))

    def read(seed: int) -> None:
        database.execute("SELECT pad FROM t WHERE id = ?", (seed * 7919 % ROWS,)).fetchone()

    return read


def memory_reads() -> Callable[[int], None]:
    words = np.arange(WORDS)
    places = np.random.default_rng(SEED).integers(0, WORDS, 1 << 16)

    def read(seed: int) -> None:
        words[(places + seed) % WORDS].sum()

    return read


def measure(operation: Callable[[int], None], batch: int) -> Figures:
    began, cpu, count = time.perf_counter(), time.process_time(), 0
    while (seconds := time.perf_counter() - began) < SECONDS:
        for _ in range(batch):
            operation(count)
            count += 1
    return Figures(count / seconds, (time.process_time() - cpu) / count)


def spin() -> None:
    while True:
        pass


def copy() -> None:
    words = np.arange(WORDS)
    while True:
        words = words.copy()


class Others:
    """Processes that are stopped and continued; ended with the bench."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("fork")
        kinds = (spin, copy) * MOST_OTHERS
        self._processes = [context.Process(target=kind, daemon=True) for kind in kinds]
        for process in self._processes:
            process.start()
        self.draw(0, random.Random(SEED))

    def draw(self, count: int, chance: random.Random) -> None:
        import os
        import signal

        running = chance.sample(self._processes, count)
        for process in self._processes:
            assert process.pid is not None
            os.kill(process.pid, signal.SIGCONT if process in running else signal.SIGSTOP)

    def end(self) -> None:
        for process in self._processes:
            process.kill()


def report(
    others: Others, steps: dict[str, tuple[Callable[[int], None], int]], loads: int, chance: random.Random
) -> dict[str, list[dict[int, Figures]]]:
    """Yield each step's figures of each arm by load, in blocks of a random order."""
    figures: dict[str, list[dict[int, Figures]]] = {name: [{} for _ in range(ARMS)] for name in steps}
    for load in range(loads):
        for arm in chance.sample(range(ARMS), ARMS):
            for name, (operation, batch) in steps.items():
                others.draw(chance.randint(0, MOST_OTHERS), chance)
                figures[name][arm][load] = measure(operation, batch)
    return figures


def rows(reports: int, loads: int) -> Iterator[str]:
    others, chance = Others(), random.Random(SEED)
    steps = {"point reads": (point_reads(), 50), "memory reads": (memory_reads(), 1)}
    try:
        made = [report(others, steps, loads, chance) for _ in range(reports)]
    finally:
        others.end()
    for metric in Figures._fields:
        called = found = same = total = wrong_reports = 0
        spread = []
        for figures in made:
            tables = []
            for arms in figures.values():
                base, *rest = [{load: [getattr(run, metric)] for load, run in arm.items()} for arm in arms]
                tables.append([sample(arm, base, "base") for arm in rest])
            intervals = [interval for table in table_intervals(tables) for interval in table if interval]
            words = [verdicts.verdict(interval.low, interval.high, EFFECT) for interval in intervals]
            moved = [verdicts.verdict(each.low * SLOWER, each.high * SLOWER, EFFECT) for each in intervals]
            wrong = sum(word in (verdicts.FASTER, verdicts.SLOWER) for word in words)
            called, total, wrong_reports = called + wrong, total + len(words), wrong_reports + bool(wrong)
            found += moved.count(verdicts.FASTER)
            same += words.count(verdicts.SAME)
            spread += [interval.high / interval.ratio - 1 for interval in intervals]
        yield (
            f"{loads} loads, {metric}: {called} of {total} called different, in {wrong_reports} of {reports} "
            f"reports; same {same / total:.0%}; 30 % found {found / total:.0%}; middle width ± {np.median(spread):.1%}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="What a busy host can still tell.")
    parser.add_argument("--reports", type=int, default=40)
    parser.add_argument("--loads", type=int, default=3)
    asked = parser.parse_args()
    for line in rows(asked.reports, asked.loads):
        print(line, flush=True)


if __name__ == "__main__":
    main()
