"""Everything that a report says, as values: the text and the page only lay it out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from itertools import islice
from typing import Any

from stepgrid.model.plan import ALPHA, AdaptiveRepeat, Axis, Header, load_counts
from stepgrid.model.table import Table
from stepgrid.plan.actions import arms, choose_base
from stepgrid.summarize import report_tables
from stepgrid.summarize.claims import claim_judgement
from stepgrid.summarize.claims.claim import Claim
from stepgrid.summarize.claims.claim_cases import claims
from stepgrid.summarize.comparisons import (
    builds,
    comparison_axes,
    drift,
    load_decisions,
    measurement_gap,
    multiple_comparisons,
)
from stepgrid.summarize.comparisons.builds import Build
from stepgrid.summarize.comparisons.comparison import Comparison, compare, judge
from stepgrid.summarize.comparisons.conditions import Conditions
from stepgrid.summarize.comparisons.date_ladder import date_ladder, past_figures
from stepgrid.summarize.comparisons.evidence import ComparisonEvidence, evidence
from stepgrid.summarize.comparisons.load_decisions import Decision
from stepgrid.summarize.comparisons.overview import Overview, overviews
from stepgrid.summarize.comparisons.ratio_intervals import ratio_intervals
from stepgrid.summarize.comparisons.version_ladder import Ladder, ladder
from stepgrid.summarize.data import searches
from stepgrid.summarize.data.load_costs import LoadCosts
from stepgrid.summarize.data.points import Point, points
from stepgrid.summarize.data.searches import Search, SearchedAxis
from stepgrid.summarize.data.series import Place, Series
from stepgrid.summarize.data.tables_reader import Run, StepDetails, Tables
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
from stepgrid.summarize.statistics.timeseries import Steadiness


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """One measured step."""

    step: str
    axes: tuple[Axis, ...]
    points: tuple[Point, ...]
    comparisons: tuple[Comparison, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The axes that vary here, for words and rows; with none, the builds."""
        varying = tuple(axis.name for axis in self.axes if len(axis.labels) > 1)
        return varying or (comparison_axes.BUILD,)


@dataclass(frozen=True, eq=False)  # no slots: cached_property needs a dict
class Report:
    title: str
    plan: str
    spec: str
    scale: str | None
    axes: tuple[Axis, ...]
    base: Mapping[str, str]
    loads: tuple[int, int]  # of a cell, the fewest and the most
    runs: int
    effect: float
    hardware: Mapping[str, Any]
    builds: Mapping[str, Build]
    sections: tuple[Section, ...]
    series: Series
    details: StepDetails
    steadiness: Mapping[Place, Steadiness]
    facts: Mapping[str, Mapping[str, Mapping[str, str]]]
    status: Coverage
    measured: tuple[datetime, datetime] | None  # when the first and the last step began
    units: Mapping[str, str]  # of metrics
    warnings: tuple[str, ...]
    defaults: Defaults | None = None
    quiet: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    tables: tuple[Table, ...] = ()
    long: tuple[report_tables.LongTable, ...] = ()
    asked: bool = False  # the tables are those that the spec names
    differs: tuple[str, ...] = ()  # of two sets of results: what they were made of
    ladder: Ladder | None = None  # of versions
    dates: Ladder | None = None
    left_out: tuple[str, ...] = ()  # what only one of them has
    until: AdaptiveRepeat | None = None
    decisions: tuple[Decision, ...] = ()
    searches: tuple[Search, ...] = ()  # on live grids; their points are in no other table
    settings: tuple[ArmSettings, ...] = ()  # of the arms, by axis
    common: tuple[tuple[str, str], ...] = ()  # builds, what all of their arms set
    steps: tuple[StepSettings, ...] = ()

    @property
    def measured_points(self) -> dict[str, tuple[Point, ...]]:
        """By step."""
        return {section.step: section.points for section in self.sections}

    @property
    def ladders(self) -> list[Ladder]:
        return [each for each in (self.ladder, self.dates) if each]

    @property
    def load_requests(self) -> list[tuple[str, int, str]]:
        """Cell, loads, why: of what is undecided, and of what is to be confirmed."""
        asked = load_decisions.requests(self.decisions)
        for claim in self.claims:
            why = f"claim `{claim.claim}` is to be confirmed"
            asked += [(cell, case.wanted, why) for case in claim.cases if case.wanted for cell in case.cells]
        return asked

    @property
    def shown(self) -> list[Table]:
        """Those that were asked for, and of the others what a reader would look at."""
        return [table for table in self.tables if self.asked or not table.is_long]

    @property
    def unshown(self) -> list[tuple[str, str]]:
        """The others' names, and why."""
        made = [(table.name, report_tables.TOO_LONG) for table in self.tables if not self.asked and table.is_long]
        return [*made, *((each.name, each.why) for each in self.long)]

    @cached_property
    def overviews(self) -> list[Overview]:
        """Against the base that was asked for first."""
        found = overviews(self.axes, (table for section in self.sections for table in section.comparisons))
        compared = [each for each in found if each.compares]
        compared.sort(key=lambda each: each.tables[0].layout.base != self.base)
        return [replace(each, is_first=not at) for at, each in enumerate(compared)]


