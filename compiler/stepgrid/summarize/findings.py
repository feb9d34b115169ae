"""Answers of a report: for each arm and base what the comparisons came to, in a headline, a detail and a note.

Page, text, terminal, Markdown, GitHub summary and site show the same ones.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct

from stepgrid.model import units
from stepgrid.model.plan import BUILD
from stepgrid.model.records import replace
from stepgrid.model.status import Status
from stepgrid.model.table import ABSENT, group
from stepgrid.model.table import SAME as SAME_AS
from stepgrid.model.units import counted, percent
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.builds import AS_SHIPPED, NO_VERDICT
from stepgrid.summarize.comparisons.comparison import (
    NO_BASE,
    RATIO,
    ArmEntry,
    ComparedMetric,
    ComparedPoint,
    Comparison,
    PooledRatio,
    ratio_text,
)
from stepgrid.summarize.comparisons.comparison_axes import Labels
from stepgrid.summarize.comparisons.conditions import OTHER_DURABILITY
from stepgrid.summarize.comparisons.judgement import BESIDE, OF_THE_BASE
from stepgrid.summarize.comparisons.ladders import versions
from stepgrid.summarize.report import Report
from stepgrid.summarize.statistics import verdicts
from stepgrid.summarize.statistics.verdicts import BUSY, DIFFERENCES, DIFFERENT, FASTER, SAME, SLOWER, UNDECIDED
from stepgrid.summarize.why import DASH

BOTH, NONE = "both", "none"
IDLE = "without work in a load"
CERTAIN, PERHAPS = "certain", "perhaps"  # among all comparisons of the report; in its table alone
FEWEST_CERTAIN = 3  # loads
MOST_BESIDE = 3  # points of a metric beside QPS
FEWEST_TALLIED = 4  # comparisons; fewer are read one by one
BUILD_NOUNS = "builds", "releases"  # the second where all are versions of one thing
DOT = " · "
SHARE_BELOW = 0.5  # a smaller ratio is a share of the base: 7 % of the QPS
_KINDS = {**dict.fromkeys(verdicts.GOOD, FASTER), **dict.fromkeys(verdicts.BAD, SLOWER)}
_BUILD_DIFFERENCES = {  # by the first word of what differs
    "suite": "packages of different Debian suites",
    "compiler": "different compilers",
    "made": "made in different ways",
    "-march": "compiled for different processors",
    "checksum": "different programs",
}
_UNCOMPARED = (ABSENT, NO_BASE, SAME_AS, Status.DONE)


class Finding(Struct, frozen=True):
    """Answer for one arm and its base, by one metric."""

    arm: str
    base: str
    headline: str  # cache=half: 7-11 % of the QPS
    detail: str  # of cache=all, in readww, in all 3 releases
    note: str  # slower, certain · largest drop 6.11.4: 0.07× [0.07, 0.07]
    kind: str  # FASTER, SLOWER, BOTH or NONE
    weight: tuple[bool, float]  # certain differences come before large ones

    @property
    def text(self) -> str:
        note = f" ({self.note})" if self.note else ""
        return f"{self.headline} {self.detail}".rstrip() + note


@lru_cache(1)  # page, text and brief have the same
def findings(report: Report) -> list[Finding]:
    """List the answers by the leading metric: those about the first axis of the base first, of each the heaviest."""
    return [*_tally(report), *_findings(report, report.comparisons.leading)]


def findings_by_metric(report: Report) -> dict[ComparedMetric, list[Finding]]:
    """List the answers by each metric, the leading one first."""
    by_metric = group((comparison.metric, comparison) for comparison in report.comparisons.all)
    return {metric: _findings(report, comparisons) for metric, comparisons in by_metric.items()}


def _findings(report: Report, comparisons: Sequence[Comparison]) -> list[Finding]:
    answers: list[Finding] = []
    for number, comparison in enumerate(comparisons):
        comparison_arms = arms(comparison)
        if number and comparison.layout.across == (BUILD,) != comparisons[0].layout.across:
            comparison_answers = [_builds_finding(comparison_arms)]
        else:
            comparison_answers = [
                _arm_finding(replace(arm, supporting=tuple(_supporting_texts(arm, report))), report.setup.effect)
                for arm in comparison_arms
            ]
        answers += sorted(filter(None, comparison_answers), key=lambda finding: finding.weight, reverse=True)
    return answers


def _tally(report: Report) -> Iterator[Finding]:
    """Count the comparisons of builds in which surely nothing became slower, for a report that is about builds."""
    comparisons = [comparison for comparison in report.comparisons.leading if comparison.layout.across == (BUILD,)]
    cases = [case for comparison in comparisons for arm in arms(comparison) for case in arm.compared]
    metric, effect = report.setup.metric, report.setup.effect
    if BUILD not in report.setup.base or metric.better is None or len(cases) < FEWEST_TALLIED:
        return
    worse, better = sorted(metric.verdicts, key=_KINDS.__getitem__, reverse=True)
    sound = [case for case in cases if case.word in (better, SAME) or _is_surely_no_worse(case, metric, effect)]
    failing = [case for case in cases if case.word == worse]
    if not sound:
        return
    amount = f"all {len(cases)}" if len(sound) == len(cases) else f"{len(sound)} of {len(cases)}"
    steps = ", ".join(dict.fromkeys(case.row.step for case in failing))
    undecided = len(cases) - len(sound) - len(failing)
    remainder = [
        f"{worse} in {len(failing)}: {steps}" if failing else "",
        f"undecided in {undecided}" if undecided else "",
    ]
    headline = f"nothing {worse} by more than {percent(effect)} in {amount} comparisons{';' if any(remainder) else ''}"
    detail = "; ".join(filter(None, remainder))
    yield Finding("builds", "", headline, detail, "", SLOWER if failing else NONE, (True, 0.0))


def _is_surely_no_worse(case: ArmCase, metric: ComparedMetric, effect: float) -> bool:
    """Tell it by the end of an interval that has no verdict, unless equal arms come out as far apart."""
    interval, floor = case.entry.interval, case.entry.floor
    if case.word not in (DIFFERENT, UNDECIDED) or case.entry.idle or interval is None or (floor or 0) > effect:
        return False
    return interval.low >= 1 / (1 + effect) if metric.better == "higher" else interval.high <= 1 + effect


def _supporting_texts(arm: Arm, report: Report) -> Iterator[str]:
    """Yield `CPU per operation 1.15× [1.11, 1.19] worse` for the points that a busy host left undecided."""
    points = {(case.row.step, case.row.labels) for case in arm.of(BUSY)}
    for comparison in report.comparisons.supporting if points else ():
        name = BESIDE[comparison.metric.name]
        for other in arms(comparison):
            cases = [case for case in other.compared if (case.row.step, case.row.labels) in points]
            decided = [case for case in cases if case.word in (*DIFFERENCES, SAME)]
            if other.labels == arm.labels and comparison.layout.base == arm.comparison.layout.base and decided:
                texts = [
                    f"{case.entry.text} {_at([case], arm)}" if len(points) > 1 else case.entry.text for case in decided
                ]
                yield f"{name} {'; '.join(units.first(texts, MOST_BESIDE))}"


# An arm and its comparisons


class ArmCase(NamedTuple):
    row: ComparedPoint
    entry: ArmEntry

    @property
    def word(self) -> str:
        if self.entry.kind == SAME_AS and self.entry.same:
            return f"the same run as {self.entry.same}"
        if self.entry.kind != RATIO:
            return self.entry.kind
        if self.entry.idle and self.entry.verdict == UNDECIDED:
            return IDLE
        if self.entry.refusal or self.entry.verdict is None:
            return NO_VERDICT
        return verdicts.ONE_LOAD if self.entry.verdict == verdicts.INDICATIVE else self.entry.verdict

    @property
    def ratio(self) -> float:
        return self.entry.ratio or 1.0

    @property
    def distance(self) -> float:
        return math.inf if self.entry.idle else self.entry.distance

    @property
    def text(self) -> str:
        return ratio_text(self.ratio, self.entry.interval, units.TIMES)


class Arm(Struct, frozen=True):
    comparison: Comparison
    labels: Labels
    cases: tuple[ArmCase, ...]
    supporting: tuple[str, ...] = ()  # what a busy host can still tell

    @property
    def name(self) -> str:
        return self.comparison.arm_name(self.labels)

    @property
    def metric(self) -> str:
        return self.comparison.metric.title

    @property
    def compared(self) -> list[ArmCase]:
        return [case for case in self.cases if case.entry.kind == RATIO]

    @property
    def steps(self) -> list[str]:
        return list(dict.fromkeys(case.row.step for case in self.compared or self.cases))

    def of(self, *words: str) -> list[ArmCase]:
        return [case for case in self.compared if case.word in words]

    @property
    def unequal(self) -> str:
        """Return in which way arms that the spec compares all the same write with unequal durability."""
        doubts = (doubt for case in self.compared for doubt in case.entry.doubts)
        return next((doubt for doubt in doubts if doubt.startswith(OTHER_DURABILITY)), "")

    @property
    def pooled(self) -> PooledRatio | None:
        """Return the ratio over all points, where they are of one step."""
        if len(self.steps) != 1 or len(self.labels) != 1:
            return None
        return next((ratio for ratio in self.comparison.pooled_of(self.steps[0]) if ratio.label in self.labels), None)


def arms(comparison: Comparison) -> list[Arm]:
    columns = list(zip(*(row.entries for row in comparison.rows), strict=True))
    return [
        Arm(comparison, labels, tuple(map(ArmCase, comparison.rows, entries)))
        for labels, entries in list(zip(comparison.arms, columns, strict=True))[1:]
    ]


class _Words(NamedTuple):
    headline: str
    detail: str
    notes: Sequence[str]
    kind: str = NONE


def _arm_finding(arm: Arm, effect: float) -> Finding | None:
    if all(case.word in _UNCOMPARED for case in arm.cases):
        return None
    pooled, certain = arm.pooled, arm.of(*DIFFERENCES)
    is_partial = len(certain) < len(arm.compared)
    if pooled and is_partial and pooled.verdict in DIFFERENCES and not arm.of(BUSY):
        words = _pooled_difference(arm, pooled)
    elif zeros := [case for case in certain if case.entry.idle]:
        words = _zero(arm, zeros)
    elif certain:
        words = _difference(arm, certain)
    elif arm.of(SAME, DIFFERENT, UNDECIDED):
        words = _no_difference(arm, effect)
    elif busy := arm.of(BUSY):
        words = _busy(arm, busy)
    else:
        words = _no_verdict(arm)
    unequal = f", {OTHER_DURABILITY}" if arm.unequal else ""
    headline, note = f"{arm.name}{unequal}: {words.headline}", DOT.join(filter(None, (*words.notes, *_conditions(arm))))
    is_certain = bool(arm.of(*DIFFERENCES, IDLE)) or words.kind != NONE
    weight = is_certain, max((case.distance for case in arm.compared), default=0)
    return Finding(arm.name, arm.comparison.base, headline, words.detail, note, words.kind, weight)


def _difference(arm: Arm, certain: Sequence[ArmCase]) -> _Words:
    by_word = {word: arm.of(word) for word in dict.fromkeys(case.word for case in certain)}
    over_all = f"over all points {_pooled_text(arm.pooled)}" if arm.pooled else ""
    counts = _counts(arm, DIFFERENCES)
    if len(by_word) > 1:
        points = ", ".join(f"{word} {_at(cases, arm)}" for word, cases in by_word.items())
        extremes = [_extreme(cases, arm) for cases in by_word.values()]
        detail = f"of {arm.comparison.base}{_in_step(arm)}: {points}"
        return _Words(_amount(certain, arm), detail, [over_all, *extremes, counts], BOTH)
    word = certain[0].word
    sureness = _sureness(certain, arm)
    notes = [f"{sureness}: {certain[0].text}"] if len(certain) == 1 else [sureness, _extreme(certain, arm)]
    detail = f"of {_base_and_place(certain, arm)}"
    return _Words(_amount(certain, arm), detail, [*notes, over_all, counts], _KINDS.get(word, NONE))


def _pooled_difference(arm: Arm, pooled: PooledRatio) -> _Words:
    """Answer with the ratio over all points; points that are sure by themselves stand behind it."""
    verdict = pooled.verdict or ""
    words = dict.fromkeys(case.word for case in arm.of(*DIFFERENCES))
    alone = f"by itself {verdict} {_at(arm.of(verdict), arm)}" if verdict in words else "no single point is certain"
    dissenting = [f"{word} {_at(arm.of(word), arm)}" for word in words if word != verdict]
    notes = [f"{verdict}, {_certainty(pooled)}: {_pooled_text(pooled)}", alone, *dissenting, _counts(arm, DIFFERENCES)]
    detail = f"of {arm.comparison.base}{_in_step(arm)}, over {_all_points(arm)}"
    headline = f"{_span([pooled.ratio])} the {arm.metric}"
    return _Words(headline, detail, notes, BOTH if dissenting else _KINDS.get(verdict, NONE))


def _sureness(cases: Sequence[ArmCase], arm: Arm) -> str:
    """Write `slower, certain`, or where cases of one verdict differ in that: `certain in both steps, perhaps in …`."""
    groups = group((_certainty(case.entry), case) for case in cases)
    if len(groups) == 1:
        return f"{cases[0].word}, {next(iter(groups))}"
    return f"{cases[0].word}, {', '.join(f'{name} {_at(members, arm)}' for name, members in groups.items())}"


def _certainty(source: ArmEntry | PooledRatio) -> str:
    """Write how sure a difference is: two loads are called what they are."""
    if source.interval and source.interval.loads < FEWEST_CERTAIN:
        return counted(source.interval.loads, "load")
    return PERHAPS if source.perhaps else CERTAIN


def _zero(arm: Arm, cases: Sequence[ArmCase]) -> _Words:
    """Answer where one side has 0 in all loads and the other in none."""
    is_base = (cases[0].entry.idle or "").startswith(OF_THE_BASE)
    point = cases[0].row.entries[0].point if is_base else cases[0].entry.point
    loads = counted(point.loads[0], "load") if point else "loads"
    whose = " of the base" if is_base else ""
    notes = [f"{cases[0].word}, {CERTAIN}", _counts(arm, [case.word for case in cases])]
    detail = f"against {_base_and_place(cases, arm)}"
    return _Words(f"{arm.metric}{whose} is 0 in all {loads}", detail, notes, _KINDS.get(cases[0].word, NONE))


def _busy(arm: Arm, cases: Sequence[ArmCase]) -> _Words:
    """Say that others' load decides nothing, and what it leaves to be told."""
    ratios = f"{_span([case.ratio for case in cases]).removesuffix(' of')} came out"
    detail = f"against {_base_and_place(cases, arm)}: {ratios}"
    return _Words(f"{arm.metric} {BUSY}", detail, [*arm.supporting, _counts(arm, (BUSY,))])


