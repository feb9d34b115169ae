"""Doubts that the figures of a step raise by themselves, whatever its spec expects of them.

Each rule is a row of a table. None of them voids a figure: a reader is told which two figures contradict each other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean, median

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from stepgrid.collect.series import CHANCE
from stepgrid.model import units
from stepgrid.model.metrics import QPS
from stepgrid.model.plan import BUILD, PlannedCell, PlannedStep
from stepgrid.model.status import Status
from stepgrid.model.table import group
from stepgrid.model.units import as_number, counted, duration, figure, percent, rate, seconds
from stepgrid.plugins.driver import Counting
from stepgrid.plugins.durability import COMMIT, SYNC
from stepgrid.plugins.registry import find_driver
from stepgrid.plugins.work import FEWEST_ROWS, FOUND_ROWS, client_count, must_write
from stepgrid.summarize.comparisons.builds import ReportedBuild
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Place, Run, Tables
from stepgrid.summarize.notes import MOST_NAMED, Doubt
from stepgrid.summarize.report import GridEvidence
from stepgrid.summarize.setup import Links, planned_steps
from stepgrid.summarize.statistics.confidence_intervals import special
from stepgrid_answers.levels import TwoLevels, two_levels, two_levels_of_loads

OPERATIONS, SECONDS = "operations", "seconds"
EARLY = 0.5  # of its duration: a step that ended before
IDLE_WRITER = 0.5  # of `write_rate`
MANY_ERRORS = 0.1  # of the operations
BUCKET = 1.02  # a percentile of sysbench is the upper end of its bucket, which is 1.8 % wide
CONTRADICTION = 1.25  # times the rate that operations and seconds come to
LONGER = 1.1  # times the wall time of the process
LEAST_CPU_US = 0.001  # of an operation: some four instructions
NO_LOG = 1.0  # bytes per operation
CONSTANT_LOADS, CONSTANT_DIGITS = 3, 6  # a figure with so many digits is never the same in so many loads
FEWEST_SYNCS = 1.0  # per second, of a step of which it is not known how many operations write
MANY_READS, LARGE, PAGE = 1000, 2.0**24, 16_384  # operations; bytes of a database; bytes that are nothing
WARM, UNREAD = 0.1, 0.01  # of a database: in the page cache; read by whoever else uses its device
KEY, VALUE = 16, 100  # bytes: db_bench's own

_ERRORS = re.compile(r"(^|_)(errors?|failed|failures?)(_|$)")
_PROGRAM = re.compile(r"\{program:[^{}]+\}")
_PERCENTILES = (
    ("p50_us", "p95_us"),
    ("p50_us", "p99_us"),
    ("p95_us", "p99_us"),
    ("p99_us", "max_us"),
    ("avg_us", "max_us"),
)


class StepFacts(Struct, frozen=True):
    """Planned settings of a step's name: of several cells the values that ask least."""

    duration: float | None = None  # where nothing else ends it
    writes_per_s: float | None = None  # of the background writer
    writers: float | None = None  # clients whose every operation is a transaction that writes
    reads: bool = False  # and changes nothing


class Measured(Struct, frozen=True):
    run: Run
    step: StepFacts
    wall: float | None  # seconds of its process
    is_synced: bool = False  # its writes survive a power cut, as it was planned and its server said
    start: Mapping[str, str] = {}  # what its stage began with

    def __getitem__(self, metric: str) -> float | None:
        return self.run.metrics.get(metric)

    @property
    def operations(self) -> float | None:
        return self[OPERATIONS] or self["transactions"]

    def device(self, rate_metric: str) -> float | None:
        """Compute what the device of the database did, whoever asked it to."""
        per_second, lasted = self[rate_metric], self[SECONDS] or self.wall
        return None if per_second is None or lasted is None else per_second * lasted


