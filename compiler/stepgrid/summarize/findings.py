"""Answers of a report: for each arm and base what the comparisons came to, in a headline, a detail and a note.

Page, text, terminal, Markdown, GitHub summary and site show the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from statistics import fmean, median
from typing import NamedTuple

from msgspec import Struct

from stepgrid.collect.series import NOT_STEADY
from stepgrid.model import units
from stepgrid.model.metrics import QPS, STEADY_QPS
from stepgrid.model.plan import BUILD
from stepgrid.model.records import replace
from stepgrid.model.table import group
from stepgrid.model.units import DASH, counted, percent
from stepgrid.summarize.arms import (
    BUILD_NOUNS,
    IDLE,
    UNCOMPARED,
    Arm,
    ArmCase,
    all_points,
    arms,
    base_and_place,
    in_step,
    locate,
    other_counts,
    outcomes,
    short_build,
)
from stepgrid.summarize.comparisons.builds import AS_SHIPPED, NO_VERDICT
from stepgrid.summarize.comparisons.comparison import (
    ArmEntry,
    ComparedMetric,
    Comparison,
    PooledRatio,
    ratio_text,
)
from stepgrid.summarize.comparisons.conditions import OTHER_DURABILITY
from stepgrid.summarize.comparisons.judgement import BESIDE, OF_THE_BASE
from stepgrid.summarize.comparisons.ladders import versions
from stepgrid.summarize.report import Report
from stepgrid.summarize.statistics import verdicts
from stepgrid.summarize.statistics.verdicts import BUSY, DIFFERENCES, DIFFERENT, FASTER, SAME, SLOWER, UNDECIDED

BOTH, NONE = "both", "none"
CERTAIN, PERHAPS = "certain", "perhaps"  # among all comparisons of the report; in its table alone
FEWEST_CERTAIN = 3  # loads
MOST_BESIDE = 3  # points of a metric beside QPS
FEWEST_TALLIED = 4  # comparisons; fewer are read one by one
DOT = " · "
SHARE_BELOW = 0.5  # a smaller ratio is a share of the base: 7 % of the QPS
ACROSS = 1.02  # ends of a range on both sides of 1, beyond which they are named
MOST_PARTS = 4  # labels that a headline tells apart
WIDEST = 2.0  # ends of a range that is an answer; of one farther apart the median and both ends are named
_KINDS = {**dict.fromkeys(verdicts.GOOD, FASTER), **dict.fromkeys(verdicts.BAD, SLOWER)}
_BUILD_DIFFERENCES = {  # by the first word of what differs
    "suite": "packages of different Debian suites",
    "compiler": "different compilers",
    "made": "made in different ways",
    "-march": "compiled for different processors",
    "checksum": "different programs",
}


class Finding(Struct, frozen=True):
    """Answer for one arm and its base, by one metric."""

    arm: str
    base: str
    headline: str  # cache=half: 7-11 % of the QPS
    detail: str  # of cache=all, in readww, in all 3 releases
    kind: str  # FASTER, SLOWER, BOTH or NONE
    weight: tuple[bool, float]  # certain differences come before large ones
    qualifier: str = ""  # slower, certain · 2 of 5 loads
    evidence: str = ""  # largest drop 6.11.4: 0.07× [0.07, 0.07]
    metric: str = ""

    @property
    def sentence(self) -> str:
        """Write the answer and what qualifies it, which stand nowhere without each other."""
        return " ".join(filter(None, (self.headline, self.detail, self.qualifier and f"({self.qualifier})")))

    @property
    def note(self) -> str:
        return DOT.join(filter(None, (self.qualifier, self.evidence)))

    @property
    def text(self) -> str:
        return " ".join(filter(None, (self.headline, self.detail, self.note and f"({self.note})")))


@lru_cache(1)  # page, text and brief have the same
def findings(report: Report) -> list[Finding]:
    """List the answers by the leading metric: those about the first axis of the base first, of each the heaviest."""
    leading, limits = report.comparisons.leading, report.comparisons.limits
    return [*_tally(report), *_findings(report, leading), *never_steady(report), *_findings(report, limits)]


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
        present = [replace(answer, metric=comparison.metric.name) for answer in comparison_answers if answer]
        answers += sorted(present, key=lambda finding: finding.weight, reverse=True)
    return answers


def never_steady(report: Report) -> Iterator[Finding]:
    """Name the arms that have no place in the leading answers, because none of their runs became steady."""
    for arm, cases in never_steady_arms(report):
        detail, reason = f"against {base_and_place(cases, arm)}", str(cases[0].entry.refusal)
        name, weight = f"{arm.name}: no verdict", (False, 0.0)
        yield Finding(arm.name, arm.comparison.base, name, detail, NONE, weight, reason, metric=STEADY_QPS)


def never_steady_arms(report: Report) -> Iterator[tuple[Arm, Sequence[ArmCase]]]:
    """List these arms with their points, by QPS."""
    leading = [arm for comparison in report.comparisons.leading for arm in arms(comparison)]
    compared = {(arm.name, case.row.step, case.row.labels) for arm in leading for case in arm.compared}
    is_led_by_it = any(arm.comparison.metric.name == STEADY_QPS for arm in leading)
    for comparison in report.comparisons.all if is_led_by_it else ():
        for arm in arms(comparison) if comparison.metric.name == QPS else ():
            missing = [case for case in arm.compared if (arm.name, case.row.step, case.row.labels) not in compared]
            if cases := [case for case in missing if (case.entry.refusal or "").startswith(NOT_STEADY)]:
                yield arm, cases


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
    steps = dict.fromkeys(case.row.step for case in failing)
    if not sound or len(steps) > MOST_BESIDE:  # the arms count theirs
        return
    amount = f"all {len(cases)}" if len(sound) == len(cases) else f"{len(sound)} of {len(cases)}"
    undecided = len(cases) - len(sound) - len(failing)
    remainder = [
        f"{worse} in {len(failing)}: {', '.join(steps)}" if failing else "",
        f"undecided in {undecided}" if undecided else "",
    ]
    headline = f"nothing {worse} by more than {percent(effect)} in {amount} comparisons{';' if any(remainder) else ''}"
    detail = "; ".join(filter(None, remainder))
    yield Finding("builds", "", headline, detail, SLOWER if failing else NONE, (True, 0.0))


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
                    f"{case.entry.text} {locate([case], arm)}" if len(points) > 1 else case.entry.text
                    for case in decided
                ]
                yield f"{name} {'; '.join(units.first(texts, MOST_BESIDE))}"


class _Words(NamedTuple):
    headline: str
    detail: str
    sureness: str
    evidence: Sequence[str]
    kind: str = NONE


def _arm_finding(arm: Arm, effect: float) -> Finding | None:
    if all(case.word in UNCOMPARED for case in arm.cases):
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
    headline = f"{arm.name}{unequal}: {words.headline}"
    qualifier = DOT.join(filter(None, (words.sureness, *_conditions(arm))))
    evidence = DOT.join(filter(None, words.evidence))
    is_certain = bool(arm.of(*DIFFERENCES, IDLE)) or words.kind != NONE
    weight = is_certain, max((case.distance for case in arm.compared), default=0)
    return Finding(arm.name, arm.comparison.base, headline, words.detail, words.kind, weight, qualifier, evidence)


def _difference(arm: Arm, certain: Sequence[ArmCase]) -> _Words:
    """Answer for all points alike, or where they differ for each part, or with their number on each side."""
    by_word = {word: arm.of(word) for word in dict.fromkeys(case.word for case in certain)}
    sureness, counts_of_rest = _sureness(certain, arm), other_counts(arm, DIFFERENCES)
    extremes = [_extreme(cases, arm) for cases in by_word.values()] if len(certain) > 1 else [certain[0].text]
    over_all = f"over all points {_pooled_text(arm.pooled)}" if arm.pooled else ""
    kind = BOTH if len(by_word) > 1 else _KINDS.get(certain[0].word, NONE)
    if len(by_word) == 1 and len(certain) == len(arm.compared) and not is_wide(certain):
        detail = f"of {base_and_place(certain, arm)}"
        return _Words(_amount(certain, arm), detail, sureness, [*extremes, over_all, counts_of_rest], kind)
    if parts := _parts(arm):
        return _Words("; ".join(_part_texts(parts, arm)), "", sureness, [*extremes, counts_of_rest], kind)
    headline = f"{arm.metric} {outcomes(arm)}"
    detail = f"against {arm.comparison.base}{in_step(arm)}: {spread(arm.compared, arm)}"
    return _Words(headline, detail, sureness, [other_counts(arm, [case.word for case in arm.compared])], kind)


class _PointPart(NamedTuple):
    axis: str  # `step`, or one that goes down
    labels: tuple[str, ...]
    cases: Sequence[ArmCase]

    @property
    def outcome(self) -> str | None:
        return _outcome(self.cases[0])


def _outcome(case: ArmCase) -> str | None:
    """Name what points of a part have in common; None where others' load, no work or other conditions leave it open."""
    if case.word in (*DIFFERENCES, DIFFERENT):
        return case.word
    return NONE if case.word in (SAME, UNDECIDED) else None


