"""The verdicts of real runs whose truth is known: arms that differ in nothing that matters, and arms made slower."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.small_tree import SMALL_TREE
from bench.spent import stepgrid
from stepgrid.plan import plan_file
from stepgrid.store.store import Store
from stepgrid.summarize.comparisons.comparison import Comparison
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_files import read_report

SPEC = (
    "title: verdicts\n"
    + SMALL_TREE
    + """\
    stats_dump_period_sec: 600
workload: db_bench.sequence
steps: [fillseq, flush, {{checkpoint: loaded}}, readww, overwrite]
params: {{keys: 200k, duration: {seconds}s, threads: 1, write_rate: 2MiB}}
sweep:
  arm:
    from: loaded
    points:
{points}
repeat: {loads}
report: {{base: {{arm: same0}}}}
allow: {{step-short: a bench of the tool}}
"""
)
NAME = "verdicts.yaml"
SAME = "same"  # arms that differ in how often RocksDB would dump statistics, after ten minutes
SLOWER = {
    "counted": "statistics: true",  # a little slower
    "small": "cache_size: 2MiB",  # reads miss the block cache
    "limited": "rate_limiter_bytes_per_sec: 1MiB",  # flushes and compactions wait, and overwrites for them
}


class Found(NamedTuple):
    step: str
    base: str
    arm: str
    words: str
    interval: str


def measure(folder: Path, arms: int, loads: int, seconds: int) -> None:
    """In a folder that holds outputs/; what is there already is not measured again."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NAME).write_text(spec(arms, loads, seconds), encoding="utf-8")
    print(f"measuring {(arms + len(SLOWER)) * loads} stages", file=sys.stderr, flush=True)
    stepgrid(folder, "run", NAME)


def spec(arms: int, loads: int, seconds: int) -> str:
    same = [f"      {SAME}{index}: {{options: {{stats_dump_period_sec: {600 + index}}}}}" for index in range(arms)]
    slow = [f"      {name}: {{options: {{{option}}}}}" for name, option in SLOWER.items()]
    library = Path(__file__).resolve().parents[1] / "specs/library"
    return SPEC.format(library=library, seconds=seconds, loads=loads, points="\n".join([*same, *slow]))


def found(folder: Path) -> Report:
    store = Store(folder / "outputs")
    plan = max(store.root.glob(f"plans/*/{plan_file.PLAN_FILE}"), key=lambda path: path.stat().st_mtime).parent.name
    return read_report(store, plan)


def verdicts(report: Report) -> Iterator[Found]:
    for comparison in report.comparisons.leading:
        yield from _of(comparison)


def _of(table: Comparison) -> Iterator[Found]:
    for case in table.cases():
        if interval := case.entry.interval:
            between = f"{interval.ratio:.3f} [{interval.low:.3f}, {interval.high:.3f}]"
            word = case.entry.verdict or f"none: {case.entry.refusal}"
            yield Found(case.row.step, str(table.arms[0][0]), str(case.arm[0]), word, between)


def told(every: Sequence[Found]) -> Iterator[str]:
    for step in dict.fromkeys(each.step for each in every):
        alike = [each for each in every if each.step == step and each.arm.startswith(SAME)]
        counts = Counter(each.words for each in alike)
        yield f"{step}: {len(alike)} arms like the base: {', '.join(f'{n} {word}' for word, n in counts.items())}"
        for each in every:
            if each.step == step and each not in alike:
                yield f"  {each.arm}: {each.interval} {each.words}"