def _no_difference(arm: Arm, effect: float) -> _Words:
    same, different, undecided = arm.of(SAME), arm.of(DIFFERENT), arm.of(UNDECIDED)
    pooled, within = arm.pooled, f"within {percent(effect)}"
    over_all = f"over all points {_pooled_text(pooled)}, {pooled.verdict}" if pooled else ""
    if different:
        ratio = different[0].text if len(different) == 1 else _extreme(different, arm)
        notes = [f"differs, perhaps by less than the {percent(effect)} that count", ratio, over_all]
        detail = f"of {_base_and_place(different, arm)}"
        return _Words(_amount(different, arm), detail, [*notes, _counts(arm, (DIFFERENT,))])
    if not undecided:
        return _Words(f"the same {arm.metric}", f"as {_base_and_place(same, arm)}", [within, _counts(arm, (SAME,))])
    if pooled and pooled.verdict == SAME:
        detail = f"as {arm.comparison.base}{_in_step(arm)}, over {_all_points(arm)}"
        return _Words(f"the same {arm.metric}", detail, [f"{within}: {_pooled_text(pooled)}"])
    detail = f"against {_base_and_place(undecided, arm)}: {_possible(undecided)}"
    notes = [f"the same {within} {_at(same, arm)}" if same else "", over_all, _counts(arm, (SAME, UNDECIDED))]
    return _Words("undecided", detail, notes)


