"""Report of a plan, as values: setup, comparisons, tables and notes. Text, page, terminal and exports lay it out."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import chain
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct, field

from stepgrid.model.metrics import QPS, STEADY_QPS
from stepgrid.model.plan import BUILD, HardwareFacts, Plan, PlannedAxis, load_counts, other_loads
from stepgrid.model.records import convert_record, replace
from stepgrid.model.result_schema import QUERY_PLANS
from stepgrid.model.table import Table, group
from stepgrid.model.units import counted
from stepgrid.plan.actions import arms, choose_base
from stepgrid.plugins.durability import step_durability
from stepgrid.plugins.metrics import METRICS, metric_name
from stepgrid.plugins.registry import ANSWERS, PluginError
from stepgrid.summarize import report_tables
from stepgrid.summarize.claims import JudgedClaim
from stepgrid.summarize.comparisons import builds, comparison_axes, decisions
from stepgrid.summarize.comparisons.builds import ReportedBuild
from stepgrid.summarize.comparisons.comparison import Case, ComparedMetric, Comparison, RatioIntervals, ratio_intervals
from stepgrid.summarize.comparisons.comparison_axes import StepPoints
from stepgrid.summarize.comparisons.conditions import Conditions
from stepgrid.summarize.comparisons.decisions import Decision, LoadCosts
from stepgrid.summarize.comparisons.judgement import (
    BESIDE,
    COSTS,
    TAILS,
    RatioEvidence,
    compare,
    judge,
    mark_perhaps,
    pool,
)
from stepgrid.summarize.comparisons.ladders import Ladder
from stepgrid.summarize.comparisons.noise_floor import noise_floors
from stepgrid.summarize.comparisons.work_beside import JUDGED, beside_tables
from stepgrid.summarize.data.points import AxisAnswers, Point, find_searches, points, searched_axes, without_searches
from stepgrid.summarize.data.tables_reader import Place, Run, Tables
from stepgrid.summarize.notes import Doubt, Notes, coverage, doubts, measured_times, operation_coverage, quiet_times
from stepgrid.summarize.rate_curves import RateCurve, find_rate_curves
from stepgrid.summarize.report_tables import TableInputs
from stepgrid.summarize.setup import (
    Links,
    ReportSetup,
    arm_settings,
    common_settings,
    declared_work,
    defaults,
    planned_steps,
    step_settings,
)
from stepgrid.summarize.statistics.verdicts import BUSY

Answer = TypeVar("Answer")
OTHER_SEARCH = "searched over another range or for another limit"
_METRIC_CALL = re.compile(r"\b([a-z]\w*)\(")  # of a claim's expression


class Comparisons(Struct, frozen=True):
    """Answers of a report: figures by step, comparisons by metric and base, claims, changes along ladders."""

    sections: tuple[StepPoints, ...]
    all: tuple[Comparison, ...] = ()  # those of the leading metric first, and of them the one with the report's base
    claims: tuple[JudgedClaim, ...] = ()
    ladders: tuple[Ladder, ...] = ()
    decisions: tuple[Decision, ...] = ()
    supporting: tuple[Comparison, ...] = ()  # what a busy host can still tell of the leading metric's points
    costs: tuple[Comparison, ...] = ()  # what the same work costs
    searches: tuple[AxisAnswers, ...] = ()  # on live grids; their points are in no other table
    rates: tuple[RateCurve, ...] = ()  # with what searches tried

    @property
    def leading(self) -> list[Comparison]:
        return [comparison for comparison in self.all if comparison.metric.name == self.all[0].metric.name]

    @property
    def limits(self) -> list[Comparison]:
        """The comparisons of searched limits that stand beside those of the leading metric."""
        return [comparison for comparison in self.all[len(self.leading) :] if self.is_limit(comparison)]

    def is_limit(self, comparison: Comparison) -> bool:
        return any(search.axis.metric == comparison.metric.name for search in self.searches)

    @property
    def points_by_step(self) -> dict[str, tuple[Point, ...]]:
        return {section.step: section.points for section in self.sections}

    @property
    def differing_steps(self) -> dict[str, set[str]]:
        """Map cells to the steps in which they differ from their base, or others from them."""
        steps: dict[str, set[str]] = {}
        for case in (case for comparison in self.all for case in comparison.cases() if case.entry.is_difference):
            for run in (*case.point.runs[:1], *case.base.runs[:1]):
                steps.setdefault(run.cell, set()).add(run.step)
        return steps

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


class ReportTables(Struct, frozen=True):
    """Tables of a report, in the layouts of published ones."""

    prepared: tuple[Table, ...] = ()
    long: tuple[report_tables.LongTable, ...] = ()
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


class GridAnswer(Struct, frozen=True):
    key: str  # best, pareto, effects: by which programs find it
    title: str
    sentences: tuple[str, ...]  # the first one is the answer
    tables: tuple[Table, ...] = ()
    charts: tuple[str, ...] = ()  # SVG
    loads: tuple[tuple[str, int, str], ...] = ()  # that would tell more: cell, loads, why
    points: tuple[Mapping[str, str], ...] = ()  # that a search would try next
    why: str = ""  # it would
    finalists: tuple[str, ...] = ()  # of a search, by the last stages of their first loads


class GridEvidence(Struct, frozen=True):
    """A report before its answers."""

    plan: Plan
    setup: ReportSetup
    sections: Sequence[StepPoints]  # the points of each measured step
    ratios: RatioEvidence
    intervals: RatioIntervals  # of the tables
    tables: Tables  # without what searches tried
    links: Links
    durability: Callable[[Place], Mapping[str, str] | None]  # what a step that writes promises to its class
    costs: LoadCosts = LoadCosts()
    limits: Mapping[str, Sequence[Point]] = {}  # what searches found, by its metric


# answers: a GridAnswer, a JudgedClaim, a Ladder, a Doubt, or an Explanation
AnswerGrid: TypeAlias = Callable[[GridEvidence], Iterable[Any]]


class Report(Struct, frozen=True, eq=False):
    setup: ReportSetup
    comparisons: Comparisons
    notes: Notes
    tables: ReportTables = field(default_factory=ReportTables)
    data: Tables = Tables((), None, {})  # type: ignore[arg-type]
    against: Callable[[Mapping[str, str]], Report] | None = None  # the report that a spec with this base has
    grid_answers: tuple[GridAnswer, ...] = ()
    explanation: Explanation = field(default_factory=lambda: Explanation())


class Explanation:
    """Reasons of differences, looked for when they are asked for: without a package that does, there are none."""

    none: Collection[str] = ()  # texts of a table's rows that have no cause

    def table(self, report: Report, comparison: Comparison, most: int | None = None) -> Table | None:
        """Tabulate the differences of a comparison, the largest first, of more than `most` the first ones."""
        return None

    def causes(self, report: Report, comparison: Comparison, case: Case) -> list[str]:
        return []

    def by_arm(self, report: Report) -> Mapping[str, Sequence[tuple[str, str]]]:
        """Map bases to arms, each with one of the causes over all its points."""
        return {}

    def line(self, report: Report) -> str:
        """Say in a line of which causes all differences of the report are."""
        return ""


def make_report(
    header: Plan,
    tables: Tables,
    costs: LoadCosts = LoadCosts(),  # noqa: B008
    across: Links | None = None,
    links: Links = lambda _: [],
) -> Report:
    """Compare and judge the figures of a plan.

    `across`: links of two sets of results, whose arms get verdicts wherever they are from; without `links` nothing is
    said of settings.
    """
    searched = searched_axes(header)
    measured = replace(tables, runs=without_searches(header, tables.runs))
    setup, runs = _setup(header, tables, measured, links), measured.runs
    axes, alpha = setup.axes, setup.alpha
    sections = tuple(_section(step, axes, runs) for step in dict.fromkeys(run.step for run in runs if run.measured))
    evidence = _evidence(header, measured, setup.builds, across, links)
    able = comparison_axes.most_able(axes, runs)
    compared_metrics = () if header.tune else setup.metrics  # the tries of a search are no figures to compare
    unjudged = [comparison for metric in compared_metrics for comparison in compare(sections, setup.base, able, metric)]
    intervals = ratio_intervals(unjudged, alpha)
    judged = judge(unjudged, evidence, axes, intervals)
    pooled = [pool(comparison, sections, evidence, alpha) for comparison in judged]
    searches = tuple(find_searches(searched, tables.runs))
    limits = {} if header.tune else _limits(searches, axes)
    of_searches = _judge_limits(limits, evidence, setup, able)
    comparisons = mark_perhaps([*pooled, *of_searches], evidence.effect, alpha)
    judge_by = partial(_judge_by, sections, evidence, setup, able)
    is_busy = any(case.entry.verdict == BUSY for comparison in comparisons for case in comparison.cases())
    inputs = TableInputs(axes, setup.base, measured, evidence.caveat, intervals)
    prepared, long = report_tables.tables(header.report.tables, inputs)
    costs_beside = () if header.report.tables else beside_tables(sections)

    def against(base: Mapping[str, str]) -> Report:
        bases = replace(header.report, base={**setup.base, **base})
        return make_report(replace(header, report=bases), tables, costs, across, links)

    durability = cache(partial(_durability, links))
    limit_points = {metric.name: [point for part in parts for point in part.points] for metric, parts in limits.items()}
    answers = _answers(
        GridEvidence(header, setup, sections, evidence, intervals, measured, links, durability, costs, limit_points)
    )
    pairs = header.until if header.until and not header.until.is_race else None
    until = decisions.DecisionLimits(pairs, evidence.effect, costs) if pairs else None
    return Report(
        setup,
        Comparisons(
            sections=sections,
            all=comparisons,
            supporting=judge_by(BESIDE) if is_busy else (),
            costs=mark_perhaps(judge_by([*chain.from_iterable(COSTS.values()), *TAILS]), evidence.effect, alpha),
            claims=_select(answers, JudgedClaim),
            ladders=_select(answers, Ladder),
            decisions=decisions.decide(comparisons, until) if until else (),
            searches=searches,
            rates=tuple(find_rate_curves(searched, tables.runs)),
        ),
        Notes(
            coverage(tables.runs),  # with what searches tried
            (*doubts(header, setup, tables, sections, comparisons), *_select(answers, Doubt)),
            tuple(quiet_times(runs)),
            operations=operation_coverage(planned_steps(header.cells, axes, links)),
        ),
        ReportTables((*costs_beside, *prepared), tuple(long), bool(header.report.tables)),
        measured,
        against,
        _select(answers, GridAnswer),
        next(iter(_select(answers, Explanation)), Explanation()),
    )


def _answers(evidence: GridEvidence) -> list[Any]:
    answers = [answer for name in ANSWERS.names() for answer in ANSWERS.get(name)(evidence)]
    if evidence.plan.report.claims and not _select(answers, JudgedClaim):
        raise PluginError("no package judges the claims of the spec: the installation lacks a part; run `make setup`")
    return answers


def _select(answers: Iterable[Any], kind: type[Answer]) -> tuple[Answer, ...]:
    return tuple(answer for answer in answers if isinstance(answer, kind))


def adjust(report: Report, change: Callable[[Report], Report]) -> Report:
    """Change a report, and the ones that specs with another base have."""
    against = report.against
    return replace(change(report), against=against and (lambda base: adjust(against(base), change)))


def _judge_by(
    sections: Sequence[StepPoints], evidence: RatioEvidence, setup: ReportSetup, able: str | None, names: Iterable[str]
) -> tuple[Comparison, ...]:
    """Judge the points by metrics that the report does not lead with; less of each is better."""
    measured = {name for section in sections for run in section.runs for name in run.metrics}
    metrics = [ComparedMetric(name, METRICS[name].unit, "lower") for name in names if name in measured & {*METRICS}]
    unjudged = [comparison for metric in metrics for comparison in compare(sections, setup.base, able, metric)]
    return tuple(judge(unjudged, evidence, setup.axes, ratio_intervals(unjudged, setup.alpha)))


def _limits(
    searches: Iterable[AxisAnswers], axes: Sequence[PlannedAxis]
) -> Mapping[ComparedMetric, Sequence[StepPoints]]:
    """Make points of the highest values that hold."""
    limits = [search for search in searches if search.axis.is_boundary]
    metrics = group(
        (ComparedMetric(limit.axis.metric, limit.axis.unit), run) for limit in limits for run in limit.runs()
    )
    return {
        metric: [_section(step, axes, runs) for step in dict.fromkeys(run.step for run in runs)]
        for metric, runs in metrics.items()
    }


def _judge_limits(
    limits: Mapping[ComparedMetric, Sequence[StepPoints]], evidence: RatioEvidence, setup: ReportSetup, able: str | None
) -> Sequence[Comparison]:
    unjudged: list[Comparison] = []
    for metric, sections in limits.items():
        unjudged += compare(sections, setup.base, able, metric)
    return judge(unjudged, evidence, setup.axes, ratio_intervals(unjudged, setup.alpha))


def _setup(header: Plan, tables: Tables, measured: Tables, links: Links) -> ReportSetup:
    """`tables`: with what searches tried."""
    axes = arms(_compared_axes(header, measured), [cell.labels for cell in header.cells], header.report)
    base = choose_base(axes, header.report.base)
    labels = next((axis.labels for axis in axes if axis.name == BUILD), ())
    settings = tuple(arm_settings(header.cells, axes, links))
    imported_loads = [*other_loads(header).values()]
    cores = convert_record(header.hardware, HardwareFacts).cores
    host = f", {counted(cores, 'core')}" if cores is not None else ""
    return ReportSetup(
        title=header.title,
        plan=header.digest,
        request=tables.request,
        spec=header.spec,
        scale=header.scale,
        axes=axes,
        base=base,
        metrics=tuple(_metrics(header, measured)),
        loads=load_counts(header),
        runs=len({repeat.run for cell in header.cells for repeat in cell.repeats}),
        effect=header.report.smallest_effect,
        until=header.until,
        search=header.tune.key if header.tune else "",
        hardware=header.hardware,
        builds=builds.builds(tables.facts.get("build", {}), measured.runs, axes),
        measured=measured_times(tables.runs),
        defaults=defaults(measured, labels, base.get(BUILD)),
        settings=settings,
        common=tuple(common_settings(header.cells, axes, links, settings)),
        steps=tuple(step_settings(header.cells, axes, links)),
        plans=tables.facts.get(QUERY_PLANS, {}),
        engines={build: facts.get("engine", "") for build, facts in tables.facts.get("build", {}).items()},
        imported_loads=max(map(len, imported_loads), default=0),
        other_hosts=len({host for loads in imported_loads for host in loads.values()}),
        memory=_memory(header),
        scale_words=f" ({header.scale}{host})" if header.scale else "",
    )


def _compared_axes(header: Plan, measured: Tables) -> tuple[PlannedAxis, ...]:
    """List the axes; those of searches only where other steps have them, with the labels of these."""
    searched = group((axis.variable, axis.step) for axis in searched_axes(header))
    axes = []
    for axis in header.axes:
        if axis.name not in searched:
            axes.append(axis)
        elif steps := tuple(step for step in axis.steps or () if step not in searched[axis.name]):
            present = {run.labels.get(axis.name) for run in measured.runs}
            axes.append(PlannedAxis(axis.name, tuple(label for label in axis.labels if label in present), steps))
    return tuple(axes)


def _memory(header: Plan) -> float | None:
    """Return the least memory that a measured step or its server may use: that of the host where nothing limits it."""
    setups = [step.setup for stage in header.stages for step in stage.steps if step.measured]
    sizes = [convert_record(header.hardware, HardwareFacts).memory, *(setup.launch.memory for setup in setups)]
    return min((size for size in sizes if size is not None), default=None)


def _metrics(header: Plan, tables: Tables) -> list[ComparedMetric]:
    """List the metrics that are compared: first the spec's choice, else QPS, else the first that a step declares.

    Where all steps are to become steady, their figure stands for QPS.

    QPS, metrics of steps, of claims and of work beside other work follow where one direction is better."""
    measured = {name for run in tables.runs if run.measured for name in run.metrics}
    computed = [metric.name for metric in header.report.derived]
    declared = [name for name in (*header.report.declared, *computed) if name in measured]
    claimed = [name for claim in header.report.claims for name in _METRIC_CALL.findall(claim.expect)]
    is_steady = all(step.setup.until for stage in header.stages for step in stage.steps if step.measured)
    usual = STEADY_QPS if is_steady and STEADY_QPS in declared else QPS
    chosen = header.report.metric or (usual if usual in measured or not declared else declared[0])
    leading, *claimed = (name if name in measured else metric_name(name) or name for name in (chosen, *claimed))
    other_metrics = [
        name
        for name in (QPS, *declared, *claimed, *JUDGED)
        if name in measured and (name == QPS or name in tables.better)
    ]
    units, better = tables.units, tables.better
    return [
        ComparedMetric() if name == QPS else ComparedMetric(name, units.get(name, ""), better.get(name))
        for name in dict.fromkeys((leading, *other_metrics))
    ]


def _section(step: str, axes: Sequence[PlannedAxis], runs: Sequence[Run]) -> StepPoints:
    touching = comparison_axes.touching(axes, step)
    step_points = points(runs, step, [axis.name for axis in touching])
    return StepPoints(step, tuple(touching), tuple(comparison_axes.ordered(step_points, touching)))


def _evidence(
    header: Plan, tables: Tables, known_builds: Mapping[str, ReportedBuild], across: Links | None, links: Links
) -> RatioEvidence:
    machines = {stage.id: stage.hardware for stage in header.stages} if len(header.machines) > 1 else {}
    work = partial(declared_work, header, links)
    is_allowed = header.report.mixed_durability is not None
    durability = cache(partial(_durability, across or links))
    steps = ((stage.id, number, step) for stage in header.stages for number, step in enumerate(stage.steps))
    conditions = Conditions(
        tables,
        header.report.within,
        machines,
        across is not None,
        work,
        durability,
        is_allowed,
        {(stage, number) for stage, number, step in steps if step.setup.until},
    )
    is_shipped, is_strict = header.report.as_shipped is not None, header.report.is_strict

    mixed = {axis.step for axis in searched_axes(header) if axis.is_mixed}

    def refusal(point: Point, base: Point) -> str | None:
        if point.step in mixed:
            return OTHER_SEARCH
        if reason := conditions.refusal(point, base):
            return reason
        return None if is_shipped else builds.refusal(known_builds, point, base, is_strict)

    noise, difference = noise_floors(tables), partial(builds.difference, known_builds)
    return RatioEvidence(
        tables.series,
        header.report.smallest_effect,
        noise,
        refusal,
        conditions.disturbance,
        difference,
        conditions.marks,
    )


def _durability(links: Links, key: Place) -> Mapping[str, str] | None:
    """Map what a step that writes promises to its class, by its options and the defaults of its release.

    None where this is not known."""
    with suppress(PluginError):  # of a kind or engine that is not installed here nothing is known
        for link in links([key[0]]):
            step = link.stage.steps[key[1]]
            options = {name: option.value for name, option in step.options.items()}
            storage_engine = step.setup.storage_engine or ""
            if not (step.measured and step.mutates):
                return {}
            return step_durability(step.kind, step.settings, options, link.build, storage_engine) or None
    return None
