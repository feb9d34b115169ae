"""The finding that a script is to reproduce: two cells, a step, its ratio, and what both arms run up to there."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from stepgrid.build.commands import mask_credentials
from stepgrid.errors import PROBLEMS, StepgridError
from stepgrid.host.failure import StageError, UnsupportedError
from stepgrid.language.problems import nearest
from stepgrid.model import units
from stepgrid.model.metrics import QPS
from stepgrid.model.plan import BUILD, Option, Plan, PlannedCell, PlannedStage, PlannedStep, recipe_flags
from stepgrid.model.records import BuildRecord, recipe_patches, replace
from stepgrid.package import __version__
from stepgrid.plugins import metrics
from stepgrid.plugins.driver import PrintedFigures, Waiting
from stepgrid.plugins.registry import driver, server_engine
from stepgrid.run import options
from stepgrid.run.attempt import InstalledBuild, Job
from stepgrid.store.results import result_seconds
from stepgrid.store.store import Store
from stepgrid.summarize.comparisons.builds import quality_rows
from stepgrid.summarize.comparisons.comparison import ComparedMetric, ratio_text
from stepgrid.summarize.comparisons.judgement import verdict_of
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.report import Report
from stepgrid.summarize.setup import host_line
from stepgrid.summarize.statistics.confidence_intervals import Interval, intervals, sample
from stepgrid.summarize.statistics.verdicts import DIFFERENCES
from stepgrid_answers.causes import causes
from stepgrid_answers.changes import counter_changes
from stepgrid_answers.why import why

CPU, OPERATIONS = "cpu_us_per_op", "operations"  # a shell counts the CPU of its children itself


class ReproError(StepgridError):
    """A finding that no script can reproduce, or that is not there yet."""

    status = PROBLEMS

    def __init__(self, sentence: str, hint: str = "") -> None:
        super().__init__(sentence)
        self.hint = hint


class ReproQuestion(NamedTuple):
    """Words of the command: a cell, and what it is compared with, at which step, by which metric."""

    cell: PlannedCell
    against: PlannedCell | None = None
    step: str | None = None
    metric: str | None = None


class ReproFinding(Struct, frozen=True):
    """A ratio of a step of two cells."""

    title: str
    spec: str
    cells: tuple[PlannedCell, PlannedCell]  # the base first
    step: str
    metric: ComparedMetric
    interval: Interval
    verdict: str  # empty: none was given
    points: tuple[Point, Point]  # of the report, the base first
    reported: str = ""  # ratio of the report: a smaller script has one of its own
    causes: tuple[str, ...] = ()  # that the report names
    host: tuple[tuple[str, str], ...] = ()

    @property
    def expected(self) -> str:
        """0.93 [0.91, 0.95]"""
        return ratio_text(self.interval.ratio, self.interval)

    @property
    def is_difference(self) -> bool:
        return self.verdict in DIFFERENCES

    @property
    def figures(self) -> list[str]:
        """Write the figures of both, of the loads that both have: 136k operations/s (130k to 139k)."""
        loads = set.intersection(*(set(point.values(self.metric.name)) for point in self.points))
        return [_spread_text(point.of_loads(loads.__contains__), self.metric) for point in self.points]

    def name(self, cell: PlannedCell) -> str:
        """Name a cell by the axes in which the two differ."""
        labels = [[other.labels.get(axis) for other in self.cells] for axis in cell.labels]
        names = [axis for axis, (one, other) in zip(cell.labels, labels, strict=True) if one != other]
        return ", ".join(cell.labels[axis] if axis == BUILD else f"{axis}={cell.labels[axis]}" for axis in names)


class ReproArm(Struct, frozen=True):
    """Stages that a cell runs for one figure, with the options that its build takes."""

    letter: str
    name: str
    stages: tuple[PlannedStage, ...]
    builds: Mapping[str, InstalledBuild]
    folder: Path  # of its engine's build
    seconds: float  # that its stages took
    waits: tuple[str, ...]  # steps that stepgrid itself waits in: no program does that

    @property
    def build(self) -> str:
        """rocksdb 9.10.0 (debian rocksdb-tools, suite trixie)"""
        record = self.builds[self.stages[0].build].record
        source = ", ".join(f"{key} {value}" for key, value in _source(record).items())
        return f"{record.engine} {record.version} ({source})"

    def build_lines(self) -> Iterator[str]:
        """Say how its builds were made: commands where there are some, flags and commit."""
        for build in self.builds.values():
            yield from _build_lines(build.record)

    @property
    def steps(self) -> list[PlannedStep]:
        return [step for stage in self.stages for step in stage.steps]


def _source(record: BuildRecord) -> dict[str, str]:
    return {key: mask_credentials(value) for key, value in record.source.items() if isinstance(value, str)}


def _build_lines(record: BuildRecord) -> Iterator[str]:
    source, recipe = _source(record), record.declared.recipe if record.declared else {}
    yield f"{record.engine} {record.version}"
    if "git" in source and record.commit:
        yield f"  git clone {shlex.quote(source['git'])} source && git -C source checkout {record.commit}"
    elif "debian" in source and record.artifacts:
        yield f"  apt-get install {record.artifacts[0].name}={record.artifacts[0].version}  # {source.get('suite', '')}"
    else:
        yield f"  source: {', '.join(f'{key} {value}' for key, value in source.items())}"
    for patch in recipe_patches(recipe):
        yield f"  git -C source apply {shlex.quote(patch.path)}  # sha256 {patch.sha256}"
    flags = [f"{name}: {value}" for name, value in recipe_flags(recipe).items()]
    quality = [f"{name} {value}" for name, value in quality_rows(record.quality or {}) if value]
    yield from (f"  {title}: {'; '.join(texts)}" for title, texts in (("flags", flags), ("built as", quality)) if texts)


def find(report: Report, plan: Plan, question: ReproQuestion) -> ReproFinding:
    """Find the clearest difference that the words leave open."""
    metric = _choose_metric(report, question.metric)
    names = [step.name for step in question.cell.steps if step.measured]
    if question.step is not None and question.step not in names:
        raise ReproError(f"the cell has no measured step `{question.step}`: {nearest(question.step, names)}")
    findings = [*_compared(report, plan, question, metric), *_neighbours(report, plan, question, metric)]
    findings = [finding for finding in findings if question.step in (None, finding.step)]
    if not findings:
        raise _explain_absence(plan, question, metric)
    finding = max(findings, key=lambda finding: (finding.is_difference, abs(finding.interval.ratio - 1)))
    host = tuple(_host_rows(report))
    return replace(finding, reported=finding.expected, causes=tuple(_explain(report, finding)), host=host)


def _explain(report: Report, finding: ReproFinding) -> list[str]:
    """List the causes that the report has for these two points, then the engine's counters that changed most."""
    base, point = finding.points
    growth = report.data.details.counters({run.place for side in finding.points for run in side.runs})
    counters = counter_changes(growth, point, base)
    for comparison in report.comparisons.all:
        for case in comparison.cases():
            if case.point is point and case.base is base:
                return [*why(comparison, case, report.setup, report.data.details, growth), *counters]
    return [*(cause.text for cause in causes(point, base, growth, finding.metric, report.data.details)), *counters]