def answer_doubts(evidence: GridEvidence) -> Iterator[Doubt]:
    plan, setup, links = evidence.plan, evidence.setup, evidence.links
    yield from drift_doubts([(section.step, section.points) for section in evidence.sections])
    yield from identical_builds(setup.builds, plan.cells, links)
    steps = planned_steps(plan.cells, setup.axes, links)
    yield from implausible_runs(evidence.tables, steps, evidence.durability)


def implausible_runs(
    tables: Tables,
    steps: Iterable[PlannedStep],
    durability: Callable[[Place], Mapping[str, str] | None] = lambda _: {},
) -> Iterator[Doubt]:
    """Yield a doubt of what contradicts itself, once for each rule, step and build."""
    walls = tables.details.wall_seconds
    planned = {name: _facts(members) for name, members in group((step.name, step) for step in steps).items()}
    measured = [
        Measured(
            run,
            planned.get(run.step, StepFacts()),
            walls.get(run.place),
            (durability(run.place) or {}).get(COMMIT) == _facts_of(tables, "durability", run).get(COMMIT, SYNC) == SYNC,
            _facts_of(tables, "start", run),
        )
        for run in tables.runs
        if run.measured and run.status == Status.DONE and run.same_as is None and run.metrics
    ]
    for step, members in group((member.run.step, member) for member in measured).items():
        for brief, rule in _RULES:
            cases = [(member.run.build, text) for member in members if (text := rule(member))]
            if cases:
                names = ", ".join(units.first([*dict.fromkeys(build for build, _ in cases)], MOST_NAMED))
                extent = f"in {len(cases)} of {counted(len(members), 'run')}"
                yield Doubt(f"{step}: {brief}", f"{step} of {names}: {cases[0][1]}; {extent}")
    yield from _constants(measured)
    yield from _levels(measured, tables)


def _facts_of(tables: Tables, scope: str, run: Run) -> Mapping[str, str]:
    return tables.facts.get(scope, {}).get(f"{run.place[0]}/{run.attempt}", {})


def _facts(steps: Sequence[PlannedStep]) -> StepFacts:
    durations, writes, writers = list[float | None](), list[float | None](), list[float | None]()
    for step in steps:
        kind, settings = find_driver(step.kind), step.settings
        is_counted = bool(settings) and isinstance(kind, Counting) and kind.counted_work(settings) is not None
        durations.append(None if is_counted or step.is_beside else as_number(settings.get("duration")))
        limit, sizes = as_number(settings.get("write_rate")), (_option(step, "key_size"), _option(step, "value_size"))
        writes.append(limit / ((sizes[0] or KEY) + (sizes[1] or VALUE)) if limit else None)
        writers.append(
            float(client_count(step.kind, settings) or 1) if settings and must_write(step.kind, settings) else None
        )
    reads = all(not step.mutates for step in steps)
    return StepFacts(_least(durations), _least(writes), max(filter(None, writers), default=None), reads)


def _option(step: PlannedStep, name: str) -> float | None:
    return as_number(step.options[name].value) if name in step.options else None


def _least(values: Sequence[float | None]) -> float | None:
    """Return the least of all values; None where one of them is unknown."""
    numbers = [float(value) for value in values if value is not None]
    return min(numbers) if numbers and len(numbers) == len(values) else None


# Rules: the text of a run, which is empty where there is nothing to doubt


def _ended_early(run: Measured) -> str:
    wanted, lasted = run.step.duration, run[SECONDS] or run.wall
    if wanted is None or lasted is None or lasted >= EARLY * wanted:
        return ""
    return f"it ran for {seconds(lasted)} of the {seconds(wanted)} that the spec asks for"


def _idle_writer(run: Measured) -> str:
    wanted, reached = run.step.writes_per_s, run["writer_qps"]
    if wanted is None or reached is None or reached >= IDLE_WRITER * wanted:
        return ""
    share = percent(reached / wanted) if reached >= 0.1 * wanted else f"{100 * reached / wanted:.2g} %"
    return f"its writer reached {share} of its `write_rate` ({rate(reached)} of {rate(wanted)} writes/s)"