def _no_verdict(arm: Arm) -> _Words:
    if cases := arm.of(verdicts.ONE_LOAD):
        indicative = sum(case.entry.verdict == verdicts.INDICATIVE for case in cases)
        hint = f"their seconds differ at {counted(indicative, 'point')}" if indicative else ""
        notes = ["one load: no verdict", hint, _counts(arm, (verdicts.ONE_LOAD,))]
        return _Words(_amount(cases, arm), f"of {_base_and_place(cases, arm)}", notes)
    if cases := arm.of(IDLE):
        arm_cases = [case for case in cases if not (case.entry.idle or "").startswith(OF_THE_BASE)]
        headline = f"{arm.metric} is 0 in a load" if arm_cases else f"{arm.metric} of the base is 0 in a load"
        detail, idle = f"against {_base_and_place(arm_cases or cases, arm)}", (arm_cases or cases)[0].entry.idle or ""
        return _Words(headline, detail, [idle, _counts(arm, (IDLE,))])
    if cases := arm.of(NO_VERDICT):
        notes = [cases[0].entry.refusal or "", _counts(arm, (NO_VERDICT,))]
        return _Words(f"{_amount(cases, arm)}, no verdict", f"against {_base_and_place(cases, arm)}", notes)
    words = {case.word for case in arm.cases if case.word not in _UNCOMPARED}
    if len(words) == 1 and any(case.entry.same for case in arm.cases):
        return _Words(words.pop(), "", [])
    return _Words("no figures", f"to compare with {arm.comparison.base}", [_counts(arm, ())])


