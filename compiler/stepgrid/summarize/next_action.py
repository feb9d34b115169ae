"""The next action of a report: whether to change, what decides it, what measures more, and what repeats it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from stepgrid.model import units
from stepgrid.model.plan import BUILD, is_imported
from stepgrid.model.status import Status
from stepgrid.model.table import SAME as SAME_AS
from stepgrid.model.table import group
from stepgrid.model.units import counted
from stepgrid.package import __version__
from stepgrid.summarize import sentences
from stepgrid.summarize.arms import UNCOMPARED, Arm, arms, other_counts, outcomes
from stepgrid.summarize.comparisons.builds import AS_SHIPPED, ReportedBuild, quality_rows
from stepgrid.summarize.comparisons.comparison import RATIO
from stepgrid.summarize.comparisons.ladders import versions
from stepgrid.summarize.cost import cost_line, latency_line
from stepgrid.summarize.findings import FEWEST_CERTAIN
from stepgrid.summarize.report import Report
from stepgrid.summarize.setup import spec_words
from stepgrid.summarize.statistics import verdicts

MOST_SOURCES = MOST_ARMS = 3
SHORT = 10.0  # seconds; a step that takes less is noisier than a longer one
FLAGS = ("compiler", "optimization", "-march", "assertions")
_PACKAGE_VERSION = re.compile(r"(?<=\S) \d[^\s,]*(?=,|$)")


class _Tally(NamedTuple):
    """Count of the comparisons of an arm by their outcome."""

    arm: Arm
    better: int
    worse: int
    undecided: int
    points: int  # with those that it has no figures of
    remark: str  # what is not compared: 2 of 4 points unsupported

    @property
    def is_winner(self) -> bool:
        return bool(self.better) and not self.worse

    @property
    def is_everywhere(self) -> bool:
        return not self.undecided and self.points == len(self.arm.compared)

    @property
    def is_loser(self) -> bool:
        return 2 * self.worse > len(self.arm.compared)

    @property
    def is_sure(self) -> bool:
        """Tell whether the differences that are certain lead to the same decision by themselves."""
        sure = [case for case in self.arm.compared if not case.entry.perhaps]
        better, worse = (sum(case.word in words for case in sure) for words in (verdicts.GOOD, verdicts.BAD))
        certain = self._replace(better=better, worse=worse)
        return (certain.is_winner, certain.is_loser, bool(worse)) == (self.is_winner, self.is_loser, bool(self.worse))

    @property
    def rank(self) -> tuple[bool, bool, int, float]:
        """Sort by what is gained; of arms alike the one with the larger ratios."""
        gain = sum(case.distance for case in self.arm.compared if case.word in verdicts.GOOD)
        return bool(self.better), not self.worse, self.better - self.worse, gain


@lru_cache(1)
def decision(report: Report) -> str:
    """Say whether to change to an arm of the first comparison, and what decides it where the figures do not."""
    comparison = next(iter(report.comparisons.leading), None)
    tallies = [_tally(arm) for arm in arms(comparison) if arm.compared] if comparison else []
    if comparison is None or not tallies or comparison.metric.better is None:
        return ""
    tallies.sort(key=lambda tally: tally.rank, reverse=True)
    newest = _newest(tallies)
    best = newest if newest and not tallies[0].better else tallies[0]  # of a ladder: what one would upgrade to
    if report.notes.coverage.incomplete:
        return _open(report, sentences.incomplete(report).partition(": ")[2])
    if report.setup.loads[1] < FEWEST_CERTAIN:
        return _open(report, counted(report.setup.loads[1], "load"))
    if any(case.entry.refusal for case in best.arm.compared):
        return _open(report, "the arms may not be compared")
    if best.is_winner:
        return _change(report, tallies, newest)
    if best.better or (best is newest and best.is_loser):
        named = [best, newest] if newest and newest is not best else [best]
        action = f"stay with {comparison.base}" if newest and best.is_loser else "depends on the row"
        return _decided(report, f"{action}: {'; '.join(map(_outcome, named))}", named)
    if any(tally.undecided for tally in tallies):
        if all(2 * tally.worse >= len(tally.arm.compared) for tally in tallies):
            texts = units.first([*map(_outcome, tallies)], MOST_ARMS)
            text = f"stay with {comparison.base}: no other arm is shown to be better; {'; '.join(texts)}"
            return _decided(report, text, tallies)
        count, total = sum(tally.undecided for tally in tallies), sum(len(tally.arm.compared) for tally in tallies)
        return _open(report, f"{counted(total, 'comparison')}, {'all' if count == total > 1 else count} undecided")
    return _stay(report, tallies)


def _newest(tallies: Sequence[_Tally]) -> _Tally | None:
    """Return the last release of a ladder of two or more, unless it is the base."""
    comparison = tallies[0].arm.comparison
    order = versions([comparison.base, *comparison.arm_names]) if comparison.layout.across == (BUILD,) else ()
    return next((tally for tally in tallies if len(order) > 2 and tally.arm.name == order[-1]), None)


def _outcome(tally: _Tally) -> str:
    """Say where an arm is worse and better: `mysql-9.5.0 is slower in 21 of 28 steps, faster in 4 of 28 steps`."""
    return f"{tally.arm.name} is {', '.join(filter(None, (outcomes(tally.arm, *verdicts.DIFFERENCES), tally.remark)))}"


def _change(report: Report, tallies: Sequence[_Tally], newest: _Tally | None) -> str:
    """Name the arms that gain, lose nowhere and are not told apart; what is not decided is counted."""
    best = tallies[0]
    rivals = [tally for tally in tallies[1:] if tally.is_winner and not _is_above(best.arm, tally.arm)]
    winners = [best, *(tally for tally in rivals if tally.is_everywhere and best.is_everywhere)]
    names = [tally.arm.name for tally in winners]
    noted = [tally for tally in tallies if tally.arm.name not in names and (tally is newest or tally in rivals)]
    remark = "".join(f"; {text}" for text in units.first([*map(_outcome, noted)], MOST_ARMS))
    gains = [f"{tally.arm.name} is {_gain(tally)}" for tally in winners]
    if best.undecided:
        word, doubt = best.arm.of(*verdicts.GOOD)[0].word, "" if best.is_sure else "perhaps "
        return f"{doubt}take {best.arm.name} where it is {word}; elsewhere {_open(report, f'{gains[0]}{remark}')}"
    if not best.is_everywhere:
        return _decided(report, f"depends on the row: {gains[0]}{remark}", [best], noted)
    base = best.arm.comparison.base
    is_upgrade = best.arm.comparison.layout.across == (BUILD,) and versions([base, *names])[:1] == (base,)
    action = f"{'upgrade to' if is_upgrade else 'take'} {' or '.join(units.first(names, MOST_ARMS))}"
    is_alike = len(set(map(_gain, winners))) == 1
    gain = _gain(best) if is_alike else "; ".join(units.first(gains, MOST_ARMS))
    doubt = "; they are not told apart" if len(winners) > 1 else ""
    return _decided(report, f"{action}: {gain}{doubt}{remark}", winners, noted)


def _gain(tally: _Tally) -> str:
    """Say how much an arm gains that loses nothing: `faster at 2, the same at 2 of 4 points by QPS`."""
    gain, word = outcomes(tally.arm, *verdicts.GOOD), tally.arm.of(*verdicts.GOOD)[0].word
    if tally.points > len(tally.arm.compared):
        gain = f"{word} at {tally.better} of {counted(tally.points, 'point')}"
    elif tally.points == 1:
        gain = word
    return ", ".join(filter(None, (f"{gain} by {tally.arm.metric}", tally.remark)))


def _is_above(arm: Arm, other: Arm) -> bool:
    """Tell whether an arm is surely better than another, at all points where they are not both the base's equals."""
    is_lower = arm.comparison.metric.better == "lower"
    for case, rival in zip(arm.cases, other.cases, strict=True):
        if rival.entry.kind in UNCOMPARED or {case.entry.verdict, rival.entry.verdict} == {verdicts.SAME}:
            continue
        high, low = (case.entry.interval, rival.entry.interval)[:: -1 if is_lower else 1]
        if high is None or low is None or high.low <= low.high:
            return False
    return True


