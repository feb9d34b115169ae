"""Reasons in a report: causes beside each difference, and of each arm over all its points.

Changed query plans come first. Defaults of the builds come last, but where an option is known to move what moved.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import starmap
from typing import TypeAlias

from msgspec import Struct

from stepgrid.collect.counts import PROFILE, SESSION_WAITS
from stepgrid.collect.step_figures import ENGINE
from stepgrid.model import units
from stepgrid.model.plan import BUILD, is_imported
from stepgrid.model.table import MOST_ROWS, Table, group, word_table
from stepgrid.model.units import DASH, counted
from stepgrid.plugins.collector import FUNCTIONS
from stepgrid.plugins.registry import option_effects
from stepgrid.plugins.statements import INDEX
from stepgrid.summarize.arms import short_build
from stepgrid.summarize.comparisons.comparison import RATIO, Case, Comparison
from stepgrid.summarize.data.functions import Growth
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import StepDetails
from stepgrid.summarize.findings import DOT, WIDEST
from stepgrid.summarize.report import Explanation, GridEvidence, Report
from stepgrid.summarize.setup import Facts, ReportSetup
from stepgrid.summarize.statistics.verdicts import BUSY, UNDECIDED
from stepgrid_answers.causes import (
    MOST_CAUSES,
    NO_CAUSE,
    PER_OPERATION,
    Cause,
    CauseSubject,
    causes,
    subject,
    undecided_causes,
)
from stepgrid_answers.changes import counter_changes

MOST_TEXT = 100  # characters of a statement that are shown
MOST_DEFAULTS = 2  # defaults that are named: of more each alone is no cause
NO_OPERATIONS = "CPU and device per operation are unknown: the step has no metric `operations`"


def why(
    comparison: Comparison,
    case: Case,
    setup: ReportSetup,
    details: StepDetails | None = None,
    growth: Growth | None = None,
) -> list[str]:
    """Explain a difference, or what loads show that a busy host voids. A changed plan is told of any ratio."""
    plans = plan_changes(setup, case.point, case.base)
    if case.entry.verdict == BUSY:
        arm_causes = undecided_causes(case.point, case.base, growth or {}, comparison.metric, details)
        return [*plans, *(cause.text for cause in arm_causes)]
    if not case.entry.is_difference:
        return plans
    arm_causes = causes(case.point, case.base, growth, comparison.metric, details)
    leading, trailing = ordered_defaults(comparison, case.point, setup, arm_causes)
    return [*plans, *leading, *(cause.text for cause in arm_causes), *trailing]


def ordered_defaults(
    comparison: Comparison, arm: Point, setup: ReportSetup, arm_causes: Sequence[Cause]
) -> tuple[list[str], list[str]]:
    """Tell defaults that can move what the first cause is from those that stand behind the causes."""
    changes = default_changes(comparison, arm, setup)
    engine = setup.engines.get(arm.runs[0].build_id)
    effects = arm_causes[0].effects if arm_causes else frozenset()
    leading = [text for name, text in changes if effects & option_effects(engine, name)]
    leading = leading if len(leading) <= MOST_DEFAULTS else []
    trailing = [text for _, text in changes if text not in leading]
    if len(trailing) > MOST_DEFAULTS:
        trailing = [f"{counted(len(trailing), 'default')} of the builds differ"]
    return leading, trailing


def plan_changes(setup: ReportSetup, arm: Point, base: Point) -> list[str]:
    """List statements whose query plans differ. Engines have words of their own for plans: only those of one do."""
    engine, base_engine = (setup.engines.get(point.runs[0].build_id) for point in (arm, base))
    if engine != base_engine:
        return []
    arms, bases = (_plans(setup.plans, point) for point in (arm, base))
    changes = {
        statement: f"{' or '.join(bases[statement])} → {' or '.join(arms[statement])}"
        for statement in sorted(bases.keys() & arms.keys())
        if set(bases[statement]) != set(arms[statement])
    }
    indexes = [f"{name}: {change}" for name, change in changes.items() if name.startswith(INDEX)]
    plans = {name: f"plan changed: {change}" for name, change in changes.items() if not name.startswith(INDEX)}
    several = sum(not name.startswith(INDEX) for name in bases) > 1
    texts = [f"{text} in `{statement[:MOST_TEXT]}`" if several else text for statement, text in plans.items()]
    return [*texts, *indexes]


def _plans(plans: Facts, point: Point) -> dict[str, list[str]]:
    """List the plans of each statement over the loads."""
    by_statement = group(
        pair for run in point.runs for pair in plans.get(f"{run.place[0]}/{run.attempt}/{run.place[1]}", {}).items()
    )
    return {statement: sorted(set(texts)) for statement, texts in by_statement.items()}


def default_changes(comparison: Comparison, arm: Point, setup: ReportSetup) -> list[tuple[str, str]]:
    """List defaults of options that the spec leaves to the builds, where these are compared with the base's."""
    if not setup.defaults or comparison.layout.base.get(BUILD) != setup.defaults.base:
        return []
    changes = setup.defaults.changes(arm.runs[0].build)
    return [(change.partition(" ")[0], f"default {change}") for change in changes]