def _host_rows(report: Report) -> Iterator[tuple[str, str]]:
    hosts = report.data.facts.get("host", {})
    yield "Host", host_line(report.setup.hardware, hosts)
    for name in dict.fromkeys(facts["os"] for facts in hosts.values() if "os" in facts):
        yield "System", name
    if report.setup.measured:
        yield "Measured", f"{report.setup.measured[0]:%Y-%m-%d}, by stepgrid {__version__}"


def _spread_text(point: Point, metric: ComparedMetric) -> str:
    spread = point.spread(metric.name)
    if spread is None:
        return "none"
    middle, least, most = (units.figure(value, metric.unit) for value in spread)
    return f"{middle} {'' if metric.unit == 'B' else metric.unit}".rstrip() + f" ({least} to {most})"


def _choose_metric(report: Report, name: str | None) -> ComparedMetric:
    compared = {comparison.metric.name: comparison.metric for comparison in report.comparisons.all}
    chosen = name or next(iter(compared), QPS)
    if chosen in compared:
        return compared[chosen]
    units, better = report.data.units, report.data.better
    if chosen not in {**units, **metrics.METRICS}:
        raise ReproError(f"there is no metric `{chosen}`: {nearest(chosen, {**units, **metrics.METRICS})}")
    return ComparedMetric(chosen, units.get(chosen, ""), better.get(chosen))


def _compared(report: Report, plan: Plan, question: ReproQuestion, metric: ComparedMetric) -> Iterator[ReproFinding]:
    """List the ratios about the cell at points that the report compares, by whatever metric."""
    for comparison in report.comparisons.all:
        for case in comparison.cases():
            base = {**question.cell.labels, **comparison.layout.base}
            against = question.against or next((cell for cell in plan.cells if cell.labels == base), None)
            if against and _is_at(case.point, question.cell) and _is_at(case.base, against):
                cells = against, question.cell
                if comparison.metric != metric:
                    yield from _measure(plan, cells, (case.base, case.point), metric)
                elif case.entry.interval:
                    interval, verdict = case.entry.interval, case.entry.verdict or ""
                    points = case.base, case.point
                    yield ReproFinding(plan.title, plan.spec, cells, case.row.step, metric, interval, verdict, points)


