"""Report of a plan, as values: setup, comparisons, tables and notes. Text, page, terminal and exports lay it out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from stepgrid.model.metrics import QPS
from stepgrid.model.plan import ALPHA, BUILD, AdaptiveRepeat, Axis, Header, load_counts
from stepgrid.model.table import Table
from stepgrid.plan.actions import arms, choose_base
from stepgrid.summarize import claim_judgement, report_tables
from stepgrid.summarize.claim_cases import judge_claims
from stepgrid.summarize.claims import Claim
from stepgrid.summarize.comparisons import (
    builds,
    comparison_axes,
    decisions,
    drift,
    measurement_gap,
    multiple_comparisons,
)
from stepgrid.summarize.comparisons.builds import Build
from stepgrid.summarize.comparisons.comparison import ComparedMetric, Comparison
from stepgrid.summarize.comparisons.comparison_axes import Section
from stepgrid.summarize.comparisons.conditions import Conditions
from stepgrid.summarize.comparisons.decisions import Decision
from stepgrid.summarize.comparisons.judgement import Evidence, compare, judge, pool
from stepgrid.summarize.comparisons.ladders import Ladder, date_ladder, version_ladder
from stepgrid.summarize.comparisons.noise_floor import noise_floors
from stepgrid.summarize.comparisons.ratio_intervals import ratio_intervals
from stepgrid.summarize.data import searches
from stepgrid.summarize.data.load_costs import LoadCosts
from stepgrid.summarize.data.points import Point, points
from stepgrid.summarize.data.searches import Search, SearchedAxis
from stepgrid.summarize.data.tables_reader import Run, Tables
from stepgrid.summarize.notes import (
    client_cpu,
    compaction_debt,
    coverage,
    failed_rates,
    quiesce_times,
    recall_range,
    short_runs,
    warnings,
)
from stepgrid.summarize.notes.arm_settings import ArmSettings
from stepgrid.summarize.notes.coverage import Coverage
from stepgrid.summarize.notes.option_defaults import Defaults, defaults
from stepgrid.summarize.notes.step_settings import StepSettings
from stepgrid.summarize.table_blocks import TableInputs

_METRIC_CALL = re.compile(r"\b([a-z]\w*)\(")  # of a claim's expression


@dataclass(frozen=True, slots=True)
class Setup:
    """Subject of a report: what was run, how often, on what."""

    title: str
    plan: str
    spec: str
    scale: str | None
    axes: tuple[Axis, ...]
    base: Mapping[str, str]
    metric: ComparedMetric  # that the report leads with
    loads: tuple[int, int]  # of a cell, the fewest and the most
    runs: int
    effect: float  # the smallest that counts
    until: AdaptiveRepeat | None
    hardware: Mapping[str, Any]
    builds: Mapping[str, Build]
    measured: tuple[datetime, datetime] | None  # when the first and the last step began
    units: Mapping[str, str]  # of metrics
    defaults: Defaults | None = None  # of options that the spec leaves alone
    settings: tuple[ArmSettings, ...] = ()  # of the arms, by axis
    common: tuple[tuple[str, str], ...] = ()  # builds, what all of their arms set
    steps: tuple[StepSettings, ...] = ()


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
        requests = decisions.requests(self.decisions)
        for claim in self.claims:
            why = f"claim `{claim.claim}` is to be confirmed"
            requests += [
                (cell, case.needed_loads, why) for case in claim.cases if case.needed_loads for cell in case.cells
            ]
        return requests


@dataclass(frozen=True, slots=True)
class ReportTables:
    """Tables of a report, in the layouts of published ones."""

    made: tuple[Table, ...] = ()
    long: tuple[report_tables.LongTable, ...] = ()  # made when someone wants them
    are_chosen: bool = False  # by the spec

    @property
    def shown(self) -> list[Table]:
        return [table for table in self.made if self.are_chosen or not table.is_long]

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """List the names of the others, and why they are not shown."""
        long = [(table.name, report_tables.TOO_LONG) for table in self.made if not self.are_chosen and table.is_long]
        return [*long, *((table.name, table.why) for table in self.long)]


@dataclass(frozen=True, slots=True)
class Notes:
    """Doubts and gaps: what a reader must know before believing a figure."""

    coverage: Coverage
    warnings: tuple[str, ...] = ()
    quiet: tuple[str, ...] = ()
    differs: tuple[str, ...] = ()  # inputs of two sets of results
    left_out: tuple[str, ...] = ()  # what only one of them has


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
    searched = searches.searched_axes(header)
    compared_runs = tuple(run for run in tables.runs if not any(axis.has(run) for axis in searched))
    all_runs, tables = tables.runs, replace(tables, runs=compared_runs)
    axes, base = _axes_and_base(header, searched)
    metrics = _metrics(header, tables)
    known_builds = builds.builds(tables.facts.get("build", {}), tables.runs, axes)
    sections = tuple(_section(step, axes, tables.runs) for step in _measured_steps(tables.runs))
    evidence = _evidence(header, tables, known_builds, across_hosts)
    alpha = header.until.level if header.until else ALPHA
    comparisons = _compare(sections, base, metrics, evidence, axes, tables.runs, alpha)
    intervals = ratio_intervals(comparisons, alpha)
    all_points = [point for section in sections for point in section.points]
    claim_evidence = claim_judgement.ClaimEvidence(
        lambda metric, point, other: evidence.floor(point, other, axes, metric),
        intervals.of,
        alpha,
        lambda is_counted: intervals.of_loads(is_counted).of,
    )
    caveat = partial(_caveat, evidence)
    inputs = TableInputs(axes, base, tables, caveat, intervals)
    made, long = report_tables.tables(header.report.tables, inputs)
    ladders = (
        version_ladder(axes, all_points, evidence, metrics[0]),
        date_ladder(axes, all_points, tables, evidence) if metrics[0].name == QPS else None,
    )
    limits = decisions.Limits(header.until, evidence.effect, costs) if header.until else None
    labels = next((axis.labels for axis in axes if axis.name == BUILD), ())
    differing = defaults(tables, labels, base.get(BUILD))
    return Report(
        Setup(
            title=header.title,
            plan=header.digest,
            spec=header.spec,
            scale=header.scale,
            axes=axes,
            base=base,
            metric=metrics[0],
            loads=load_counts(header),
            runs=len({repeat.run for cell in header.cells for repeat in cell.repeats}),
            effect=evidence.effect,
            until=header.until,
            hardware=header.hardware,
            builds=known_builds,
            measured=coverage.measured(all_runs),
            units=tables.units,
            defaults=differing,
        ),
        Comparisons(
            sections=sections,
            all=tuple(comparisons),
            claims=tuple(judge_claims(header.report.claims, axes, all_points, caveat, claim_evidence)),
            ladders=tuple(ladder for ladder in ladders if ladder),
            decisions=decisions.decisions(comparisons, limits) if limits else (),
            searches=tuple(searches.searches(searched, all_runs)),
        ),
        Notes(
            coverage=coverage.status(all_runs),
            warnings=tuple(_warnings(header, tables, known_builds, sections, comparisons, differing)),
            quiet=tuple(quiesce_times.waits(tables.runs)),
        ),
        ReportTables(tuple(made), tuple(long), bool(header.report.tables)),
        tables,
    )


def _axes_and_base(header: Header, searched: Sequence[SearchedAxis]) -> tuple[tuple[Axis, ...], Mapping[str, str]]:
    """Leave out the axes of searches: what they tried differs from load to load, and nothing compares it."""
    hidden = {axis.variable for axis in searched}
    axes = arms(
        tuple(axis for axis in header.axes if axis.name not in hidden),
        [cell.labels for cell in header.cells],
        header.report,
    )
    return axes, choose_base(axes, header.report.base)


def _metrics(header: Header, tables: Tables) -> list[ComparedMetric]:
    """List the metrics that are compared, the leading one first: QPS, the spec's choice or its first own metric.

    Metrics that steps declare follow where one direction is better, then those of claims."""
    measured = {name for run in tables.runs if run.measured for name in run.metrics}
    declared = [name for name in header.report.declared if name in measured]
    claimed = [name for claim in header.report.claims for name in _METRIC_CALL.findall(str(claim["expect"]))]
    names = [header.report.metric or (QPS if QPS in measured or not declared else declared[0])]
    names += [name for name in (*declared, *claimed) if name in measured and name in tables.better and name != QPS]
    units, better = tables.units, tables.better
    return [
        ComparedMetric() if name == QPS else ComparedMetric(name, units.get(name, ""), better.get(name))
        for name in dict.fromkeys(names)
    ]


def _measured_steps(runs: Sequence[Run]) -> list[str]:
    return list(dict.fromkeys(run.step for run in runs if run.measured))


def _section(step: str, axes: Sequence[Axis], runs: Sequence[Run]) -> Section:
    touching = comparison_axes.touching(axes, step)
    step_points = comparison_axes.ordered(points(runs, step, [axis.name for axis in touching]), touching)
    return Section(step, tuple(touching), tuple(step_points))


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


def _compare(
    sections: Sequence[Section],
    base: Mapping[str, str],
    metrics: Sequence[ComparedMetric],
    evidence: Evidence,
    axes: Sequence[Axis],
    runs: Sequence[Run],
    alpha: float,
) -> list[Comparison]:
    able = comparison_axes.most_able(axes, runs)
    unjudged = [comparison for metric in metrics for comparison in compare(sections, base, able, metric)]
    return [pool(comparison, sections, evidence, alpha) for comparison in judge(unjudged, evidence, axes, alpha)]


def _warnings(
    header: Header,
    tables: Tables,
    known_builds: Mapping[str, Build],
    sections: Sequence[Section],
    comparisons: Sequence[Comparison],
    differing: Defaults | None,
) -> Iterator[str]:
    yield from warnings.scaled(header.scale)
    yield from warnings.warnings(header.warnings, known_builds, tables, header.report)
    if (within := header.report.within) is not None:
        yield from measurement_gap.compared(comparisons, within)
    for note in (client_cpu, failed_rates, compaction_debt, recall_range, short_runs):
        yield from note.sentences((section.step, section.names, section.points) for section in sections)
    yield from drift.sentences([(section.step, section.points) for section in sections])
    yield from multiple_comparisons.sentences(comparisons, header.report.smallest_effect)
    yield from differing.sentences if differing else ()