def why_table(
    comparison: Comparison, setup: ReportSetup, details: StepDetails, most: int | None = None
) -> Table | None:
    """Tabulate differences, the largest first; the first ones have functions and counters of the engine, too."""
    differences = [
        case
        for case in comparison.cases()
        if case.entry.ratio and (_needs_cause(case) or why(comparison, case, setup, details))
        if not _is_of_another_tool(case.point)
    ]
    differences.sort(key=lambda case: -abs(math.log(case.entry.ratio or 1.0)))
    if not differences:
        return None
    title = f"why: differences from {comparison.base}"
    points = [point for case in differences[:MOST_ROWS] for point in (case.point, case.base)]
    growth = details.counters({run.place for point in points for run in point.runs})
    rows = []
    for case in differences[:most]:
        kind = subject(comparison.metric)
        is_counted = kind != CauseSubject.TIME or _counts_operations(case.point, case.base)
        texts = why(comparison, case, setup, details, growth)
        if case.entry.verdict == BUSY:
            texts = [f"undecided, and yet {texts[0]}", *texts[1:]]
        texts = texts or [NO_CAUSE[kind] if is_counted else NO_OPERATIONS]
        if kind in (CauseSubject.TIME, CauseSubject.CPU) and case.entry.verdict != BUSY:
            texts += counter_changes(growth, case.point, case.base)
        labels = (label or "-" for label in case.row.labels)
        ratio = units.times(case.entry.ratio or 1.0)
        rows.append((case.row.step, *labels, comparison.arm_name(case.arm), ratio, "; ".join(texts)))
    omitted = len(differences) - len(rows)
    notes = (f'and {counted(omitted, "difference")} more: `--table "{title}"`',) if omitted else ()
    return word_table(title, ("step", *comparison.layout.down, "arm", "ratio", "why"), rows, notes)


class Reasons(Explanation):
    """What a report shows of the causes."""

    none = frozenset(NO_CAUSE.values())

    def table(self, report: Report, comparison: Comparison, most: int | None = None) -> Table | None:
        return why_table(comparison, report.setup, report.data.details, most)

    def causes(self, report: Report, comparison: Comparison, case: Case) -> list[str]:
        return why(comparison, case, report.setup, report.data.details)

    def by_arm(self, report: Report) -> Mapping[str, Sequence[tuple[str, str]]]:
        return {base: [(cause.arm, cause.text) for cause in causes] for base, causes in reasons(report).items()}

    def line(self, report: Report) -> str:
        chains = [chain_text(arm_causes, base) for base, arm_causes in reasons(report).items()]
        is_own = report.setup.plan and not is_imported(report.setup.spec)
        comparisons = report.comparisons.leading
        if not chains and is_own and any(_needs_cause(case) for one in comparisons for case in one.cases()):
            return NO_CAUSE[subject(report.setup.metric)]
        return DOT.join(filter(None, chains))


def explain(_: GridEvidence) -> list[Explanation]:
    return [Reasons()]