def _neighbours(report: Report, plan: Plan, question: ReproQuestion, metric: ComparedMetric) -> Iterator[ReproFinding]:
    """List the ratios of two cells that the report does not compare."""
    for section in report.comparisons.sections if question.against else ():
        bases = [point for point in section.points if question.against and _is_at(point, question.against)]
        for point in (point for point in section.points if _is_at(point, question.cell)):
            if bases and question.against and bases[0] is not point:
                yield from _measure(plan, (question.against, question.cell), (bases[0], point), metric)


def _measure(
    plan: Plan, cells: tuple[PlannedCell, PlannedCell], points: tuple[Point, Point], metric: ComparedMetric
) -> Iterator[ReproFinding]:
    base, point = points
    interval = intervals([sample(point.values(metric.name), base.values(metric.name))])[0]
    if interval:
        verdict = verdict_of(interval, plan.report.smallest_effect, metric)
        yield ReproFinding(plan.title, plan.spec, cells, point.step, metric, interval, verdict, points)


def _is_at(point: Point, cell: PlannedCell) -> bool:
    return all(cell.labels.get(axis) == label for axis, label in point.labels.items())


def _explain_absence(plan: Plan, question: ReproQuestion, metric: ComparedMetric) -> ReproError:
    name = ", ".join(f"{axis}={label}" for axis, label in question.cell.labels.items())
    base = plan.report.base
    if question.against is None and base and all(question.cell.labels.get(axis) == base[axis] for axis in base):
        return ReproError(f"{name} is the base of the report: name another cell, or one to compare it with `--against`")
    step = f" of `{question.step}`" if question.step else ""
    sentence = f"{name} has no ratio of {metric.title}{step} over two loads or more"
    return ReproError(
        sentence, f"`stepgrid run {plan.spec}` measures it; `stepgrid status {plan.spec}` shows how far it is"
    )


# What an arm runs


def make_arms(store: Store, plan: Plan, finding: ReproFinding) -> tuple[ReproArm, ReproArm]:
    """Resolve both arms; ReproError where a script cannot read the figure."""
    base, arm = (
        _make_arm(store, plan, finding, cell, letter) for cell, letter in zip(finding.cells, "AB", strict=True)
    )
    figures = printed_figures(arm.steps[-1])
    engines = {build.record.engine for build in (*base.builds.values(), *arm.builds.values())}
    is_cpu = finding.metric.name == CPU and OPERATIONS in figures and not any(map(server_engine, engines))
    if finding.metric.name not in figures and not is_cpu:
        kind = arm.steps[-1].kind
        printed = nearest(finding.metric.name, figures) if figures else f"a `{kind}` prints none"
        raise ReproError(
            f"`{finding.metric.name}` of `{finding.step}` is no figure that its program prints on a line of its own",
            f"choose another by `--metric`: {printed}",
        )
    return base, arm


def printed_figures(step: PlannedStep) -> Mapping[str, tuple[str, ...]]:
    """Map metrics to the texts before their number in the output."""
    kind = driver(step.kind)
    return kind.printed_figures(step.settings) if isinstance(kind, PrintedFigures) else {}


def _make_arm(store: Store, plan: Plan, finding: ReproFinding, cell: PlannedCell, letter: str) -> ReproArm:
    end = next(step for step in cell.steps if step.name == finding.step)
    ids = cell.repeats[0].stages[: end.stage + 1]
    jobs = [Job.load(store, plan.digest, stage) for stage in ids]
    stages, waits = [], []
    for position, job in enumerate(jobs):
        steps = _accepted_steps(job)[: end.index + 1 if position == end.stage else None]
        waits += [step.name for step in steps if isinstance(driver(step.kind), Waiting)]
        if programs := tuple(step for step in steps if step.name not in waits):
            stages.append(replace(job.stage, steps=programs))
    builds = {build: job.installed_build(build) for job in jobs for build in job.stage.builds}
    folder = store.build(cell.build).resolve()
    seconds = sum(result_seconds(store.result(stage)) for stage in ids)
    return ReproArm(letter, finding.name(cell), tuple(stages), builds, folder, seconds, tuple(waits))


def _accepted_steps(job: Job) -> list[PlannedStep]:
    try:
        accepted = options.check(job, job.stage)
    except (StageError, UnsupportedError) as error:
        raise ReproError(f"{job.stage.title}: {error}") from None
    return [
        replace(step, options={name: Option(value) for name, value in choice.options.items()})
        for step, choice in zip(job.stage.steps, accepted, strict=True)
    ]
