"""Cost of each arm for the same work: CPU and bytes written per operation, and memory, where loads show a ratio."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from stepgrid.model import units
from stepgrid.model.metrics import too_few_operations
from stepgrid.model.plan import is_imported
from stepgrid.model.units import DASH
from stepgrid.summarize.arms import Arm, ArmCase, arms, locate, short_build
from stepgrid.summarize.comparisons.comparison import RATIO, Comparison
from stepgrid.summarize.comparisons.judgement import COSTS, TAILS
from stepgrid.summarize.findings import findings, is_wide, span, spread
from stepgrid.summarize.report import Report
from stepgrid.summarize.statistics.verdicts import DIFFERENCES, SAME

MOST_ARMS = 2
MOST_ROWS = 24  # of a chart with room for the p99 of each
UNKNOWN = "CPU, memory and bytes per operation are not known unless a step gives `operations`"
OTHER_METRIC = "`--metric NAME` judges another metric that the files have"


@lru_cache(1)  # page, text and brief have the same
def cost_line(report: Report) -> str:
    """Write `against cache=all, cache=half: 0.87–0.91× the CPU per operation; not decided: memory`."""
    comparison = _compared(report)
    if comparison is None:
        return ""
    costs = {name: _arms(report, comparison, metrics) for name, metrics in COSTS.items()}
    measured = {name: members for name, members in costs.items() if members}
    if not measured and is_imported(report.setup.spec):
        return "" if report.setup.plan else f"not judged: {OTHER_METRIC}"
    if not measured:
        return UNKNOWN
    open_names = [name for name, members in measured.items() if not any(map(_decided, members))]
    remarks = [("not decided", open_names), ("not measured", [name for name in costs if name not in measured])]
    notes = [f"{word}: {', '.join(names)}" for word, names in remarks if names]
    amounts = units.first([*_amounts(report, comparison, measured)], MOST_ARMS)
    amounts[:1] = [f"against {comparison.base}, {text}" for text in amounts[:1]]
    return "; ".join([*amounts, *notes])


def latency_line(report: Report) -> str:
    """Write the p99 of the base and the ratios of the arms for a heat map, which has no room for it, or its lack."""
    comparison = _compared(report)
    if comparison is None or comparison.metric.name in TAILS:
        return ""
    members = next(filter(None, (_arms(report, comparison, (name,)) for name in TAILS)), [])
    if not members:
        points = (entry.point for row in comparison.rows for entry in row.entries)
        few = too_few_operations("p99_us", (run.metrics for point in points if point for run in point.runs))
        return "" if is_imported(report.setup.spec) else f"p99 is not {f'given: {few}' if few else 'measured'}"
    if len(comparison.rows) * len(comparison.arms) <= MOST_ROWS:
        return ""
    metric = members[0].comparison.metric.name
    points = (row.entries[0].point for row in members[0].comparison.rows)
    figures = [spread[0] for point in points if point and (spread := point.spread(metric))]
    ends = DASH.join(dict.fromkeys(units.latency(end) for end in (min(figures), max(figures))))
    amounts = units.first([*_amounts(report, comparison, {TAILS[metric]: members})], MOST_ARMS)
    return "; ".join([f"{TAILS[metric]} of {comparison.base} {ends}", *(amounts or ["ratios not decided"])])


def _compared(report: Report) -> Comparison | None:
    comparison = next(iter(report.comparisons.leading), None)
    has_ratios = comparison and any(entry.kind == RATIO for row in comparison.rows for entry in row.entries)
    if comparison and report.comparisons.is_limit(comparison):  # of which nothing else is known
        return None
    return comparison if has_ratios else None


def _arms(report: Report, comparison: Comparison, metrics: Sequence[str]) -> list[Arm]:
    """List the arms by the first of these metrics that is measured."""
    for name in metrics:
        for other in report.comparisons.costs:
            if other.metric.name == name and other.layout.base == comparison.layout.base:
                return [arm for arm in arms(other) if arm.compared]
    return []


def _amounts(report: Report, comparison: Comparison, measured: Mapping[str, Sequence[Arm]]) -> Iterator[str]:
    """Write for each arm what differs, then what is the same."""
    ranks = {finding.arm: rank for rank, finding in enumerate(findings(report))}
    for labels in sorted(comparison.arms[1:], key=lambda arm: ranks.get(comparison.arm_name(arm), len(ranks))):
        members = [(name, arm) for name, all_arms in measured.items() for arm in all_arms if arm.labels == labels]
        texts = [text for name, arm in members if (text := _amount(arm, name))]
        if texts:
            texts.sort(key=lambda text: text.startswith("the same"))
            yield f"{short_build(comparison.arm_name(labels))}: {', '.join(texts)}"


def _decided(arm: Arm) -> list[ArmCase]:
    return arm.of(*DIFFERENCES, SAME)


def _amount(arm: Arm, name: str) -> str:
    cases = _decided(arm)
    if not cases:
        return ""
    location = f" {locate(cases, arm)}" if len(cases) < len(arm.compared) else ""
    if all(case.word == SAME for case in cases):
        return f"the same {name}{location}"
    unsure = [case for case in cases if case.entry.perhaps]
    sureness = "" if not unsure else f" (perhaps{f' {locate(unsure, arm)}' if len(unsure) < len(cases) else ''})"
    if is_wide(cases):
        return f"{name} {spread(cases, arm)}{location and f',{location}'}{sureness}"
    ratio = cases[0].text if len(cases) == 1 else span([case.ratio for case in cases])
    return f"{ratio} the {name}{location}{sureness}"
