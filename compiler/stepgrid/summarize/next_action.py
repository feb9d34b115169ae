"""The next action of a report: whether to change, what decides it, what measures more, and what repeats it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from stepgrid.model import units
from stepgrid.model.plan import BUILD, is_imported
from stepgrid.model.table import group
from stepgrid.model.units import counted
from stepgrid.summarize import sentences
from stepgrid.summarize.arms import Arm, arms, locate
from stepgrid.summarize.comparisons.builds import AS_SHIPPED, ReportedBuild, quality_rows
from stepgrid.summarize.comparisons.ladders import versions
from stepgrid.summarize.findings import FEWEST_CERTAIN
from stepgrid.summarize.report import Report
from stepgrid.summarize.setup import spec_words
from stepgrid.summarize.statistics import verdicts

MOST_SOURCES = 3
FLAGS = ("compiler", "optimization", "-march", "assertions")
_PACKAGE_VERSION = re.compile(r"(?<=\S) \d[^\s,]*(?=,|$)")


class _Tally(NamedTuple):
    """How many comparisons of an arm came out in which way."""

    arm: Arm
    better: int
    worse: int
    undecided: int

    @property
    def rank(self) -> tuple[bool, int, float]:
        """Sort by what is gained; of arms alike the one with the larger ratios."""
        gain = sum(case.distance for case in self.arm.compared if case.word in verdicts.GOOD)
        return not self.worse, self.better - self.worse, gain


@lru_cache(1)
def decision(report: Report) -> str:
    """Say whether to change to an arm of the first comparison, and what decides it where the figures do not."""
    comparison = next(iter(report.comparisons.leading), None)
    tallies = [_tally(arm) for arm in arms(comparison) if arm.compared] if comparison else []
    if comparison is None or not tallies or comparison.metric.better is None:
        return ""
    best = max(tallies, key=lambda tally: tally.rank)
    newest = _newest(tallies)
    if newest and not (best.better and not best.worse):
        best = newest  # of a ladder: it is what one would upgrade to
    if report.notes.coverage.incomplete:
        return _open(report, sentences.incomplete(report).partition(": ")[2])
    if report.setup.loads[1] < FEWEST_CERTAIN:
        return _open(report, counted(report.setup.loads[1], "load"))
    if any(case.entry.refusal for case in best.arm.compared):
        return _open(report, "the arms may not be compared")
    if best is newest and 2 * best.worse > len(best.arm.compared):
        return f"stay with {comparison.base}: {_outcome(best)}"
    if best.better and best.worse:
        return f"depends on the row: {_outcome(best)}"
    if best.better:
        remark = f"; {_outcome(newest)}" if newest and newest is not best else ""
        return _change(report, best, remark)
    if any(tally.undecided for tally in tallies):
        count, total = sum(tally.undecided for tally in tallies), sum(len(tally.arm.compared) for tally in tallies)
        return _open(report, f"{counted(total, 'comparison')}, {'all' if count == total > 1 else count} undecided")
    finding = "every other arm is worse" if all(tally.worse for tally in tallies) else "no other arm is better"
    return f"stay with {comparison.base}: {finding}"


def _newest(tallies: Sequence[_Tally]) -> _Tally | None:
    """Return the last release of a ladder of two or more, unless it is the base."""
    comparison = tallies[0].arm.comparison
    order = versions([comparison.base, *comparison.arm_names]) if comparison.layout.across == (BUILD,) else ()
    return next((tally for tally in tallies if len(order) > 2 and tally.arm.name == order[-1]), None)


def _outcome(tally: _Tally) -> str:
    """Say where an arm is worse and better: `mysql-9.5.0 is slower in 21 of 28 steps, faster in 4 of 28 steps`."""
    groups = sorted((tally.arm.of(*verdicts.BAD), tally.arm.of(*verdicts.GOOD)), key=len, reverse=True)
    texts = [f"{cases[0].word} {locate(cases, tally.arm)}" for cases in groups if cases]
    if not texts:
        return f"{tally.arm.name} {'is not decided' if tally.undecided else 'shows no difference'}"
    return f"{tally.arm.name} is {', '.join(texts)}"


def _change(report: Report, best: _Tally, newest: str) -> str:
    """Name the arm that gains and loses nowhere; what is not decided is counted."""
    base = best.arm.comparison.base
    is_upgrade = best.arm.comparison.layout.across == (BUILD,) and versions([base, best.arm.name])[:1] == (base,)
    action = f"upgrade to {best.arm.name}" if is_upgrade else f"take {best.arm.name}"
    cases = best.arm.of(*verdicts.GOOD)
    count = "all" if len(cases) == len(best.arm.compared) > 1 else f"{len(cases)} of"
    gain = f"{cases[0].word} at {count} {counted(len(best.arm.compared), 'point')}, worse at none"
    if best.undecided:
        return _open(report, f"{best.arm.name} is {gain}, {best.undecided} undecided{newest}")
    perhaps = "perhaps " if any(case.entry.perhaps for case in cases) else ""
    conditions = [AS_SHIPPED] if any(case.entry.as_shipped for case in cases) else []
    conditions += [f"scale {report.setup.scale}"] if report.setup.scale else []
    remark = f" ({', '.join(conditions)})" if conditions else ""
    return f"{perhaps}{action}: {gain}{remark}{newest}"


def _open(report: Report, reason: str) -> str:
    advice = next(iter(sentences.advice(report)), "")
    return f"not decided yet: {reason}. {advice}".rstrip()


def _tally(arm: Arm) -> _Tally:
    good, bad = arm.of(*verdicts.GOOD), arm.of(*verdicts.BAD)
    return _Tally(arm, len(good), len(bad), len(arm.compared) - len(good) - len(bad) - len(arm.of(verdicts.SAME)))


def more_command(report: Report) -> str:
    """Choose one: measure what is missing or more than one load, then what was disturbed, then more."""
    commands = [step.command for step in sentences.next_steps(report)]
    runs = [command for command in commands if " run " in command]
    if runs and (report.notes.coverage.incomplete or sentences.banner(report)):
        return runs[0]
    return next((command for command in commands if command.endswith("--disturbed")), next(iter(commands), ""))


def repeat_command(report: Report) -> str:
    """Return what measures it all on another host; figures of other tools have none."""
    is_own = report.setup.plan and not is_imported(report.setup.spec)
    return f"stepgrid run {spec_words(report.setup)}" if is_own else ""


def uncompared(report: Report) -> str:
    """Name the axes that have no base: their values are rows, not arms."""
    axes = [axis.name for axis in report.setup.axes if len(axis.labels) > 1]
    across = {name for comparison in report.comparisons.leading for name in comparison.layout.across}
    names = [name for name in axes if name not in across]
    return (
        f"{', '.join(names)}: not compared; name {'it' if len(names) == 1 else 'them'} in `report.base`"
        if names
        else ""
    )


def builds_line(report: Report) -> str:
    """Name the builds with version, source, compiler and flags; those of one source and the same flags together."""
    builds_by_source = group(
        (_source(build, _PACKAGE_VERSION.sub("", build.origin)), build) for build in report.setup.builds.values()
    )
    texts = []
    for source, members in builds_by_source.items():
        names = units.first([_versioned_name(build) for build in members], MOST_SOURCES)
        texts.append(f"{', '.join(names)} ({_source(members[0], members[0].origin) if len(members) == 1 else source})")
    return "; ".join(units.first(texts, MOST_SOURCES))


def _versioned_name(build: ReportedBuild) -> str:
    version = build.version or ""
    return build.title if version in (*build.title.split("-"), "unknown") else f"{build.title} {version}".rstrip()


def _source(build: ReportedBuild, origin: str) -> str:
    flags = [f"{name} {value}" for name, value in quality_rows(build.quality or {}) if name in FLAGS]
    return ", ".join([origin, *(text for text in flags if not text.endswith(" unknown"))])


def lines(report: Report) -> Iterator[tuple[str, str]]:
    """Yield what stands below the answer, by its name; commands stand in backquotes."""
    command, repeat = more_command(report), repeat_command(report)
    yield "decision", decision(report)
    yield "not compared", uncompared(report)
    yield "why", sentences.reason_line(report)
    yield "measure more", f"`{command}`" if command else ""
    yield "repeat", f"`{repeat}` with its spec and lock file" if repeat else ""
    yield "builds", builds_line(report)