def _parts(arm: Arm) -> list[_PointPart]:
    """Divide the points by the axis, or the step, within whose labels ratios differ least and come out alike."""
    candidates = [parts for position in range(len(arm.comparison.layout.down) + 1) if (parts := _divide(arm, position))]
    return min(candidates, key=lambda parts: sum(_scatter(part.cases) for part in parts), default=[])


def _divide(arm: Arm, position: int) -> list[_PointPart]:
    """Return the parts by one axis; none if a label has two outcomes, or there are too many to be named."""
    axis = ("step", *arm.comparison.layout.down)[position]
    groups = group(((case.row.step, *case.row.labels)[position], case) for case in arm.compared)
    parts: list[_PointPart] = []
    for label, cases in groups.items():
        outcomes = {*map(_outcome, cases)}
        if label is None or None in outcomes or len(outcomes) > 1:
            return []
        part = _PointPart(axis, (label,), cases)
        same_parts = [one for one in parts if one.outcome == part.outcome and not is_wide([*one.cases, *cases])]
        for other in same_parts[:1]:
            parts.remove(other)
            part = _PointPart(axis, (*other.labels, label), [*other.cases, *cases])
        parts.append(part)
    if len(parts) < 2 or len(groups) > MOST_PARTS or any(is_wide(part.cases) for part in parts):
        return []
    return sorted(
        parts,
        key=lambda part: (
            part.outcome == NONE,
            part.outcome == DIFFERENT,
            -max(case.distance for case in part.cases),
        ),
    )