def _stay(report: Report, tallies: Sequence[_Tally]) -> str:
    """Say where arms of which none is better are worse, unless all are so everywhere."""
    text = f"stay with {tallies[0].arm.comparison.base}: "
    if all(tally.worse == tally.points for tally in tallies):
        return _decided(report, f"{text}every other arm is worse", tallies)
    texts = [_outcome(tally) for tally in tallies if tally.worse or tally.remark]
    return _decided(report, "; ".join((f"{text}no other arm is better", *units.first(texts, MOST_ARMS))), tallies)


def _decided(report: Report, text: str, tallies: Sequence[_Tally], noted: Sequence[_Tally] = ()) -> str:
    """Add what limits a decision about these arms, and the conditions of those that it notes beside."""
    cases = [case for tally in (*tallies, *noted) for case in tally.arm.compared]
    unsure = sum(case.entry.perhaps for tally in tallies for case in tally.arm.compared)
    conditions = [f"{counted(unsure, 'difference')} may be chance"] if unsure else []
    conditions += [AS_SHIPPED] if any(case.entry.as_shipped for case in cases) else []
    conditions += dict.fromkeys(tally.arm.unequal for tally in (*tallies, *noted) if tally.arm.unequal)
    conditions += [f"scale {report.setup.scale}"] if report.setup.scale else []
    remark = f" ({', '.join(conditions)})" if conditions else ""
    return f"{'' if all(tally.is_sure for tally in tallies) else 'perhaps '}{text}{remark}"


