"""Claims judged by figures that somebody published: one run and unknown builds, so a ratio has no interval here."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from stepgrid.language.problems import Problems, nearest
from stepgrid.model.plan import BUILD, CellStep, Plan, PlannedCell
from stepgrid.model.status import Status
from stepgrid.model.units import counted
from stepgrid.plan.actions import arms
from stepgrid.plan.report_check import ClaimComparison, Figure, evaluate
from stepgrid.plugins.layout import STEP
from stepgrid.summarize.claims import FAILS, HOLDS, ClaimCase, JudgedClaim
from stepgrid.summarize.comparisons.comparison_axes import touching
from stepgrid.summarize.data.points import Point, points
from stepgrid.summarize.data.tables_reader import Run
from stepgrid_answers.claim_judgement import ClaimEvidence, Provenance, ordered, own_name
from stepgrid_answers.claims import judge_claims
from stepgrid_published.figures import METRIC, Published, TableFigure, figures

REFUTED, NO_FIGURE = "refuted", "no figure"
OWN_SENTENCE = "by the article's own sentence"
RATIOS_ONLY = "is published as ratios only"
ONE_FIGURE = "one figure is published for both sides"
_WORDS = {FAILS: REFUTED, HOLDS: HOLDS}
_CLAIMED = " (claimed "  # between a figure and its bounds


class PublishedClaim(Struct, frozen=True):
    """A claim and what published figures say of it."""

    claim: JudgedClaim

    @property
    def judged(self) -> tuple[ClaimCase, ...]:
        """Select the cases that have figures."""
        return tuple(case for case in self.claim.cases if case.result in _WORDS)

    @property
    def result(self) -> str:
        """Refuted at any point, or holding at each that has figures."""
        results = {case.result for case in self.judged}
        return REFUTED if FAILS in results else HOLDS if results else NO_FIGURE

    @property
    def is_by_sentence(self) -> bool:
        return any(OWN_SENTENCE in case.notes for case in self.judged)

    @property
    def points(self) -> str:
        """at 5 points; at 2 of 5 points; at 4 of 5 points, the others have no figure"""
        total, judged = len(self.claim.cases), len(self.judged)
        if self.result == NO_FIGURE or total == 1:
            return ""
        if self.result == REFUTED:
            refuting = sum(case.result == FAILS for case in self.judged)
            return f"at {refuting} of {counted(judged, 'point')}"
        return (
            f"at {counted(total, 'point')}" if judged == total else f"at {judged} of {total} points; others: no figure"
        )

    @property
    def numbers(self) -> str:
        """The numbers at the worst point: furthest beyond its bound, else closest to it; without figures, why not."""
        failing = [case for case in self.judged if case.result == FAILS]
        cases = failing or self.judged or self.claim.cases
        worst = (max if failing else min)(cases, key=lambda case: case.distance)
        bounds: dict[str, list[str]] = {}  # of one figure there may be two
        for text in worst.numbers:
            figure, _, bound = text.partition(_CLAIMED)
            bounds.setdefault(figure, []).append(bound.removesuffix(")"))
        words = [
            f"{figure}{_CLAIMED}{' and '.join(texts)})" if texts[0] else figure for figure, texts in bounds.items()
        ]
        return ": ".join(filter(None, (worst.where, "; ".join(words))))

    @property
    def line(self) -> str:
        """as published: holds at 5 points: regressions are small: 0.95× (claimed ≥ 0.9×)"""
        words = f"{self.result} {self.points}".strip()
        note = f" ({OWN_SENTENCE})" if self.is_by_sentence else ""
        return f"as published: {words}: {self.claim.claim}: {self.numbers}{note}"


def judge_as_published(plan: Plan, published: Published) -> list[PublishedClaim]:
    """Judge the claims of a plan, in their order, by published figures."""
    runs, sources = _runs(plan, list(figures(published)))
    axes = arms(plan.axes, [cell.labels for cell in plan.cells], plan.report)
    chosen = [
        point
        for step in dict.fromkeys(run.step for run in runs)
        for point in points(runs, step, [axis.name for axis in touching(axes, step)])
    ]
    evidence = ClaimEvidence(effect=plan.report.smallest_effect, provenance=_Sources(sources).provenance)
    return [PublishedClaim(claim) for claim in judge_claims(plan.report.claims, axes, chosen, evidence=evidence)]


def counts(claims: Sequence[PublishedClaim]) -> str:
    """22 claims: 12 hold, 0 are refuted, 10 have no figure; 8 by tables, 4 by the article's own sentences"""
    results = Counter(claim.result for claim in claims)
    sentences = sum(claim.is_by_sentence for claim in claims)
    judged = results[HOLDS] + results[REFUTED]
    return (
        f"{counted(len(claims), 'claim')}: {results[HOLDS]} hold, {results[REFUTED]} refuted,"
        f" {results[NO_FIGURE]} without a figure; {judged - sentences} of the {judged} by tables,"
        f" {sentences} by the article's own sentence"
    )