def _scatter(cases: Sequence[ArmCase]) -> float:
    logs = [math.log(case.ratio) for case in _with_ratio(cases)]
    return sum((value - fmean(logs)) ** 2 for value in logs)


def _part_texts(parts: Sequence[_PointPart], arm: Arm) -> Iterator[str]:
    """Write `1.11–1.15× the QPS where cached=all`, `no difference shown at half`."""
    for number, (axis, labels, cases) in enumerate(parts):
        names = ", ".join(short_build(label) if axis == BUILD else label for label in labels)
        amount = "the same" if all(case.word == SAME for case in cases) else "no difference shown"
        reserve = ", perhaps by less than counts" if cases[0].word == DIFFERENT else ""
        if cases[0].word in (*DIFFERENCES, DIFFERENT):
            amount = span([case.ratio for case in cases])
            base = f"the {arm.metric} of {arm.comparison.base}{in_step(arm).removeprefix(',')}"
            amount = amount.removesuffix(" of") if number else f"{amount} {base}"
        is_name = axis in ("step", BUILD)
        yield f"{amount} {f'in {names}' if is_name else f'at {names}' if number else f'where {axis}={names}'}{reserve}"


def _pooled_difference(arm: Arm, pooled: PooledRatio) -> _Words:
    """Answer with the ratio over all points; points that are sure by themselves stand behind it."""
    verdict = pooled.verdict or ""
    words = dict.fromkeys(case.word for case in arm.of(*DIFFERENCES))
    alone = f"by itself {verdict} {locate(arm.of(verdict), arm)}" if verdict in words else "no single point is certain"
    dissenting = [f"{word} {locate(arm.of(word), arm)}" for word in words if word != verdict]
    notes = [_pooled_text(pooled), alone, *dissenting, other_counts(arm, DIFFERENCES)]
    detail = f"of {arm.comparison.base}{in_step(arm)}, over {all_points(arm)}"
    headline = f"{span([pooled.ratio])} the {arm.metric}"
    kind = BOTH if dissenting else _KINDS.get(verdict, NONE)
    return _Words(headline, detail, f"{verdict}, {_certainty(pooled)}", notes, kind)


def _sureness(cases: Sequence[ArmCase], arm: Arm) -> str:
    """Write `slower, certain`, or where cases differ in that: `certain in both steps, perhaps in …`."""
    groups = group((_certainty(case.entry), case) for case in cases)
    texts = [f"{name} {locate(members, arm)}" if len(groups) > 1 else name for name, members in groups.items()]
    words = {case.word for case in cases}
    return ", ".join([*(words if len(words) == 1 else ()), *texts])  # of two the headline has the words


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
    sureness, counts = f"{cases[0].word}, {CERTAIN}", other_counts(arm, [case.word for case in cases])
    detail = f"against {base_and_place(cases, arm)}"
    headline = f"{arm.metric}{whose} is 0 in all {loads}"
    return _Words(headline, detail, sureness, [counts], _KINDS.get(cases[0].word, NONE))