def _open(report: Report, reason: str) -> str:
    advice = next(iter(sentences.advice(report)), "")
    return f"not decided yet: {reason}. {advice}".rstrip()


def _tally(arm: Arm) -> _Tally:
    good, bad, same = arm.of(*verdicts.GOOD), arm.of(*verdicts.BAD), arm.of(verdicts.SAME)
    undecided = len(arm.compared) - len(good) - len(bad) - len(same)
    remark = other_counts(arm, [case.word for case in arm.cases if case.entry.kind in (SAME_AS, RATIO)])
    is_partial = any(case.entry.kind in {*Status} for case in arm.cases)
    points = len(arm.cases if is_partial else arm.compared)
    return _Tally(arm, len(good), len(bad), undecided, points, remark)


def more_command(report: Report) -> str:
    """Choose one: measure what is missing or more than one load, then what was disturbed, then more."""
    commands = [step.command for step in sentences.next_steps(report)]
    runs = [command for command in commands if " run " in command]
    if runs and (report.notes.coverage.incomplete or sentences.banner(report)):
        return runs[0]
    return next((command for command in commands if command.endswith("--disturbed")), next(iter(commands), ""))


def more_line(report: Report) -> str:
    """Write the command that measures more with what it gives, and what else would tell."""
    command, is_open = more_command(report), sentences.words(report) & {*verdicts.OPEN, verdicts.ONE_LOAD}
    whys = {step.command: step.why.partition("; ")[0] for step in sentences.next_steps(report)}
    if not command:
        return ""
    seconds = sentences.step_seconds(report)
    hint = f"steps longer than {max(seconds):.2g} s would tell more, too" if seconds and max(seconds) < SHORT else ""
    if sentences.words(report) and not is_open and not report.notes.coverage.incomplete:
        hint = "no verdict needs it"
    return "; ".join(filter(None, (f"`{command}`: {whys[command]}", hint)))


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
        f"{', '.join(names)} (to compare, name {'it' if len(names) == 1 else 'them'} in `report.base`)" if names else ""
    )


def builds_line(report: Report) -> str:
    """Name the builds with version, source, compiler and flags; those of one source and the same flags together."""
    builds_by_source = group(
        (_source(build, _PACKAGE_VERSION.sub("", build.origin)), build) for build in report.setup.builds.values()
    )
    texts = []
    for source, members in builds_by_source.items():
        names = units.first([build.versioned_name for build in members], MOST_SOURCES)
        texts.append(f"{', '.join(names)} ({_source(members[0], members[0].origin) if len(members) == 1 else source})")
    return "; ".join(units.first(texts, MOST_SOURCES))


def _source(build: ReportedBuild, origin: str) -> str:
    flags = [f"{name} {value}" for name, value in quality_rows(build.quality or {}) if name in FLAGS]
    return ", ".join([origin, *(text for text in flags if not text.endswith((" unknown", "compiler none")))])


def lines(report: Report) -> Iterator[tuple[str, str]]:
    """Yield what stands below the answer, by its name; commands stand in backquotes."""
    repeat = repeat_command(report)
    yield "decision", decision(report)
    yield "cost", cost_line(report)
    yield "latency", latency_line(report)
    yield "not compared", uncompared(report)
    yield "why", report.explanation.line(report)
    yield "measure more", more_line(report)
    means = f"with stepgrid {__version__}, the spec and its lock file, which `stepgrid lock` writes"
    yield "repeat", f"`{repeat}` {means}" if repeat else ""
    yield "builds", builds_line(report)