# Causes of an arm over all builds and points


class ArmCause(Struct, frozen=True):
    """A cause with its range over the points of an arm."""

    arm: str
    name: str
    unit: str = ""
    base: tuple[float, float] | None = None  # None: the name says all
    values: tuple[float, float] = (0.0, 0.0)
    steps: tuple[str, ...] = ()
    counts: tuple[int, int, int] = (0, 0, 0)  # points with more of it, with less, and all that are explained

    @property
    def is_wide(self) -> bool:
        """Tell whether the points have too little in common for a range."""
        low, high = self.base or (0.0, 0.0)
        return high > WIDEST * low > 0 or all(self.counts[:2])

    @property
    def text(self) -> str:
        """block cache misses 0.2 → 51 %; of ranges that say nothing: more CPU per operation in 20 of 25 differences"""
        if self.base is None:
            return self.name
        if self.is_wide:
            name = f"{self.name} {PER_OPERATION}" if self.unit.endswith(PER_OPERATION) else self.name
            words = [(word, count) for word, count in zip(("more", "less"), self.counts, strict=False) if count]
            parts = [f"{word}{'' if at else f' {name}'} in {count}" for at, (word, count) in enumerate(words)]
            return f"{', '.join(parts)} of {counted(self.counts[2], 'difference')}"
        return f"{self.name} {_range(self.base, self.unit)} → {_range(self.values, self.unit)}{_suffix(self.unit)}"


@lru_cache(1)  # page, text and brief have the same
def reasons(report: Report) -> dict[str, list[ArmCause]]:
    """List the causes of each arm's differences, with their ranges over builds and points, by their base."""
    by_base: dict[str, list[ArmCause]] = {}
    for comparison in report.comparisons.leading:
        if comparison.layout.base.keys() <= report.setup.base.keys() or not by_base:
            cases: dict[str, list[Case]] = {name: [] for name in comparison.arm_names}
            for case in comparison.cases():
                if case.entry.kind == RATIO and case.entry.ratio:
                    cases[comparison.arm_name(case.arm)].append(case)
            pairs_by_arm = {arm: list(_explained(arm_cases)) for arm, arm_cases in cases.items()}
            keys = {key for pairs in pairs_by_arm.values() for pair in pairs for point in pair for key in point.places}
            growth = report.data.details.counters(keys, (ENGINE, FUNCTIONS, PROFILE, SESSION_WAITS))
            changes = partial(_known_changes, comparison, report.setup)
            causes_of = partial(causes, growth=growth, metric=comparison.metric, details=report.data.details)
            by_base[comparison.base] = causes_by_arm(pairs_by_arm.items(), changes, causes_of)
    return {base: arm_causes for base, arm_causes in by_base.items() if arm_causes}


def _known_changes(
    comparison: Comparison, setup: ReportSetup, arm: Point, base: Point, arm_causes: Sequence[Cause]
) -> Iterator[str]:
    """Yield changed plans, and few changed defaults that can matter."""
    yield from (f"{arm.step}: {text}" for text in plan_changes(setup, arm, base))
    yield from ordered_defaults(comparison, arm, setup, arm_causes)[0]


def _explained(cases: Sequence[Case]) -> Iterator[tuple[Point, Point]]:
    """Yield arm and base of each difference, and of undecided points that go the same way."""
    rises = {(case.entry.ratio or 0) > 1 for case in cases if case.entry.is_difference}
    for case in cases:
        if case.entry.is_difference or (case.entry.verdict == UNDECIDED and rises == {(case.entry.ratio or 0) > 1}):
            yield case.point, case.base


Pair: TypeAlias = tuple[Point, Point]  # of arm and base
Changes: TypeAlias = Callable[[Point, Point, Sequence[Cause]], Iterable[str]]
CausesOf: TypeAlias = Callable[[Point, Point], Sequence[Cause]]


