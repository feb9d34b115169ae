"""How often verdicts are wrong, and what they miss: comparisons whose truth is known, through the code of the report.

`.venv/bin/python bench/verdicts.py [--tables 4800] [--comparisons 10000]`: made-up reports of eight steps, then made-up
experiments of one step as tables in memory, at noises of 1, 3 and 10 %; some minutes on one core. `--real [--arms 8]
[--loads 5] [--seconds 4] [--keep FOLDER]`: db_bench itself, with arms that differ in nothing that matters and arms made
slower; as long as the runs take."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import math  # noqa: E402

from scipy.stats import binomtest  # noqa: E402

from bench import verdicts_made as made  # noqa: E402  # the checkout's own
from bench import verdicts_real as real  # noqa: E402
from bench import verdicts_rows  # noqa: E402
from stepgrid.summarize.comparisons.comparison import ArmEntry, ComparedMetric, ratio_intervals  # noqa: E402
from stepgrid.summarize.comparisons.comparison_axes import StepPoints  # noqa: E402
from stepgrid.summarize.comparisons.judgement import RatioEvidence, compare, judge  # noqa: E402
from stepgrid.summarize.comparisons.noise_floor import noise_floors  # noqa: E402
from stepgrid.summarize.data.points import points  # noqa: E402
from stepgrid.summarize.statistics.verdicts import FASTER, INDICATIVE, SAME, SLOWER  # noqa: E402

NOISES, LOADS, EFFECT, DIFFERENCE = (0.01, 0.03, 0.1), 5, 0.02, 0.05
SEED = 20261


class Rate(NamedTuple):
    found: int
    of: int

    def __str__(self) -> str:
        above = binomtest(self.found, self.of, alternative="less").proportion_ci(0.95).high
        below = binomtest(self.found, self.of, alternative="greater").proportion_ci(0.95).low
        return f"{self.found / self.of:7.2%} of {self.of} (one-sided 95 %: at least {below:.2%}, at most {above:.2%})"


def main() -> None:
    asked = _asked()
    if asked.real:
        _real(asked)
        return
    every = {
        "equal arms": _equal,
        "a difference of 5 %": _different,
        "arms with loads of their own": _blocks,
        "single runs": _single,
    }
    print(f"reports of {verdicts_rows.STEPS} steps, {asked.tables} tables each", flush=True)
    for line in verdicts_rows.rows(asked.tables):
        print(f"  {line}", flush=True)
    print(f"reports of equal arms, {asked.tables // verdicts_rows.STEPS} each", flush=True)
    for line in verdicts_rows.by_report(asked.tables // verdicts_rows.STEPS):
        print(f"  {line}", flush=True)
    if asked.reports:
        return
    for title, lines in every.items():
        print(f"{title}, {asked.comparisons} comparisons each", flush=True)
        for text in lines(asked.comparisons):
            print(f"  {text}", flush=True)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="How often verdicts are wrong, and what they miss.")
    parser.add_argument("--comparisons", type=int, default=10_000)
    parser.add_argument("--tables", type=int, default=4800)
    parser.add_argument("--reports", action="store_true", help="the rows of reports alone")
    parser.add_argument("--real", action="store_true", help="measure db_bench")
    parser.add_argument("--arms", type=int, default=8, help="that are alike")
    parser.add_argument("--loads", type=int, default=LOADS)
    parser.add_argument("--seconds", type=int, default=4, help="of each step")
    parser.add_argument("--keep", type=Path, help="where it measures; what is there is not measured again")
    return parser.parse_args()


def judged(kind: made.Kind, comparisons: int) -> list[list[ArmEntry]]:
    """A list per table."""
    began, found, done = time.monotonic(), [], 0
    for each in made.experiments(kind, comparisons, SEED):
        found.append(list(_entries(each)))
        done += len(found[-1])
        if time.monotonic() - began > 10:
            began = time.monotonic()
            print(f"    {done} of {comparisons}", file=sys.stderr, flush=True)
    return found


def _entries(each: made.Made) -> Iterator[ArmEntry]:
    """As `report` does it, step by step."""
    section = StepPoints(made.STEP, each.axes, tuple(points(each.tables.runs, made.STEP, [made.AXIS])))
    evidence = RatioEvidence(each.tables.series, EFFECT, noise_floors(each.tables))
    unjudged = compare([section], {made.AXIS: "base"}, None, ComparedMetric())
    yield from (
        case.entry
        for comparison in judge(unjudged, evidence, each.axes, ratio_intervals(unjudged))
        for case in comparison.cases()
    )


def _equal(comparisons: int) -> Iterator[str]:
    """Equal, and as far apart as counts for equal: the hardest case."""
    for noise, apart in product(NOISES, (0.0, EFFECT)):
        tables = judged(made.Kind(noise, LOADS, math.log1p(apart)), comparisons)
        words = [[entry.verdict in (FASTER, SLOWER) for entry in table] for table in tables]
        every = [word for table in words for word in table]
        yield f"noise {noise:4.0%}, {apart:.0%} apart: called different  {Rate(sum(every), len(every))}"
        yield f"                   tables with such  {Rate(sum(map(any, words)), len(words))}"


def _different(comparisons: int) -> Iterator[str]:
    """Every arm is 5 % faster than the base."""
    for noise in NOISES:
        for loads in (3, LOADS, 10):
            tables = judged(made.Kind(noise, loads, math.log1p(DIFFERENCE)), comparisons)
            words = Counter(entry.verdict for table in tables for entry in table)
            yield f"noise {noise:4.0%}, {loads:2} loads: found  {Rate(words[FASTER], words.total())}"
            alone = Counter(table[0].verdict for table in tables if len(table) == 1)
            yield f"                 alone in its table  {Rate(alone[FASTER], alone.total())}"
            yield f"                 said to be the same or slower  {Rate(words[SAME] + words[SLOWER], words.total())}"


def _blocks(comparisons: int) -> Iterator[str]:
    """The host is faster in one block than in another: what arms have in common is in none of their ratios."""
    for apart, loads in product((0.0, 0.05), (3, LOADS)):
        kind = made.Kind(0.01, loads, math.log1p(DIFFERENCE), blocks=apart, own_loads=True)
        tables = judged(kind, comparisons)
        for size in (1, 1 + made.OTHERS):
            words = Counter(entry.verdict for table in tables for entry in table if len(table) == size)
            which = f"blocks {apart:.0%} apart, {loads} loads, {size} a table"
            yield f"{which}: 5 % found  {Rate(words[FASTER], words.total())}"
        equal = judged(kind._replace(shift=math.log1p(EFFECT)), comparisons)
        words = [any(entry.verdict in (FASTER, SLOWER) for entry in table) for table in equal]
        yield f"    2 % apart, tables with a difference  {Rate(sum(words), len(words))}"


def _single(comparisons: int) -> Iterator[str]:
    for seconds, dependence in ((60, 0.6), (60, 0.9), (600, 0.9)):
        kind = made.Kind(0.03, 1, series=True, same_load=True, seconds=seconds, dependence=dependence)
        held = _held(judged(kind, comparisons // (seconds // 60)))
        yield f"{seconds:3} s, seconds that depend by {dependence}: coverage of the seconds' own mean {held}"
    for noise in NOISES:
        tables = judged(made.Kind(noise, 1, series=True), comparisons)
        yield f"noise {noise:4.0%}: coverage of what another load may say {_held(tables)}"
        yield f"             called indicative, equal arms  {_share(tables, INDICATIVE)}"


def _held(tables: Sequence[Sequence[ArmEntry]]) -> Rate:
    found = [entry.interval for table in tables for entry in table if entry.interval]
    return Rate(sum(each.low <= 1 <= each.high for each in found), len(found))


def _share(tables: Sequence[Sequence[ArmEntry]], word: str) -> Rate:
    found = [entry.verdict == word for table in tables for entry in table]
    return Rate(sum(found), len(found))


def _real(asked: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="stepgrid-verdicts-") as name:
        folder = (asked.keep or Path(name)).resolve() / "checkout"
        real.measure(folder, asked.arms, asked.loads, asked.seconds)
        for text in real.told(list(real.verdicts(real.found(folder)))):
            print(text)


if __name__ == "__main__":
    main()