def _builds_finding(build_arms: Sequence[Arm]) -> Finding | None:
    """Answer for all builds in one, beside the comparison that the spec asks for."""
    cases = [case for arm in build_arms for case in arm.compared if case.entry.ratio]
    if not cases:
        return None
    base = build_arms[0].comparison.base
    noun = BUILD_NOUNS[bool(versions([base, *(arm.name for arm in build_arms)]))]
    shipped = next((case.entry.as_shipped for case in cases if case.entry.as_shipped), None)
    notes = []
    for arm in build_arms:
        words = dict.fromkeys(case.word for case in arm.compared)
        notes.append(f"{short_build(arm.name)} {', '.join(f'{word} {_at(arm.of(word), arm)}' for word in words)}")
    kinds = {_KINDS.get(case.word, NONE) for case in cases}
    return Finding(
        noun,
        base,
        f"{noun}{f', {AS_SHIPPED}' if shipped else ''}: {_span([case.ratio for case in cases])}",
        f"the {build_arms[0].metric} of {base}{f'; {_build_difference(shipped)}' if shipped else ''}",
        DOT.join(notes),
        BOTH if kinds >= {FASTER, SLOWER} else kinds.pop() if len(kinds) == 1 else NONE,
        (kinds != {NONE}, max(case.distance for case in cases)),
    )


