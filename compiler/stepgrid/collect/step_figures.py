"""Figures of a step, read from its raw output, samples and statistics; and those that other scripts state."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import NamedTuple

from msgspec import Struct

from stepgrid.collect.counts import (
    COLLECTED,
    STATISTICS,
    Count,
    Event,
    ServerFigures,
    collector_counts,
    collector_figures,
    collector_warnings,
    probe_counts,
    server_figures,
    session_counts,
    step_debts,
    step_events,
    step_plans,
)
from stepgrid.collect.samples import Row, Usage, read_samples, series
from stepgrid.collect.series import series_figures, series_start, stall_figures
from stepgrid.expand.search import AxisSearch, RateShare, Trial, as_run, chosen_axis, parse_objective, rate_target
from stepgrid.language.expressions import ExpressionError
from stepgrid.model.figures import ASKED, Buckets, ClientRate, Figures, ParseError, by_column, check_rates, is_sustained
from stepgrid.model.plan import PlannedStep
from stepgrid.model.records import Json, StepRecord
from stepgrid.plugins.driver import TARGET, DerivedFigures, RateTargets
from stepgrid.plugins.registry import driver, parse_step, require_runner
from stepgrid.store.paths import ROUND_FOLDER

Columns = Mapping[str, Sequence[float | None]]


class StepFigures(Struct, frozen=True):
    """Figures of a step, or why its output could not be read."""

    metrics: Mapping[str, float] = {}
    facts: Mapping[str, str] = {}
    warnings: Sequence[str] = ()
    error: str | None = None
    qps: Sequence[tuple[float, float]] = ()
    counts: Sequence[Count] = ()
    levels: Sequence[Mapping[str, float | str]] = ()
    sizes: Sequence[Mapping[str, float | str]] = ()  # of the server's tables and indexes
    histograms: Sequence[Buckets] = ()
    rates: Sequence[ClientRate] = ()
    events: Sequence[Event] = ()  # rows of the table `events`
    start: Mapping[str, Json] = {}  # what it began with, by the names of model.step_start
    plans: Mapping[str, str] = {}  # of its statements
    samples: Columns = {}  # by second
    p99: Sequence[tuple[float, float]] = ()  # of latency, by second, in microseconds
    series_start: tuple[float, float] | None = None  # seconds since the program's, earliest and latest; None: not known


# Reading raw output.

ENGINE = "engine"  # the source of counts that are neither a collector's nor a probe's
DRAIN = "drain_seconds"  # the figure of a driver that its step went on after what it measured
ALSO_RAN = "also_ran"  # the fact of a driver that other operations than those of `operations` were run
BACKLOG = "backlog"
MET = "target_met"
TRIED, HOLDS, SHARE_PCT = "tried_value", "tried_holds", "tried_share_pct"  # of a value chosen at run time
# whatever a parser of any plug-in meets in damaged output: the step says so, others go on
_FAULTS = (ParseError, OSError, ValueError, ArithmeticError, LookupError, TypeError, AttributeError, RecursionError)


def read_step(folder: Path, step: PlannedStep, record: StepRecord) -> StepFigures:
    try:
        planned = as_run(step, record)
        if step.is_beside:
            return _read_beside(folder, planned, record)
        files = frozenset(os.listdir(folder))  # noqa: PTH208 - names: most steps have none of what is looked for
        stated = stated_figures(folder) if STATED in files else None
        output = stated or parse_step(require_runner(planned.kind), folder, planned.settings)
        samples = read_samples(folder)
        return _step_figures(_Raw(folder, files, record, samples), planned, output)
    except _FAULTS as error:
        return StepFigures(error=f"{step.name}: {error}")


def _read_beside(folder: Path, step: PlannedStep, record: StepRecord) -> StepFigures:
    """Read what ran beside another step: of several rounds the median of each figure. Its client is all it used."""
    folders = [folder / f"{ROUND_FOLDER}{number + 1}" for number in range(len(record.rounds))] or [folder]
    warnings = list(record.warnings)
    if record.was_stopped:
        folders.pop()
        source = f"its figures are of {len(folders)} whole rounds" if folders else "it has no figures of its own"
        warnings.append(f"it was stopped when the step beside it ended: {source}")
    outputs = [parse_step(require_runner(step.kind), part, step.settings) for part in folders]
    names = dict.fromkeys(name for output in outputs for name in output.metrics)
    values = {name: [output.metrics[name] for output in outputs if name in output.metrics] for name in names}
    metrics = {**rate_targets(step), **{name: median(figures) for name, figures in values.items()}}
    metrics |= {**_derived_figures(step, metrics), **_target_figures(metrics)}
    if record.cpu_seconds is not None and outputs:
        metrics["client_cpu_seconds"] = record.cpu_seconds
    only = outputs[0] if len(outputs) == 1 else Figures({})
    return StepFigures(
        metrics={name: value for name, value in metrics.items() if math.isfinite(value)},
        facts=dict(outputs[0].facts) if outputs else {},
        warnings=[*(warning for output in outputs for warning in output.warnings), *warnings],
        qps=[(second, rate) for second, rate in only.qps],
        histograms=list(only.histograms),
        rates=list(only.rates),
    )


class _Raw(NamedTuple):
    """Files of a step, beside the output that its driver reads."""

    folder: Path
    files: frozenset[str]  # names
    record: StepRecord
    samples: Sequence[Row]


def _step_figures(raw: _Raw, step: PlannedStep, output: Figures) -> StepFigures:
    folder, record, is_collected = raw.folder, raw.record, COLLECTED in raw.files
    measured = Usage(record, raw.samples, output.window)
    # with operations of another kind, which are not counted in it, nothing is per operation
    operations = None if ALSO_RAN in output.facts else output.metrics.get("operations")
    debts = {**output.debts, **step_debts(folder, record)} if step.setup.until else None
    rates = {round(rate.per_second, 3) for rate in output.rates if rate.operation == ASKED}
    qps_figures = series_figures(output.qps if len(rates) < 2 else (), debts)  # what is to change has no level
    server = server_figures(folder, operations) if STATISTICS in raw.files else ServerFigures()
    metrics = {
        **measured.figures(operations),
        **(measured.after() if DRAIN in output.metrics else {}),
        **(collector_figures(folder) if is_collected else {}),
        **server.metrics,
        **rate_targets(step, record.search),
        **qps_figures.metrics,
        **stall_figures(output.rates),
        **output.metrics,
    }
    metrics |= {**_derived_figures(step, metrics), **_target_figures(metrics)}
    metrics |= {**_trial_figures(step, record, metrics), **record.probes}
    engine_counts = {**server.counters, **output.counters}
    return StepFigures(
        metrics={name: value for name, value in metrics.items() if math.isfinite(value)},
        facts=dict(output.facts),
        warnings=[
            *output.warnings,
            *qps_figures.warnings,
            *(collector_warnings(folder) if is_collected else ()),
            *record.warnings,
        ],
        qps=[(second, rate) for second, rate in output.qps],
        counts=[
            *((ENGINE, name, value) for name, value in engine_counts.items()),
            *(session_counts(folder, record, metrics) if STATISTICS in raw.files else ()),
            *(collector_counts(folder) if is_collected else ()),
            *probe_counts(record),
        ],
        levels=[*server.levels, *output.levels],
        sizes=server.sizes,
        histograms=list(output.histograms),
        rates=list(output.rates),
        events=[*step_events(folder, record)] if {STATISTICS, COLLECTED} & raw.files else [],
        start=server.start,
        plans=step_plans(folder) if STATISTICS in raw.files else {},
        samples=series(raw.samples),
        p99=[(second, latency) for second, latency in output.p99],
        series_start=series_start(record, output.qps, (output.window or (0.0,))[0], output.metrics.get("seconds", 0.0)),
    )


def _derived_figures(step: PlannedStep, metrics: Mapping[str, float]) -> Mapping[str, float]:
    kind = driver(step.kind)
    return kind.derived(metrics) if isinstance(kind, DerivedFigures) else {}


def rate_targets(step: PlannedStep, value: float | None = None) -> Mapping[str, float]:
    """The rates that the step's settings ask of its clients; `value` was chosen when it ran."""
    kind, share = driver(step.kind), chosen_axis(step.setup)
    if value is not None and isinstance(share, RateShare):
        target = rate_target(step.kind, step.settings, share.param)
        return {TARGET + target.metric: value * target.of_one} if target else {}
    return kind.targets(step.settings) if isinstance(kind, RateTargets) else {}