def _errors(run: Measured) -> str:
    for name, count in run.run.metrics.items():
        if _ERRORS.search(name) and not name.endswith(("_pct", "_us", "_per_op", "_per_s")):
            total = run.operations
            if total and count >= MANY_ERRORS * total:
                return f"{name} is {count:,.0f}, of {total:,.0f} operations"
    return ""


def _contradiction(run: Measured) -> str:
    printed, operations, lasted = run[QPS], run[OPERATIONS], run[SECONDS]
    if not printed or not operations or not lasted:
        return ""
    counted_rate = operations / lasted
    if max(printed / counted_rate, counted_rate / printed) <= CONTRADICTION:
        return ""
    work = f"{operations:,.0f} operations in {seconds(lasted)}"
    return f"qps is {rate(printed)}, but {work} are {rate(counted_rate)} per second"


def _longer_than_its_process(run: Measured) -> str:
    printed, wall = run[SECONDS], run.wall
    if printed is None or not wall or printed <= LONGER * wall + 1:
        return ""
    return f"it says that it measured for {seconds(printed)}, but its process ran for {seconds(wall)}"


def _no_cpu(run: Measured) -> str:
    cpu, lasted = run["cpu_seconds"], run[SECONDS] or run.wall
    total = run.operations or (run[QPS] or 0.0) * (lasted or 0.0)
    if cpu is None or not total or cpu * 1e6 >= LEAST_CPU_US * total:
        return ""
    return f"{total:,.0f} operations took {cpu:.2g} s of CPU, less than {LEAST_CPU_US * 1000:.0f} ns each"


def _no_rows(run: Measured) -> str:
    rows, log, total = run[FOUND_ROWS], run["log_bytes_per_op"], run.operations
    if rows is None or not total or rows >= FEWEST_ROWS:
        return ""
    text = f"{total:,.0f} operations found {counted(round(rows * total), 'row')}"
    if log is None:  # as of PostgreSQL before 14: what changes rows need not find any
        return text if run.step.reads else ""
    return f"{text} and logged less than a byte each" if log < NO_LOG else ""


def _unsynced(run: Measured) -> str:
    """Compare syncs with the device: a sync is of one commit of each client at most, and a write of the device."""
    written = run.device("device_writes_per_s")
    lasted = run[SECONDS] or run.wall
    commits = run["transactions"] or run.operations
    if not run.is_synced or written is None or not lasted or not commits:
        return ""
    if written >= max(lasted * FEWEST_SYNCS, commits / run.step.writers / 2 if run.step.writers else 0.0):
        return ""
    noun = "commits" if run.step.writers else "operations"
    return f"its writes are to be synced, but the device completed {written:,.0f} writes in {commits:,.0f} {noun}"


def _uncold(run: Measured) -> str:
    """Compare reads of a database that is not in the page cache with what was read from devices."""
    size, volumes = float(run.start.get("bytes", 0)), [run["process_read_bytes"], run["server_read_bytes"]]
    read, resident = run.device("device_read_mb_per_s"), float(run.start.get("resident", size))
    if run.start.get("start") != "cold" or run.run.place[1] > 0 or not run.step.reads or read is None:
        return ""
    if (run.operations or 0.0) < MANY_READS or size < LARGE or resident > WARM * size or volumes == [None, None]:
        return ""
    if sum(filter(None, volumes)) >= PAGE or read * 2**20 >= max(PAGE, UNREAD * size):
        return ""
    text = f"its database of {units.size(size)} was not in the page cache as it began"
    return f"{text}, but its {run.operations:,.0f} operations read nothing from a device: another cache answered"


def _disorder(run: Measured) -> str:
    for low, high in _PERCENTILES:
        lower, upper = run[low], run[high]
        if lower is not None and upper is not None and lower > BUCKET * upper:
            return f"{low} is {figure(lower)}, above {high}, which is {figure(upper)}"
    return ""