# Parts of an answer


def _amount(cases: Sequence[ArmCase], arm: Arm) -> str:
    return f"{_span([case.ratio for case in cases])} the {arm.metric}"


def _span(ratios: Sequence[float]) -> str:
    """Write 1.10-1.14×, or 7-11 % of."""
    low, high = min(ratios), max(ratios)
    if high < SHARE_BELOW:
        ends = (f"{100 * end:.0f}" if end >= 0.01 else f"{100 * end:.2g}" for end in (low, high))
        return f"{DASH.join(dict.fromkeys(ends))} % of"
    ends = (units.times(end).removesuffix(units.TIMES) for end in (low, high))
    return f"{DASH.join(dict.fromkeys(ends))}{units.TIMES}"


def _base_and_place(cases: Sequence[ArmCase], arm: Arm) -> str:
    is_only = len(arm.compared) == 1 and len(arm.steps) == 1 and not arm.comparison.point_name(cases[0].row)
    return f"{arm.comparison.base}{_in_step(arm)}{'' if is_only else f', {_at(cases, arm)}'}"


def _in_step(arm: Arm) -> str:
    return f", in {arm.steps[0]}" if len(arm.steps) == 1 else ""


def _at(cases: Sequence[ArmCase], arm: Arm) -> str:
    """Write where some of the comparisons of an arm are: in all 3 releases, at threads=2, at 5 of 24 points."""
    if len(cases) == 1:
        point = arm.comparison.point_name(cases[0].row)
        if len(arm.steps) > 1:
            return f"in {arm.comparison.where(cases[0].row)}"
        return f"in {short_build(point)}" if _down(arm) == [BUILD] else f"at {point}" if point else f"in {arm.steps[0]}"
    preposition, noun = _point_noun(arm)
    if len(cases) == len(arm.compared):
        return f"{preposition} {_all_points(arm)}"
    if shared := _shared_place(cases, arm):
        return shared
    return f"{preposition} {len(cases)} of {len(arm.compared)} {noun}"