def _target_figures(metrics: Mapping[str, float]) -> dict[str, float]:
    """Say whether the clients sustained them; nothing where there was no target, or no rate."""
    targets = {name.removeprefix(TARGET): rate for name, rate in metrics.items() if name.startswith(TARGET)}
    results = [is_sustained(metrics[name], target) for name, target in targets.items() if name in metrics]
    return {MET: float(all(results))} if results else {}


def trial(search: AxisSearch, value: int, metrics: Mapping[str, float]) -> Trial:
    """ExpressionError where it has no figure that the search looks at."""
    condition, names = parse_objective(search.objective), {**metrics, search.variable: float(value)}
    if condition.name not in names:
        raise ExpressionError(f"`{condition.name}` is not defined", condition.name)
    try:
        holds = condition.holds(names)
    except ExpressionError:
        if not (names.get(BACKLOG) or names.get(MET) == 0):
            raise
        holds = False  # clients that did not keep up have no latency
    return Trial(value, holds, names[condition.name])


def _trial_figures(step: PlannedStep, record: StepRecord, metrics: Mapping[str, float]) -> dict[str, float]:
    """Figures of a point whose value was chosen; whether a search's held is missing where its figures do not tell."""
    search, value = AxisSearch.from_setup(step.setup), record.search
    tried = {} if value is None else {TRIED: float(value)}
    with suppress(ExpressionError):
        tried |= {HOLDS: float(trial(search, int(value), metrics).holds)} if search and value else {}
    return tried


# Steps that other scripts ran: no driver of ours made their output, a file states their figures.

STATED = "stated.json"


def stated_figures(folder: Path) -> Figures:
    try:
        body = json.loads((folder / STATED).read_text(encoding="utf-8"))
        figures = Figures(
            {str(name): float(value) for name, value in body["metrics"].items()},
            body["facts"],
            [(float(second), float(qps)) for second, qps in body["qps"]],
            body["warnings"],
            body.get("counters", {}),
            body.get("levels", ()),
            by_column((bucket[0], bucket[1], bucket[2], bucket[3]) for bucket in body.get("histograms", ())),
            rates=[ClientRate(*rate) for rate in body.get("rates", ())],
        )
        failure = body["failure"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ParseError(f"{folder / STATED} cannot be read: {error!r}") from None
    if failure:
        raise ParseError(failure)
    check_rates(figures)
    return figures