_RULES: tuple[tuple[str, Callable[[Measured], str]], ...] = (
    ("ended early", _ended_early),
    ("writer below its rate", _idle_writer),
    ("many errors", _errors),
    ("found nothing", _no_rows),
    ("qps contradicts its operations", _contradiction),
    ("longer than its process", _longer_than_its_process),
    ("no CPU", _no_cpu),
    ("no syncs", _unsynced),
    ("no reads from a device", _uncold),
    ("latencies out of order", _disorder),
)


def _constants(measured: Sequence[Measured]) -> Iterator[Doubt]:
    """Tell rates that are the same to the last digit in each load: of a clock they differ."""
    by_point = group(
        ((member.run.step, member.run.cell), member.run) for member in measured if QPS in member.run.metrics
    )
    texts_by_step: dict[str, list[str]] = {}
    for (step, _), runs in by_point.items():
        values = {run.metrics[QPS] for run in runs}
        digits = f"{min(values):.10g}".replace(".", "").strip("0")
        if len({run.load for run in runs}) >= CONSTANT_LOADS and len(values) == 1 and len(digits) >= CONSTANT_DIGITS:
            texts_by_step.setdefault(step, []).append(f"{min(values):,.10g} of {runs[0].build}")
    for step, texts in texts_by_step.items():
        text = f"{step}: qps is the same to the last digit in all loads: {', '.join(units.first(texts, MOST_NAMED))}"
        yield Doubt(f"{step}: qps never differs", text)


def _levels(measured: Sequence[Measured], tables: Tables) -> Iterator[Doubt]:
    """Tell steps whose seconds or loads stand on two levels, as a placement of threads that changes makes them."""
    remedy = "a mean of both is the speed of neither; `launch: {cpus: …}` places client and server"
    for (step, _), runs in group(((member.run.step, member.run.cell), member.run) for member in measured).items():
        name = f"{step} of {runs[0].build}"
        levels_by_run = [
            two_levels([qps for _, qps in tables.series[run.place]]) for run in runs if run.place in tables.series
        ]
        if levels := [pair for pair in levels_by_run if pair]:
            text = f"{name}: its seconds stand on two levels, {_pair(levels[0])}"
            extent = f"in {len(levels)} of {counted(len(levels_by_run), 'run')}"
            yield Doubt(f"{step}: two levels of seconds", f"{text}, {extent}: {remedy}")
        loads = group((run.load, run.metrics[QPS]) for run in runs if QPS in run.metrics).values()
        if pair := two_levels_of_loads([fmean(load) for load in loads]):
            yield Doubt(
                f"{step}: two levels of loads", f"{name}: its loads stand on two levels, {_pair(pair)}: {remedy}"
            )


def _pair(levels: TwoLevels) -> str:
    shares = f"{percent(levels.share)} and {percent(1 - levels.share)}"
    return f"{rate(levels.lower)} and {rate(levels.upper)} QPS ({shares} of them)"


# Builds


def identical_builds(
    builds: Mapping[str, ReportedBuild], cells: Sequence[PlannedCell], links: Links
) -> Iterator[Doubt]:
    """Tell builds whose programs are the same bytes, and whose steps have the same settings."""
    engines = [build for build in builds.values() if not build.client and build.checksum]
    for twins in group((build.checksum, build) for build in engines).values():
        names = [build.name for build in twins]
        if len(twins) > 1 and _have_equal_settings([build.id for build in twins], cells, links):
            text = f"{' and '.join(names)} are the same: their programs are byte-identical, and their settings equal"
            yield Doubt(f"{len(names)} builds are the same", f"{text}; a difference between them is noise")


def _have_equal_settings(names: Sequence[str], cells: Sequence[PlannedCell], links: Links) -> bool:
    """Compare steps, but for the names of their programs."""
    by_labels: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for cell in cells:
        if cell.build in names:
            labels = tuple((axis, label) for axis, label in cell.labels.items() if axis != BUILD)
            steps = [step for link in links(cell.repeats[0].stages) for step in link.stage.steps]
            values = [{name: option.value for name, option in step.options.items()} for step in steps]
            text = repr([(step.name, step.kind, step.settings, step.setup) for step in steps])
            by_labels.setdefault(labels, []).append(_PROGRAM.sub("", f"{text} {values}"))
    return bool(by_labels) and all(len({*texts}) == 1 for texts in by_labels.values())


