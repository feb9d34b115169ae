"""Report of a plan, as values: setup, comparisons, tables and notes. Text, page, terminal and exports lay it out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from stepgrid.model.metrics import QPS
from stepgrid.model.plan import ALPHA, BUILD, Axis, Header, load_counts
from stepgrid.model.table import Table
from stepgrid.plan.actions import arms, choose_base
from stepgrid.summarize import claim_judgement, report_tables
from stepgrid.summarize.claims import Claim, judge_claims
from stepgrid.summarize.comparisons import (
    builds,
    comparison_axes,
    decisions,
)
from stepgrid.summarize.comparisons.builds import Build
from stepgrid.summarize.comparisons.comparison import ComparedMetric, Comparison, ratio_intervals
from stepgrid.summarize.comparisons.comparison_axes import Section
from stepgrid.summarize.comparisons.conditions import Conditions
from stepgrid.summarize.comparisons.decisions import Decision, LoadCosts
from stepgrid.summarize.comparisons.judgement import Evidence, compare, judge, pool
from stepgrid.summarize.comparisons.ladders import Ladder, date_ladder, version_ladder
from stepgrid.summarize.comparisons.noise_floor import noise_floors
from stepgrid.summarize.data import searches
from stepgrid.summarize.data.points import Point, points
from stepgrid.summarize.data.searches import Search
from stepgrid.summarize.data.tables_reader import Run, Tables
from stepgrid.summarize.notes import Notes, coverage, doubts, measured_times, quiet_times
from stepgrid.summarize.report_tables import TableInputs
from stepgrid.summarize.setup import Setup, defaults

_METRIC_CALL = re.compile(r"\b([a-z]\w*)\(")  # of a claim's expression


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Answers of a report: figures by step, comparisons by metric and base, claims, changes along ladders."""

    sections: tuple[Section, ...]
    all: tuple[Comparison, ...] = ()  # those of the leading metric first, and of them the one with the report's base
    claims: tuple[Claim, ...] = ()
    ladders: tuple[Ladder, ...] = ()
    decisions: tuple[Decision, ...] = ()
    searches: tuple[Search, ...] = ()  # on live grids; their points are in no other table

    @property
    def leading(self) -> list[Comparison]:
        return [comparison for comparison in self.all if comparison.metric.name == self.all[0].metric.name]

    @property
    def points_by_step(self) -> dict[str, tuple[Point, ...]]:
        return {section.step: section.points for section in self.sections}

    @property
    def load_requests(self) -> list[tuple[str, int, str]]:
        """List cell, loads and why: of what is undecided, and of claims that are to be confirmed."""
        requests = decisions.load_requests(self.decisions)
        for claim in self.claims:
            why = f"claim `{claim.claim}` is to be confirmed"
            requests += [
                (cell, case.needed_loads, why) for case in claim.cases if case.needed_loads for cell in case.cells
            ]
        return requests


@dataclass(frozen=True, slots=True)
class ReportTables:
    """Tables of a report, in the layouts of published ones."""

    prepared: tuple[Table, ...] = ()
    long: tuple[report_tables.LongTable, ...] = ()  # made when someone wants them
    are_chosen: bool = False  # by the spec

    @property
    def visible(self) -> list[Table]:
        return [table for table in self.prepared if self.are_chosen or not table.is_long]

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """List the names of the others, and why they are not shown."""
        long = [
            (table.name, report_tables.TOO_LONG) for table in self.prepared if not self.are_chosen and table.is_long
        ]
        return [*long, *((table.name, table.why) for table in self.long)]


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    setup: Setup
    comparisons: Comparisons
    notes: Notes
    tables: ReportTables = field(default_factory=ReportTables)
    data: Tables = field(repr=False, default=Tables((), None, {}))  # type: ignore[arg-type]


def make_report(
    header: Header,
    tables: Tables,
    costs: LoadCosts = LoadCosts(),  # noqa: B008
    across_hosts: bool = False,
) -> Report:
    """Compare and judge the figures of a plan. `across_hosts`: arms of different hosts get verdicts."""
    subject = _subject(header, tables, across_hosts)
    axes, evidence, metric = subject.axes, subject.evidence, subject.metrics[0]
    comparisons = _compare(subject)
    intervals = ratio_intervals(comparisons, subject.alpha)
    caveat = partial(_caveat, evidence)
    inputs = TableInputs(axes, subject.base, subject.tables, caveat, intervals)
    prepared, long = report_tables.tables(header.report.tables, inputs)
    ladders = (
        version_ladder(axes, subject.points, evidence, metric),
        date_ladder(axes, subject.points, subject.tables, evidence) if metric.name == QPS else None,
    )
    claim_evidence = claim_judgement.ClaimEvidence(
        lambda metric, point, other: evidence.floor(point, other, axes, metric),
        intervals.interval,
        subject.alpha,
        lambda is_included: intervals.of_loads(is_included).interval,
    )
    limits = decisions.Limits(header.until, evidence.effect, costs) if header.until else None
    setup = _setup(subject, tables)
    return Report(
        setup,
        Comparisons(
            sections=subject.sections,
            all=tuple(comparisons),
            claims=tuple(judge_claims(header.report.claims, axes, subject.points, caveat, claim_evidence)),
            ladders=tuple(ladder for ladder in ladders if ladder),
            decisions=decisions.decide(comparisons, limits) if limits else (),
            searches=tuple(searches.searches(searches.searched_axes(header), tables.runs)),
        ),
        Notes(
            coverage(tables.runs),  # with what searches tried
            tuple(doubts(header, setup, subject.tables, subject.sections, comparisons)),
            tuple(quiet_times(subject.tables.runs)),
        ),
        ReportTables(tuple(prepared), tuple(long), bool(header.report.tables)),
        subject.tables,
    )


