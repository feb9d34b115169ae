"""The answer of a report, in the text and on the page: a sentence for each arm of each base, from its verdicts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from stepgrid.model import units
from stepgrid.model.plan import MOST_LOADS
from stepgrid.model.status import Status
from stepgrid.model.table import ABSENT
from stepgrid.model.table import SAME as SAME_AS
from stepgrid.model.units import counted, percent
from stepgrid.plan.estimate import DIFFERENCE
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.builds import AS_SHIPPED
from stepgrid.summarize.comparisons.comparison import NO_BASE, RATIO, Comparison, Entry
from stepgrid.summarize.comparisons.comparison_table import DOUBT
from stepgrid.summarize.comparisons.conditions import OTHER_HOST
from stepgrid.summarize.page import claimed_metrics
from stepgrid.summarize.report import Report
from stepgrid.summarize.statistics import verdicts
from stepgrid.summarize.statistics.confidence_intervals import Interval
from stepgrid.summarize.statistics.verdicts import (
    DIFFERENT,
    FASTER,
    INCONCLUSIVE,
    INDICATIVE,
    ONE_LOAD,
    SAME,
    SLOWER,
    VERDICTS,
)

MOST_ARMS = 12  # arms
NAMED = 2  # different numbers of failed loads
NONE, BOTH = "none", "both"
IDLE = "idle"
NOT_COMPARABLE = "not comparable"
HELP = "longer steps or a quieter host"
RATIOS = "Ratios are of QPS to the base: above 1 is faster."
HINTS = {
    ONE_LOAD: "One load gives no verdict, and so no causes are named: `repeat: 3` or more does. Claims of one load are "
    "judged by what is assumed of its noise.",
    NOT_COMPARABLE: "Builds of different quality get no verdict, and so no causes are named; "
    "`allow: {mixed-quality: REASON}` gives both as shipped.",
    IDLE: "A load that did nothing has no ratio: what its step printed says why.",
}
HOST_HINT = (
    "Arms of two hosts get no verdict, and so no causes are named: measure them on one host, or compare hosts "
    "by variants with `hardware`."
)
COUNTED = {ONE_LOAD: "with one load", IDLE: "inconclusive for loads that did nothing"}
_UNCOMPARED = (ABSENT, NO_BASE, SAME_AS, Status.DONE)


class Answer(NamedTuple):
    text: str
    kind: str  # faster, slower, both or none
    weight: tuple[bool, float]  # what is certain comes before what is only large


@dataclass(frozen=True, slots=True)
class Case:
    """A comparison of an arm, and the point that it is at."""

    where: str
    entry: Entry

    @property
    def word(self) -> str:
        if self.entry.kind == SAME_AS and self.entry.same:
            return f"the same run as `{self.entry.same}`"
        if self.entry.kind != RATIO:
            return self.entry.kind
        if self.entry.idle:
            return IDLE
        if self.entry.refusal or self.entry.verdict is None:
            return NOT_COMPARABLE
        return ONE_LOAD if self.entry.verdict == INDICATIVE else self.entry.verdict

    @property
    def ratio(self) -> float:
        return self.entry.ratio or 1.0


@dataclass(frozen=True, slots=True)
class Arm:
    """All comparisons of one arm with one base."""

    name: str
    base: str
    cases: tuple[Case, ...]

    def of(self, *words: str) -> list[Case]:
        return [case for case in self.cases if case.word in words]

    @property
    def compared(self) -> list[Case]:
        return [case for case in self.cases if case.entry.kind == RATIO]


def lines(report: Report) -> list[str]:
    """The heaviest arms in the order of the tables, then what would help where there is no verdict."""
    found = list(answers(report))
    heaviest = sorted(range(len(found)), key=lambda at: found[at].weight, reverse=True)[:MOST_ARMS]
    more = len(found) - len(heaviest)
    rest = [f"and {counted(more, 'arm')} more, which differ less: the tables have them"] if more else []
    claimed = claimed_metrics.sentences(report.comparisons.claims, report.comparisons.leading)
    return [*(found[at].text for at in sorted(heaviest)), *rest, *claimed, *hints(report)]


def hints(report: Report) -> list[str]:
    found = words(report)
    more = [_more_loads(report)] if INCONCLUSIVE in found else []
    caveats = [case.entry.refusal or "" for arm in _arms(report) for case in arm.of(NOT_COMPARABLE)]
    hosts = [caveat for caveat in caveats if caveat.startswith(OTHER_HOST)]
    other_host = [HOST_HINT] if hosts else []
    if hosts and len(hosts) == len(caveats):
        found = found - {NOT_COMPARABLE}
    hints = [hint for word, hint in HINTS.items() if word in found]
    return [*([RATIOS] if words(report) else []), *more, *hints, *other_host]


def _more_loads(report: Report) -> str:
    if not too_wide(report):
        return (
            "Inconclusive: nothing is farther apart here than equal arms in this experiment; a quieter host would tell."
        )
    seen, wanted = percent(DIFFERENCE), loads_wanted(report)
    if wanted is not None and wanted <= report.setup.loads[1]:
        return (
            f"Inconclusive: these loads show {seen} at half of these points; what differs by less needs more of them."
        )
    if wanted is None or wanted > verdicts.PATIENCE:
        loads = f"over {MOST_LOADS}" if wanted is None else wanted
        return f"Inconclusive: to see {seen}, half of these points need {loads} loads, {HELP}."
    return f"Inconclusive: {wanted} loads (`repeat: {wanted}`) would show {seen} at half of these points."


def loads_wanted(report: Report) -> int | None:
    """For half of what is inconclusive; None: more than anyone would wait for, or loads are not what it lacks."""
    return verdicts.needed_loads(too_wide(report))


def too_wide(report: Report) -> list[Interval]:
    found = [case.entry.interval for arm in _arms(report) for case in arm.of(INCONCLUSIVE)]
    return verdicts.too_wide(filter(None, found), report.setup.effect)


def words(report: Report) -> set[str]:
    """What is said of the comparisons of a report, each once."""
    return {case.word for arm in _arms(report) for case in arm.compared}


def answers(report: Report) -> Iterator[Answer]:
    for arm in _arms(report):
        if any(case.word not in _UNCOMPARED for case in arm.cases):
            yield Answer(sentence(arm, report.setup.effect), _kind(arm), _weight(arm))


def _arms(report: Report) -> list[Arm]:
    return [arm for comparison in report.comparisons.leading for arm in _of(comparison)]


def _of(comparison: Comparison) -> Iterator[Arm]:
    cases: dict[comparison_axes.Labels, list[Case]] = {}
    for row in comparison.rows:
        for labels, entry in zip(comparison.arms[1:], row.entries[1:], strict=True):
            cases.setdefault(labels, []).append(Case(comparison.where(row), entry))
    for labels, found in cases.items():
        yield Arm(comparison.arm_name(labels), comparison.base, tuple(found))


def _kind(arm: Arm) -> str:
    faster, slower = arm.of(FASTER), arm.of(SLOWER)
    return BOTH if faster and slower else FASTER if faster else SLOWER if slower else NONE


def _weight(arm: Arm) -> tuple[bool, float]:
    return max(((case.word in (FASTER, SLOWER, IDLE), _size(case)) for case in arm.compared), default=(False, 0.0))


def _size(case: Case) -> float:
    return math.inf if case.entry.idle else max(case.ratio, 1 / case.ratio)


def sentence(arm: Arm, effect: float) -> str:
    """The first of these that there is; what else there is, is counted behind it."""
    for words, said in (
        ((FASTER, SLOWER), _different),
        ((DIFFERENT,), partial(_different_little, effect=effect)),
        ((SAME, INCONCLUSIVE), partial(_nothing_found, effect=effect)),
        ((IDLE,), _idle),
        ((ONE_LOAD,), _too_few),
        ((NOT_COMPARABLE,), _not_comparable),
    ):
        if arm.of(*words):
            return f"{said(arm)}{_rest(arm, words)}{_marks(arm)}"
    same = {case.word for case in arm.cases if case.entry.same}
    if len(same) == 1 and all(case.word in same for case in arm.cases):
        return f"`{arm.name}` is {same.pop()}"
    return f"`{arm.name}` has no figures to compare with `{arm.base}`{_rest(arm, ())}"


def _different(arm: Arm) -> str:
    faster, slower = arm.of(FASTER), arm.of(SLOWER)
    if faster and slower:
        best, worst = max(faster, key=_size), max(slower, key=_size)
        return (
            f"`{arm.name}` is faster than `{arm.base}` at {_share(faster, arm)} (up to {_times(best)}: {best.where}) "
            f"and slower at {len(slower)} (down to {_times(worst)}: {worst.where})"
        )
    found, word = faster or slower, FASTER if faster else SLOWER
    strongest = max(found, key=_size)
    begin = f"`{arm.name}` is {word} than `{arm.base}`"
    if len(found) == 1:
        at = "" if len(arm.compared) == 1 else f" at {_share(found, arm)}"
        return f"{begin}{at}: {_with_interval(strongest)} ({strongest.where})"
    sure = f" {_interval(strongest)}" if _interval(strongest) else ""
    return f"{begin} at {_share(found, arm)}, {_range(found)}; strongest: {strongest.where}{sure}"


def _different_little(arm: Arm, effect: float) -> str:
    cases = arm.of(DIFFERENT)
    strongest = max(cases, key=_size)
    ratios = f"{_range(cases)}; strongest: {strongest.where} {_interval(strongest)}"
    if len(cases) == 1:
        ratios = _with_interval(strongest)
    return (
        f"`{arm.name}` differs from `{arm.base}` at {_share(cases, arm)}: {ratios}, "
        f"perhaps by less than the {percent(effect)} that count"
    )


def _nothing_found(arm: Arm, effect: float) -> str:
    same, open_ = arm.of(SAME), arm.of(INCONCLUSIVE)
    if not open_:
        return f"`{arm.name}` is the same as `{arm.base}` within {percent(effect)} at {_share(same, arm)}"
    if not same:
        return f"`{arm.name}` cannot be told from `{arm.base}` at {_share(open_, arm)}{_possible(open_)}"
    return (
        f"`{arm.name}` is the same as `{arm.base}` within {percent(effect)} at {_share(same, arm)} "
        f"and cannot be told from it at {len(open_)}{_possible(open_)}"
    )


def _possible(found: Sequence[Case]) -> str:
    """: 0.62× to 1.88× are possible"""
    known = [each for case in found if (each := case.entry.interval)]
    if not known:
        return ""
    low, high = min(each.low for each in known), max(each.high for each in known)
    if high / low > units.WIDEST:
        return ": any ratio is possible"
    shown = units.telling(low, high)
    return f": {shown(low)}{units.TIMES} to {shown(high)}{units.TIMES} are possible"


def _idle(arm: Arm) -> str:
    cases = arm.of(IDLE)
    reasons = dict.fromkeys(case.entry.idle for case in cases if case.entry.idle)
    return f"`{arm.name}` against `{arm.base}` is inconclusive at {_share(cases, arm)}: {'; or '.join(reasons)}"


def _too_few(arm: Arm) -> str:
    found = arm.of(ONE_LOAD)
    hints = sum(case.entry.verdict == INDICATIVE for case in found)
    more = f"; {hints} indicative" if hints else ""
    said = _range(found) if len(set(map(_times, found))) == 1 else _both_sides(found)
    return f"`{arm.name}` against `{arm.base}`: one load at {_share(found, arm)}, no verdict ({said}{more})"


def _both_sides(found: Sequence[Case]) -> str:
    """above 1 at 8 of them (up to 1.34×: q100, cached), below at 4 (down to 0.95×: l.i1, cached)"""
    above, below = ([case for case in found if sign * (case.ratio - 1) > 0] for sign in (1, -1))
    said = []
    for side, end, cases in (("above 1", "up to", above), ("below 1", "down to", below)):
        if cases:
            farthest = max(cases, key=_size)
            said.append(f"{side} at {len(cases)}, {end} {_times(farthest)}: {farthest.where}")
    return "; ".join(said)


def _not_comparable(arm: Arm) -> str:
    found = arm.of(NOT_COMPARABLE)
    why = next((f": {case.entry.refusal}" for case in found if case.entry.refusal), "")
    return (
        f"`{arm.name}` and `{arm.base}` are not comparable at {_share(found, arm)}, no verdict ({_range(found)}){why}"
    )


def _rest(arm: Arm, said: Sequence[str]) -> str:
    """; 2 same, 1 failed"""
    words = Counter(case.word for case in arm.cases if case.word not in (*said, *_UNCOMPARED))
    ordered = dict.fromkeys(word for word in (*VERDICTS, IDLE, ONE_LOAD, *sorted(words)) if word in words)
    return "".join(
        f"{';' if not at else ','} {words[word]} {COUNTED.get(word, word)}" for at, word in enumerate(ordered)
    )


def _marks(arm: Arm) -> str:
    """As shipped; of how many loads where some failed; and how many differences more is to be known of."""
    doubted = sum(bool(case.entry.doubts) for case in arm.of(FASTER, SLOWER))
    shipped = f" ({AS_SHIPPED})" if any(case.entry.as_shipped for case in arm.compared) else ""
    losses = dict.fromkeys(case.entry.losses for case in arm.compared if case.entry.losses)
    survivors = f"; {DOUBT} {'; '.join([*losses][:NAMED])}" if losses else ""
    return shipped + survivors + (f"; {DOUBT} at {counted(doubted, 'difference')}" if doubted else "")


def _share(found: Sequence[Case], arm: Arm) -> str:
    total = len(arm.compared)
    if total == 1:
        return found[0].where
    return f"{len(found)} of {total} points"


def _range(found: Sequence[Case]) -> str:
    ends = dict.fromkeys(
        map(_times, (min(found, key=lambda case: case.ratio), max(found, key=lambda case: case.ratio)))
    )
    return " to ".join(ends)


def _times(case: Case) -> str:
    return units.times(case.ratio)


def _with_interval(case: Case) -> str:
    interval = case.entry.interval
    if interval is None:
        return _times(case)
    return units.ratio_with_interval(case.ratio, interval.low, interval.high, units.TIMES)


def _interval(case: Case) -> str:
    found = case.entry.interval
    return units.ratio_interval(found.low, found.high) if found else ""