def causes_by_arm(
    arms: Iterable[tuple[str, Sequence[Pair]]], changes: Changes, causes_of: CausesOf = causes
) -> list[ArmCause]:
    """List at most three causes of each arm, those that matter at most points first, after what `changes` says."""
    return [cause for name, pairs in arms for cause in _arm_causes(name, pairs, changes, causes_of)]


def chain_text(causes: Sequence[ArmCause], base: str) -> str:
    """Join arms in one line: `cache=all → half → tenth: block cache misses 0.2 → 51 → 90 %`.

    Where the points have too little in common for ranges it is the last arm's."""
    if any(cause.is_wide for cause in causes):
        causes = [cause for cause in causes if cause.arm == causes[-1].arm]
    by_name = group(((cause.name, cause.unit), cause) for cause in causes)
    names = max(([cause.arm for cause in arms] for arms in by_name.values()), key=len, default=[])
    texts = []
    for (name, unit), arms in by_name.items():
        if arms[0].base is None or arms[0].is_wide:
            texts.append(arms[0].text)
        elif [arm.arm for arm in arms] == names:
            bases = [arm.base for arm in arms if arm.base]
            base_ends = min(low for low, _ in bases), max(high for _, high in bases)
            ranges = (_range(ends, unit) for ends in (base_ends, *(arm.values for arm in arms)))
            texts.append(f"{name} {' → '.join(ranges)}{_suffix(unit)}")
    if texts in ([], [NO_OPERATIONS]):
        return "".join(texts)
    steps = {step for cause in causes for step in cause.steps}
    step = f", in {steps.pop()}" if len(steps) == 1 else ""
    chain = " → ".join((base, *(short_build(name.rpartition("=")[2]) for name in names)))
    return f"{chain}{step}: {'; '.join(texts[:MOST_CAUSES])}"


def _arm_causes(arm: str, pairs: Sequence[Pair], changes: Changes, causes_of: CausesOf) -> list[ArmCause]:
    causes_by_pair = [(pair, causes_of(*pair)) for pair in pairs]
    by_name = group(
        ((cause.name, cause.unit), (rank, cause)) for _, members in causes_by_pair for rank, cause in enumerate(members)
    )
    counts = Counter(text for pair, members in causes_by_pair for text in changes(*pair, members))
    arm_causes = [ArmCause(arm, text) for text, _ in counts.most_common(1)]
    if all(_is_of_another_tool(point) or point.is_limit for point, _ in pairs):
        return arm_causes
    if not arm_causes and not by_name and not any(starmap(_counts_operations, pairs)):
        return [ArmCause(arm, NO_OPERATIONS)]
    weights = {key: sum(MOST_CAUSES - rank for rank, _ in members) for key, members in by_name.items()}
    for key in sorted(by_name, key=lambda key: -weights[key])[: MOST_CAUSES - len(arm_causes)]:
        changed = [cause.change for _, cause in by_name[key]]
        bases, values = ([getattr(change, side) for change in changed] for side in ("base", "arm"))
        rises = sum(change.difference > 0 for change in changed)
        directions = rises, len(changed) - rises, len(pairs)
        ends = (min(bases), max(bases)), (min(values), max(values))
        arm_causes.append(ArmCause(arm, *key, *ends, tuple({point.step for point, _ in pairs}), directions))
    return arm_causes


def _needs_cause(case: Case) -> bool:
    """Tell the differences of which it is said where no cause is known."""
    return case.entry.is_difference and not case.point.is_limit


def _is_of_another_tool(point: Point) -> bool:
    """Tell figures that no attempt of ours has: nothing else was measured."""
    return all(run.attempt is None for run in point.runs)


def _counts_operations(arm: Point, base: Point) -> bool:
    return all(point.spread("operations") is not None for point in (arm, base))


def _suffix(unit: str) -> str:
    return f" {unit}" if unit not in ("", "B") else ""


def _range(ends: tuple[float, float], unit: str) -> str:
    """Two digits are as many as a range deserves."""
    if unit == "B":
        return DASH.join(dict.fromkeys(map(units.size, ends)))
    return DASH.join(dict.fromkeys(f"{end:,.0f}" if abs(end) >= 10 else f"{end:.2g}" for end in ends))