@dataclass(frozen=True, slots=True)
class _Subject:
    """Figures to be compared, without those that searches tried: these differ from load to load."""

    header: Header
    tables: Tables
    axes: tuple[Axis, ...]
    base: Mapping[str, str]
    builds: Mapping[str, Build]
    metrics: Sequence[ComparedMetric]  # the leading one first
    sections: tuple[Section, ...]
    evidence: Evidence
    alpha: float

    @property
    def points(self) -> list[Point]:
        return [point for section in self.sections for point in section.points]


def _subject(header: Header, tables: Tables, across_hosts: bool) -> _Subject:
    searched = searches.searched_axes(header)
    hidden = {axis.variable for axis in searched}
    tables = replace(tables, runs=tuple(run for run in tables.runs if not any(axis.has(run) for axis in searched)))
    compared_axes = tuple(axis for axis in header.axes if axis.name not in hidden)
    axes = arms(compared_axes, [cell.labels for cell in header.cells], header.report)
    known_builds = builds.builds(tables.facts.get("build", {}), tables.runs, axes)
    steps = dict.fromkeys(run.step for run in tables.runs if run.measured)
    return _Subject(
        header=header,
        tables=tables,
        axes=axes,
        base=choose_base(axes, header.report.base),
        builds=known_builds,
        metrics=_metrics(header, tables),
        sections=tuple(_section(step, axes, tables.runs) for step in steps),
        evidence=_evidence(header, tables, known_builds, across_hosts),
        alpha=header.until.level if header.until else ALPHA,
    )


def _metrics(header: Header, tables: Tables) -> list[ComparedMetric]:
    """List the metrics that are compared: first the spec's choice, else QPS, else the first that a step declares.

    QPS, metrics that steps declare, and those of claims follow where one direction is better."""
    measured = {name for run in tables.runs if run.measured for name in run.metrics}
    declared = [name for name in header.report.declared if name in measured]
    claimed = [name for claim in header.report.claims for name in _METRIC_CALL.findall(str(claim["expect"]))]
    leading = header.report.metric or (QPS if QPS in measured or not declared else declared[0])
    other_metrics = [
        name for name in (QPS, *declared, *claimed) if name in measured and (name == QPS or name in tables.better)
    ]
    units, better = tables.units, tables.better
    return [
        ComparedMetric() if name == QPS else ComparedMetric(name, units.get(name, ""), better.get(name))
        for name in dict.fromkeys((leading, *other_metrics))
    ]


def _section(step: str, axes: Sequence[Axis], runs: Sequence[Run]) -> Section:
    touching = comparison_axes.touching(axes, step)
    step_points = points(runs, step, [axis.name for axis in touching])
    return Section(step, tuple(touching), tuple(comparison_axes.ordered(step_points, touching)))


def _evidence(header: Header, tables: Tables, known_builds: Mapping[str, Build], across_hosts: bool) -> Evidence:
    machines = {stage.id: stage.hardware for stage in header.stages} if len(header.machines) > 1 else {}
    conditions = Conditions(tables, header.report.within, machines, across_hosts)
    is_shipped, is_strict = header.report.as_shipped is not None, header.report.is_strict

    def refusal(point: Point, base: Point) -> str | None:
        if reason := conditions.refusal(point, base):
            return reason
        return None if is_shipped else builds.refusal(known_builds, point, base, is_strict)

    return Evidence(
        tables.series,
        header.report.smallest_effect,
        noise_floors(tables),
        refusal,
        partial(builds.difference, known_builds),
        conditions.marks,
    )


def _caveat(evidence: Evidence, point: Point, base: Point) -> str | None:
    """Say for tables and claims why two points get no verdict, or get one as shipped."""
    if refusal := evidence.refusal(point, base):
        return f"{builds.NO_VERDICT}: {refusal}"
    difference = evidence.shipped(point, base)
    return f"{builds.AS_SHIPPED}: {difference}" if difference else None


def _compare(subject: _Subject) -> list[Comparison]:
    able = comparison_axes.most_able(subject.axes, subject.tables.runs)
    unjudged = [
        comparison for metric in subject.metrics for comparison in compare(subject.sections, subject.base, able, metric)
    ]
    judged = judge(unjudged, subject.evidence, subject.axes, subject.alpha)
    return [pool(comparison, subject.sections, subject.evidence, subject.alpha) for comparison in judged]


def _setup(subject: _Subject, tables: Tables) -> Setup:
    """`tables`: with what searches tried."""
    header, axes = subject.header, subject.axes
    labels = next((axis.labels for axis in axes if axis.name == BUILD), ())
    return Setup(
        title=header.title,
        plan=header.digest,
        spec=header.spec,
        scale=header.scale,
        axes=axes,
        base=subject.base,
        metric=subject.metrics[0],
        metrics=tuple(subject.metrics),
        loads=load_counts(header),
        runs=len({repeat.run for cell in header.cells for repeat in cell.repeats}),
        effect=subject.evidence.effect,
        until=header.until,
        hardware=header.hardware,
        builds=subject.builds,
        measured=measured_times(tables.runs),
        units=tables.units,
        defaults=defaults(subject.tables, labels, subject.base.get(BUILD)),
    )