def report(
    header: Header,
    tables: Tables,
    costs: LoadCosts = LoadCosts(),  # noqa: B008
    across_hosts: bool = False,
) -> Report:
    searched = searches.searched_axes(header)
    tables, all_runs = replace(tables, runs=_compared(searched, tables.runs)), tables.runs
    hidden = {axis.variable for axis in searched}
    every = tuple(axis for axis in header.axes if axis.name not in hidden)
    axes = arms(every, [cell.labels for cell in header.cells], header.report)
    base = choose_base(axes, header.report.base)
    effect = header.report.smallest_effect
    known = builds.builds(tables.facts.get("build", {}), tables.runs, every)
    until, shipped = header.until, header.report.as_shipped
    alpha = until.level if until else ALPHA
    machines = {stage.id: stage.hardware for stage in header.stages} if len(header.machines) > 1 else {}
    conditions = Conditions(tables, header.report.within, machines, across_hosts)

    def refused(point: Point, base: Point) -> str | None:
        return None if shipped is not None else builds.refusal(known, point, base, header.report.is_strict)

    beside = evidence(tables, effect, conditions, refused, known)
    sections = _judged([_section(step, axes, base, tables) for step in _measured(tables)], beside, alpha)

    def unlike(point: Point, base: Point) -> str | None:
        if reason := conditions.refusal(point, base) or refused(point, base):
            return f"{builds.NO_VERDICT}: {reason}"
        differing = builds.difference(known, point, base)
        return f"{builds.AS_SHIPPED}: {differing}" if differing else None

    compared = [table for each in sections for table in each.comparisons]
    intervals = ratio_intervals(compared, alpha)
    shown, long = report_tables.tables(
        header.report.tables,
        report_tables.TableInputs(axes, base, tables, unlike, intervals),
    )
    every_point = [point for each in sections for point in each.points]
    noise = claim_judgement.ClaimEvidence(
        partial(beside.floor, axes), intervals.of, alpha, lambda some: intervals.of_loads(some).of
    )
    differing = defaults(tables, _builds(every), base.get(comparison_axes.BUILD))
    return Report(
        title=header.title,
        spec=header.spec,
        scale=header.scale,
        hardware=header.hardware,
        plan=header.digest,
        axes=axes,
        base=base,
        loads=load_counts(header),
        runs=len({repeat.run for cell in header.cells for repeat in cell.repeats}),
        effect=effect,
        builds=known,
        sections=sections,
        series=tables.series,
        details=tables.details,
        steadiness=tables.series.steadiness,
        facts=tables.facts,
        status=coverage.status(all_runs),
        measured=coverage.measured(all_runs),
        units=tables.units,
        warnings=(
            *warnings.scaled(header.scale),
            *warnings.warnings(header.warnings, known, tables, header.report),
            *_far(header, sections),
            *_trends(sections, effect),
            *(differing.sentences if differing else ()),
        ),
        quiet=tuple(quiesce_times.waits(tables.runs)),
        defaults=differing,
        claims=tuple(claims(header.report.claims, axes, every_point, unlike, noise)),
        tables=tuple(shown),
        long=tuple(long),
        ladder=ladder(axes, every_point, effect, beside.apart, partial(beside.floor, axes)),
        dates=date_ladder(axes, every_point, past_figures(tables), effect, partial(beside.floor, axes)),
        asked=bool(header.report.tables),
        until=until,
        decisions=load_decisions.decisions(compared, load_decisions.Limits(until, effect, costs)) if until else (),
        searches=tuple(searches.searches(searched, all_runs)),
    )


def _compared(searched: Sequence[SearchedAxis], runs: Sequence[Run]) -> tuple[Run, ...]:
    """What a search tried differs from load to load: nothing compares its points."""
    return tuple(run for run in runs if not any(axis.has(run) for axis in searched)) if searched else tuple(runs)


def _far(header: Header, sections: Sequence[Section]) -> Iterator[str]:
    if (within := header.report.within) is not None:
        yield from measurement_gap.compared((table for section in sections for table in section.comparisons), within)


def _trends(sections: Sequence[Section], effect: float) -> Iterator[str]:
    for note in (client_cpu, failed_rates, compaction_debt, recall_range, short_runs):
        yield from note.sentences((each.step, each.names, each.points) for each in sections)
    yield from drift.sentences([(section.step, section.points) for section in sections])
    yield from multiple_comparisons.sentences([table for section in sections for table in section.comparisons], effect)


def _builds(axes: Sequence[Axis]) -> tuple[str, ...]:
    return next((axis.labels for axis in axes if axis.name == comparison_axes.BUILD), ())


def _measured(tables: Tables) -> list[str]:
    return list(dict.fromkeys(run.step for run in tables.runs if run.measured))


def _section(step: str, axes: Sequence[Axis], base: Mapping[str, str], tables: Tables) -> Section:
    touching = comparison_axes.touching(axes, step)
    found = comparison_axes.ordered(points(tables.runs, step, [axis.name for axis in touching]), touching)
    compared = [
        compare(step, form, touching, found)
        for form in comparison_axes.layouts(touching, base, comparison_axes.most_able(axes, tables.runs))
    ]
    shown = tuple(table for table in compared if table.worth_showing)
    return Section(step, tuple(touching), tuple(found), shown)


def _judged(sections: Sequence[Section], beside: ComparisonEvidence, alpha: float) -> tuple[Section, ...]:
    every = [(table, beside(table.layout, each.axes)) for each in sections for table in each.comparisons]
    found = iter(judge(every, alpha))
    return tuple(replace(each, comparisons=tuple(islice(found, len(each.comparisons)))) for each in sections)