def _busy(arm: Arm, cases: Sequence[ArmCase]) -> _Words:
    """Say that others' load decides nothing, and what it leaves to be told."""
    measured = _with_ratio(cases)
    amount = f": {_bounded_span(measured).removesuffix(' of')} came out" if measured else ""
    detail = f"against {base_and_place(cases, arm)}{amount}"
    return _Words(f"{arm.metric} {BUSY}", detail, DOT.join(arm.supporting), [other_counts(arm, (BUSY,))])


def _no_difference(arm: Arm, effect: float) -> _Words:
    same, different, undecided = arm.of(SAME), arm.of(DIFFERENT), arm.of(DIFFERENT, UNDECIDED)
    pooled, within = arm.pooled, f"within {percent(effect)}"
    over_all = f"over all points {_pooled_text(pooled)}, {pooled.verdict}" if pooled else ""
    if different and len(different) == len(arm.compared):
        ratio = different[0].text if len(different) == 1 else _extreme(different, arm)
        sureness = f"differs, perhaps by less than the {percent(effect)} that count"
        detail = f"of {base_and_place(different, arm)}"
        return _Words(_amount(different, arm), detail, sureness, [ratio, over_all, other_counts(arm, (DIFFERENT,))])
    if not undecided:
        return _Words(f"the same {arm.metric}", f"as {base_and_place(same, arm)}", within, [other_counts(arm, (SAME,))])
    if pooled and pooled.verdict == SAME:
        detail = f"as {arm.comparison.base}{in_step(arm)}, over {all_points(arm)}"
        return _Words(f"the same {arm.metric}", detail, within, [_pooled_text(pooled)])
    detail = f"against {base_and_place(undecided, arm)}: {_possible(undecided)}"
    notes = [
        f"the same {within} {locate(same, arm)}" if same else "",
        over_all,
        other_counts(arm, (SAME, UNDECIDED)),
    ]
    return _Words("undecided", detail, "", notes)


def _no_verdict(arm: Arm) -> _Words:
    if cases := arm.of(verdicts.ONE_LOAD):
        indicative = sum(case.entry.verdict == verdicts.INDICATIVE for case in cases)
        hint = f"their seconds differ at {counted(indicative, 'point')}" if indicative else ""
        sureness, counts = "one load: no verdict", other_counts(arm, (verdicts.ONE_LOAD,))
        return _Words(_amount(cases, arm), f"of {base_and_place(cases, arm)}", sureness, [hint, counts])
    if cases := arm.of(IDLE):
        arm_cases = [case for case in cases if not (case.entry.idle or "").startswith(OF_THE_BASE)]
        headline = f"{arm.metric} is 0 in a load" if arm_cases else f"{arm.metric} of the base is 0 in a load"
        detail, idle = f"against {base_and_place(arm_cases or cases, arm)}", (arm_cases or cases)[0].entry.idle or ""
        return _Words(headline, detail, idle, [other_counts(arm, (IDLE,))])
    if cases := arm.of(NO_VERDICT):
        refusal, counts = cases[0].entry.refusal or "", other_counts(arm, (NO_VERDICT,))
        headline = f"{_amount(cases, arm)}, no verdict"
        return _Words(headline, f"against {base_and_place(cases, arm)}", refusal, [counts])
    words = {case.word for case in arm.cases if case.word not in UNCOMPARED}
    if len(words) == 1 and any(case.entry.same for case in arm.cases):
        return _Words(words.pop(), "", "", [])
    return _Words("no figures", f"to compare with {arm.comparison.base}", "", [other_counts(arm, ())])


def _builds_finding(build_arms: Sequence[Arm]) -> Finding | None:
    """Answer for all builds in one, beside the comparison that the spec asks for."""
    cases = _with_ratio([case for arm in build_arms for case in arm.compared])
    if not cases:
        return None
    base = build_arms[0].comparison.base
    noun = BUILD_NOUNS[bool(versions([base, *(arm.name for arm in build_arms)]))]
    shipped = next((case.entry.as_shipped for case in cases if case.entry.as_shipped), None)
    notes = []
    for arm in build_arms:
        words = dict.fromkeys(case.word for case in arm.compared)
        notes.append(f"{short_build(arm.name)} {', '.join(f'{word} {locate(arm.of(word), arm)}' for word in words)}")
    kinds = {_KINDS.get(case.word, NONE) for case in cases}
    amount = spread(cases, *build_arms) if is_wide(cases) else span([case.ratio for case in cases])
    return Finding(
        noun,
        base,
        f"{noun}{f', {AS_SHIPPED}' if shipped else ''}: {amount}",
        f"the {build_arms[0].metric} of {base}{f'; {_build_difference(shipped)}' if shipped else ''}",
        BOTH if kinds >= {FASTER, SLOWER} else kinds.pop() if len(kinds) == 1 else NONE,
        (kinds != {NONE}, max(case.distance for case in cases)),
        DOT.join(notes),
    )