def check_labels(plan: Plan, published: Published, problems: Problems) -> None:
    """Report axes and labels of tables that the plan does not have."""
    labels = {axis.name: set(axis.labels) for axis in plan.axes}
    labels[BUILD] = {cell.labels[BUILD] for cell in plan.cells}
    labels[STEP] = {name for cell in plan.cells for step in cell.steps for name in (step.name, step.step or step.name)}
    for table in published.tables:
        used_by_axis: dict[str, set[str]] = {axis: {label} for axis, label in table.where.items()}
        used_by_axis |= {table.columns: set(table.labels), table.rows: set(table.figures)}
        for axis, used in used_by_axis.items():
            if axis != METRIC and not used <= labels.get(axis, set()):
                label = sorted(used - labels.get(axis, set()))[0]
                message = f"{table.file or table.from_}: the spec has no `{axis}` that is called `{label}`"
                problems.add("undefined-name", table.rows.where, message, nearest(label, labels.get(axis, labels)))


Sources = Mapping[tuple[tuple[str, int], str], TableFigure]  # by the place of a run and the metric


def _runs(plan: Plan, published: Sequence[TableFigure]) -> tuple[list[Run], Sources]:
    """Make a run of each step of each cell, with the figures that are published of it."""
    by_step: dict[str | None, list[TableFigure]] = {}
    for figure in published:
        by_step.setdefault(figure.labels.get(STEP), []).append(figure)
    runs: list[Run] = []
    sources: dict[tuple[tuple[str, int], str], TableFigure] = {}
    for cell in plan.cells:
        for number, step in enumerate(cell.steps):
            name, key = step.step or step.name, (cell.id, number)
            labels = {**cell.labels, **step.variables}
            metrics: dict[str, float] = {}
            for figure in (*by_step.get(name, ()), *by_step.get(step.name, ()) * (name != step.name)):
                if all(labels.get(axis) == label for axis, label in figure.labels.items() if axis != STEP):
                    metrics.setdefault(figure.metric, figure.value)
                    sources.setdefault((key, figure.metric), figure)
            runs.append(_run(cell, step, labels, key, metrics))
    return runs, sources


def _run(
    cell: PlannedCell, step: CellStep, labels: Mapping[str, str], key: tuple[str, int], metrics: Mapping[str, float]
) -> Run:
    return Run(
        cell=cell.id,
        labels=labels,
        step=step.step or step.name,
        kind=step.kind,
        measured=step.measured,
        build=cell.labels[BUILD],
        build_id=cell.build,
        client_id=None,
        load=1,
        run=1,
        place=key,
        attempt=None,
        same_as=None,
        status=Status.DONE,
        reason=None,
        log=None,
        started=None,
        warnings=(),
        metrics=metrics,
    )


class _Sources(Struct, frozen=True):
    published: Sources

    def provenance(
        self, comparison: ClaimComparison, chosen: Mapping[Figure, Point], values: Mapping[Figure, float]
    ) -> Provenance:
        """Say why published figures decide nothing, and what is to be known of them."""
        sources = {
            figure: self.published[point.runs[0].place, own_name(figure.metric, point)]
            for figure, point in chosen.items()
        }
        if len({id(source) for source in sources.values()}) < len(sources):
            return Provenance(ONE_FIGURE)
        for figure, source in sources.items():
            if source.table.relative and not _is_free_of_factor(comparison, sources, source, values):
                return Provenance(f"{figure.metric} {RATIOS_ONLY}")
        return Provenance(note=OWN_SENTENCE if any(source.table.sentence for source in sources.values()) else "")


def _is_free_of_factor(
    comparison: ClaimComparison,
    sources: Mapping[Figure, TableFigure],
    scaled: TableFigure,
    values: Mapping[Figure, float],
) -> bool:
    """Decide if a comparison stays as it is when all figures of that table and metric are doubled."""
    factors = {
        figure: 2 if source.table is scaled.table and source.metric == scaled.metric else 1
        for figure, source in sources.items()
    }
    ratio, doubled = ordered(comparison), {figure: factors[figure] * value for figure, value in values.items()}
    ends = [
        evaluate(ratio.lhs, figures_of_run) / evaluate(ratio.rhs, figures_of_run)
        for figures_of_run in (values, doubled)
    ]
    return math.isclose(*ends, rel_tol=1e-9)