# Drift: a step that became faster or slower in the course of an experiment, whatever the arm.
# Least squares of each figure's logarithm on its time, with a mean for every arm and every load. Within a block all
# arms are measured once, in a random order, so that a trend with time is none of the arms'. Changes from one block to
# the next cannot be told from differences between the loads, and are in neither.

FEWEST_FREEDOMS = 8  # degrees of freedom
ROUNDS = 50  # of taking out means in turn: one is exact where no run is missing


class Drift(Struct, frozen=True):
    step: str
    per_hour: float  # of the logarithm
    hours: float  # from the first to the last run of a load, the median: the trend is known for no longer
    chance: float

    @property
    def brief(self) -> str:
        span = 3600 * self.hours
        time = f"{span:.0f} s" if span < 60 else duration(span)
        return f"{self.step} drifted by {percent(round(self.size, 2))} ({time})"

    @property
    def text(self) -> str:
        span, change = duration(3600 * self.hours), "faster" if self.per_hour > 0 else "slower"
        return (
            f"{self.step}: became {percent(self.size)} {change} from the first to the last arm of a load ({span}), "
            "whatever the arm: the random order keeps that out of the ratios, not out of the figures"
        )

    @property
    def size(self) -> float:
        return abs(math.expm1(self.per_hour * self.hours))


def drift_doubts(steps: Sequence[tuple[str, Sequence[Point]]]) -> list[Doubt]:
    """Tell drifts that chance would hardly show in any of these steps."""
    drifts = [drift for step, points in steps if (drift := step_drift(step, points))]
    return [Doubt(drift.brief, drift.text) for drift in drifts if drift.chance * len(drifts) < CHANCE]


def step_drift(step: str, points: Iterable[Point]) -> Drift | None:
    """Fit a step's drift; None where too few runs are left to tell, or a load did nothing."""
    points = list(points)
    rows = [] if any(point.idle_loads for point in points) else list(_rows(points))
    arms, loads = ({row[index] for row in rows} for index in (0, 1))
    freedom = len(rows) - len(arms) - len(loads)
    if freedom < FEWEST_FREEDOMS:
        return None

    arm_numbers, load_numbers = (np.unique([row[index] for row in rows], return_inverse=True)[1] for index in (0, 1))
    time, logs = (_center(np.array([row[index] for row in rows]), arm_numbers, load_numbers) for index in (2, 3))
    if not (spread := float(time @ time)) > 1e-9:
        return None
    slope = float(time @ logs) / spread
    residuals = logs - slope * time
    error = math.sqrt(max(float(residuals @ residuals), 1e-18) / freedom / spread)
    times = group((load, hours) for _, load, hours, _ in rows)
    span = median(max(hours) - min(hours) for hours in times.values())
    return Drift(step, slope, span, 2 * special("stdtr", freedom, -abs(slope) / error))


def _rows(points: Iterable[Point]) -> Iterator[tuple[int, int, float, float]]:
    """Yield arm, load, hours and logarithm of each run."""
    counted: set[object] = set()  # a run of several arms counts once
    for arm, point in enumerate(points):
        for run in point.runs:
            if run.started and QPS in run.metrics and run.place not in counted:
                counted.add(run.place)
                yield arm, run.load, run.started.timestamp() / 3600, math.log(run.metrics[QPS])


def _center(values: NDArray[np.float64], *groups: NDArray[np.intp]) -> NDArray[np.float64]:
    """Take out the means of groups, in turn until they stay 0."""

    values = values - values.mean()
    for _ in range(ROUNDS):
        before = values
        for members in groups:
            values = values - (np.bincount(members, values) / np.bincount(members))[members]
        if np.abs(values - before).max() < 1e-12:
            break
    return values