# Parts of an answer


def _amount(cases: Sequence[ArmCase], arm: Arm) -> str:
    if is_wide(cases):
        return f"{spread(cases, arm)}, the {arm.metric}"
    return f"{_bounded_span(cases)} the {arm.metric}"


def _bounded_span(cases: Sequence[ArmCase]) -> str:
    """Write at least 4.99×, or 1.10-1.14×."""
    bounds = {case.entry.interval.bound if case.entry.interval else "" for case in cases}
    return f"{bounds.pop() if len(bounds) == 1 else ''}{span([case.ratio for case in cases])}"


def _with_ratio(cases: Sequence[ArmCase]) -> list[ArmCase]:
    """Leave out points without a ratio, and refused ones where others are not."""
    measured = [case for case in cases if case.entry.ratio]
    return [case for case in measured if not case.entry.refusal] or measured


def is_wide(cases: Sequence[ArmCase]) -> bool:
    """Tell whether a range of ratios says too little: of one that reaches across 1 nobody knows which is which."""
    low, high = min(ratios := [case.ratio for case in _with_ratio(cases)] or [1.0]), max(ratios)
    return high > WIDEST * low or (low < 1 / ACROSS and high > ACROSS)


def spread(cases: Sequence[ArmCase], *of_arms: Arm) -> str:
    """Name the median, and both ends with their places: median 0.86×, from 0.24× in scan to 2.31× in point-query."""
    ranked = sorted(_with_ratio(cases), key=lambda case: case.ratio)
    ends = []
    for case in (ranked[0], ranked[-1])[: len(ranked)]:
        arm = next(arm for arm in of_arms if any(case is member for member in arm.cases))
        names = [short_build(arm.name), locate([case], arm)] if len(of_arms) > 1 else [locate([case], arm)]
        ends.append(f"{units.times(case.ratio)} {' '.join(names)}")
    if len(ranked) < 3:
        return " and ".join(ends)
    middle = math.exp(median(math.log(case.ratio) for case in ranked))
    return f"median {units.times(middle)}, from {' to '.join(ends)}"


def span(ratios: Sequence[float]) -> str:
    """Write 1.10-1.14×, or 7-11 % of."""
    low, high = min(ratios), max(ratios)
    if high < SHARE_BELOW:
        ends = (f"{100 * end:.0f}" if end >= 0.01 else f"{100 * end:.2g}" for end in (low, high))
        return f"{DASH.join(dict.fromkeys(ends))} % of"
    ends = (units.times(end).removesuffix(units.TIMES) for end in (low, high))
    return f"{DASH.join(dict.fromkeys(ends))}{units.TIMES}"


def _extreme(cases: Sequence[ArmCase], arm: Arm) -> str:
    farthest = max(cases, key=lambda case: case.distance)
    point = locate([farthest], arm).partition(" ")[2]
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


def _conditions(arm: Arm) -> Iterator[str]:
    """Yield as shipped, durability, lost loads, and how many differences have a condition of their own."""
    if shipped := next((case.entry.as_shipped for case in arm.compared if case.entry.as_shipped), None):
        yield f"{AS_SHIPPED}: {_build_difference(shipped)}"
    yield arm.unequal
    if losses := next((case.entry.losses for case in arm.compared if case.entry.losses), ""):
        yield losses
    else:
        sides = (entry.point for case in arm.compared for entry in (case.entry, case.row.entries[0]) if entry.point)
        measured, planned = min((point.loads for point in sides), default=(0, 0))
        yield f"{measured} of {counted(planned, 'load')}" if measured < planned else ""
    concluded = group((case.entry.conclusion, case) for case in arm.compared if case.entry.conclusion)
    for conclusion, cases in concluded.items():
        yield f"{conclusion.sentence}{f' {locate(cases, arm)}' if len(cases) < len(arm.compared) else ''}"
    if doubted := sum(case.entry.is_doubted for case in arm.compared):
        yield f"{counted(doubted, 'ratio')} with a doubt of {'its' if doubted == 1 else 'their'} own (†)"


def _build_difference(text: str) -> str:
    """Say in half a sentence what differs: the first of `…: suite bullseye / bookworm; compiler …`."""
    first = text.partition(": ")[2].partition("; ")[0]
    return _BUILD_DIFFERENCES.get(first.split(" ")[0], first)