def _shared_place(cases: Sequence[ArmCase], arm: Arm) -> str:
    """Name the step or label that these comparisons of an arm have and no other: in readww, at cached=all."""
    chosen = set(map(id, cases))
    for position, name in enumerate(("step", *arm.comparison.layout.down)):
        labels = [(case.row.step, *case.row.labels)[position] for case in arm.compared]
        shared = {label for label, case in zip(labels, arm.compared, strict=True) if id(case) in chosen}
        if len(shared) == 1 and sum(label in shared for label in labels) == len(cases):
            return f"at {comparison_axes.words(tuple(shared), (name,))}" if position else f"in {shared.pop()}"
    return ""


def _all_points(arm: Arm) -> str:
    """Name all comparisons of an arm: all 3 releases, both steps, all 12 points of 6 steps."""
    _, noun = _point_noun(arm)
    count = "both" if len(arm.compared) == 2 else f"all {len(arm.compared)}"
    return f"{count} {noun}{f' of {len(arm.steps)} steps' if noun == 'points' and len(arm.steps) > 1 else ''}"


def _point_noun(arm: Arm) -> tuple[str, str]:
    """Name what the comparisons of an arm differ in, with its preposition."""
    names = _down(arm)
    if len(arm.steps) > 1:
        return ("in", "steps") if len(arm.steps) == len(arm.compared) else ("at", "points")
    if names == [BUILD]:
        position = arm.comparison.layout.down.index(BUILD)
        labels = [str(case.row.labels[position]) for case in arm.compared]
        return "in", BUILD_NOUNS[bool(versions(labels))]
    return "at", f"values of {names[0]}" if len(names) == 1 else "points"


def _down(arm: Arm) -> list[str]:
    """List the axes in which the comparisons of an arm differ."""
    columns = zip(*(case.row.labels for case in arm.compared), strict=True)
    names = zip(arm.comparison.layout.down, columns, strict=False)
    return [name for name, labels in names if len(set(labels) - {None}) > 1]


def short_build(name: str) -> str:
    """Drop the name of the engine from a release: 7.8.3."""
    return name.rpartition("-")[2] if versions([name]) else name


def _extreme(cases: Sequence[ArmCase], arm: Arm) -> str:
    farthest = max(cases, key=lambda case: case.distance)
    point = _at([farthest], arm).partition(" ")[2]
    return f"largest {'drop' if farthest.ratio < 1 else 'rise'} {point}: {farthest.text}"


def _pooled_text(pooled: PooledRatio) -> str:
    return ratio_text(pooled.ratio, pooled.interval, units.TIMES)


def _possible(cases: Sequence[ArmCase]) -> str:
    intervals = [case.entry.interval for case in cases if case.entry.interval]
    low = min((interval.low for interval in intervals), default=0.0)
    high = max((interval.high for interval in intervals), default=math.inf)
    if low <= 0 or high / low > units.WIDEST:
        return "any ratio is possible"
    form = units.telling(low, high)
    return f"{form(low)}{DASH}{form(high)}{units.TIMES} is possible"


def _counts(arm: Arm, words: Sequence[str]) -> str:
    """Count the other outcomes: 2 undecided, 1 of 5 points failed."""
    counts = Counter(case.word for case in arm.cases if case.word not in (*words, *_UNCOMPARED))
    points = f" of {counted(len(arm.cases), 'point')}"
    return ", ".join(f"{count}{points if word in {*Status} else ''} {word}" for word, count in counts.items())


def _conditions(arm: Arm) -> Iterator[str]:
    """Yield as shipped, durability, lost loads, and how many differences have a condition of their own."""
    if shipped := next((case.entry.as_shipped for case in arm.compared if case.entry.as_shipped), None):
        yield f"{AS_SHIPPED}: {_build_difference(shipped)}"
    yield arm.unequal
    yield next((case.entry.losses for case in arm.compared if case.entry.losses), "")
    if doubted := sum(bool(case.entry.doubts) for case in arm.of(*DIFFERENCES)):
        yield f"{counted(doubted, 'ratio')} with a doubt of {'its' if doubted == 1 else 'their'} own (†)"


def _build_difference(text: str) -> str:
    """Say in half a sentence what differs: the first of `…: suite bullseye / bookworm; compiler …`."""
    first = text.partition(": ")[2].partition("; ")[0]
    return _BUILD_DIFFERENCES.get(first.split(" ")[0], first)
