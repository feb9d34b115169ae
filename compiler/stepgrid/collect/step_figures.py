"""Figures of the steps of a result, and the files beside it that keep them.

The job that measured a stage writes them; where they are missing, damaged, or were read by another parser or for other
metrics, the kept raw output is read again. They are caches: raw output is the result.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

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
    probe_figures,
    server_figures,
    session_counts,
    step_events,
    step_plans,
)
from stepgrid.collect.samples import Row, Usage, read_samples, series
from stepgrid.collect.series import series_figures, series_warnings, stall_figures
from stepgrid.expand.search import SEARCH, AxisSearch, Trial, as_run, parse_objective
from stepgrid.host.files import parse_json, read_bytes, read_json, write_cache
from stepgrid.host.noise import unnamed_record
from stepgrid.language.expressions import ExpressionError
from stepgrid.model.figures import (
    Bucket,
    Buckets,
    ClientRate,
    Figures,
    ParseError,
    by_column,
    check_rates,
    is_sustained,
    rows,
)
from stepgrid.model.plan import PlannedStep
from stepgrid.model.result_schema import QUERY_PLANS
from stepgrid.model.status import Result
from stepgrid.plugins.driver import RateTargets
from stepgrid.plugins.registry import driver, parse_step, read_settings, require_runner, runner
from stepgrid.store.paths import ATTEMPT_FILE

if TYPE_CHECKING:
    from stepgrid.plugins.importer import ImportedStep

REVISION = 18  # of what is worked out beside the drivers' own figures
Record = Mapping[str, Any]  # step.json
Columns = Mapping[str, Sequence[float | None]]


@dataclass(frozen=True, slots=True)
class StepFigures:
    """Figures of a step, or why its output could not be read."""

    metrics: Mapping[str, float] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    error: str | None = None
    qps: Sequence[tuple[float, float]] = ()
    counts: Sequence[Count] = ()
    levels: Sequence[Mapping[str, float | str]] = ()
    sizes: Sequence[Mapping[str, float | str]] = ()  # of the server's tables and indexes
    histograms: Sequence[Buckets] = ()
    rates: Sequence[ClientRate] = ()
    events: Sequence[Event] = ()  # rows of the table `events`
    start: Mapping[str, Any] = field(default_factory=dict)  # what it began with, by the names of model.step_start
    plans: Mapping[str, str] = field(default_factory=dict)  # of its statements


@dataclass(frozen=True, slots=True)
class Reading:
    """Figures of a step, and its samples by second."""

    figures: StepFigures
    samples: Columns = field(default_factory=dict)


# Reading raw output.

ENGINE = "engine"  # the source of counts that are neither a collector's nor a probe's
DRAIN = "drain_seconds"  # the figure of a driver that its step went on after what it measured
ALSO_RAN = "also_ran"  # the fact of a driver that other operations than those of `operations` were run
TARGET, MET = "target_", "target_met"  # `target_x` is a target of `x`
TRIED, HOLDS = "tried_value", "tried_holds"  # of a point of a search
# whatever a parser of any plug-in meets in damaged output: the step says so, others go on
_FAULTS = (ParseError, OSError, ValueError, ArithmeticError, LookupError, TypeError, AttributeError, RecursionError)
_LOOKUPS, _PUTS = ("gets_per_s", "seeks_per_s"), ("puts_per_s",)
_PER_LOOKUP: Mapping[str, tuple[str, tuple[str, ...]]] = {  # figure -> of an operation, of which operations
    "reads_per_lookup": ("reads_per_op", _LOOKUPS),
    "read_kb_per_lookup": ("read_kb_per_op", _LOOKUPS),
    "write_kb_per_put": ("write_kb_per_op", _PUTS),
}


def read_step(folder: Path, step: PlannedStep, record: Record) -> Reading:
    try:
        planned = as_run(step, record)
        files = frozenset(os.listdir(folder))  # noqa: PTH208 - names: most steps have none of what is looked for
        stated = stated_figures(folder) if STATED in files else None
        output = stated or parse_step(require_runner(planned.kind), folder, planned.settings)
        samples = read_samples(folder)
        return Reading(_step_figures(_Raw(folder, files, record, samples), planned, output), series(samples))
    except _FAULTS as error:
        return Reading(StepFigures(error=f"{step.name}: {error}"))


class _Raw(NamedTuple):
    """Files of a step, beside the output that its driver reads."""

    folder: Path
    files: frozenset[str]  # names
    record: Record
    samples: Sequence[Row]


def _step_figures(raw: _Raw, step: PlannedStep, output: Figures) -> StepFigures:
    folder, record, is_collected = raw.folder, raw.record, COLLECTED in raw.files
    measured = Usage(record, raw.samples, output.window)
    # with operations of another kind, which are not counted in it, nothing is per operation
    operations = None if ALSO_RAN in output.facts else output.metrics.get("operations")
    server = server_figures(folder, operations) if STATISTICS in raw.files else ServerFigures()
    metrics = {
        **measured.figures(operations),
        **(measured.after() if DRAIN in output.metrics else {}),
        **(collector_figures(folder) if is_collected else {}),
        **server.metrics,
        **rate_targets(step),
        **series_figures(output.qps),
        **stall_figures(output.rates),
        **output.metrics,
    }
    metrics |= _per_lookup(metrics) | _target_figures(metrics)
    metrics |= _trial_figures(step, record, metrics) | probe_figures(record)
    engine_counts = {**server.counters, **output.counters}
    return StepFigures(
        metrics={name: value for name, value in metrics.items() if math.isfinite(value)},
        facts=dict(output.facts),
        warnings=[
            *output.warnings,
            *series_warnings(output.qps),
            *(collector_warnings(folder) if is_collected else ()),
            *record.get("warnings", ()),
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
    )


def _per_lookup(metrics: Mapping[str, float]) -> dict[str, float]:
    """Divide device work by lookups, in a benchmark that mixes operations: mixgraph's table has such figures."""
    figures: dict[str, float] = {}
    for name, (per_operation, kinds) in _PER_LOOKUP.items():
        if {"qps", per_operation, *kinds} <= metrics.keys() and (share := sum(metrics[kind] for kind in kinds)):
            figures[name] = metrics[per_operation] * metrics["qps"] / share
    return figures


def rate_targets(step: PlannedStep) -> Mapping[str, float]:
    """The rates that the step's settings ask of its clients."""
    kind = driver(step.kind)
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
    return Trial(value, condition.holds(names), names[condition.name])


def _trial_figures(step: PlannedStep, record: Record, metrics: Mapping[str, float]) -> dict[str, float]:
    """Figures of a point of a search; whether it held is missing where its figures do not tell."""
    search = AxisSearch.from_setup(step.setup)
    if search is None or SEARCH not in record:
        return {}
    value = int(record[SEARCH])
    try:
        return {TRIED: float(value), HOLDS: float(trial(search, value, metrics).holds)}
    except ExpressionError:
        return {TRIED: float(value)}


# Steps that other scripts ran: no driver of ours made their output, a file states their figures.

STATED = "stated.json"


def stated_body(step: ImportedStep) -> dict[str, Any]:
    figures = step.figures
    optional = {  # few steps have these: without them the body, and so the stage's id, is what it was before
        "counters": dict(figures.counters),
        "levels": [dict(level) for level in figures.levels],
        "histograms": [list(bucket) for bucket in rows(figures.histograms)],
        "rates": [list(rate) for rate in figures.rates],
    }
    return {
        "failure": step.failure,
        "metrics": dict(figures.metrics),
        "facts": {**figures.facts, **({"source": step.source} if step.source else {})},
        "qps": [list(pair) for pair in figures.qps],
        "warnings": list(figures.warnings),
        **{name: value for name, value in optional.items() if value},
    }


def stated_figures(folder: Path) -> Figures:
    try:
        body = json.loads((folder / STATED).read_text(encoding="utf-8"))
        buckets: list[Bucket] = [(bucket[0], bucket[1], bucket[2], bucket[3]) for bucket in body.get("histograms", ())]
        figures = Figures(
            {str(name): float(value) for name, value in body["metrics"].items()},
            body["facts"],
            [(float(second), float(qps)) for second, qps in body["qps"]],
            body["warnings"],
            body.get("counters", {}),
            body.get("levels", ()),
            by_column(buckets),
            rates=[ClientRate(*rate) for rate in body.get("rates", ())],
        )
        failure = body["failure"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ParseError(f"{folder / STATED} cannot be read: {error!r}") from None
    if failure:
        raise ParseError(failure)
    check_rates(figures)
    return figures


# The files: figures.KEY.json and samples.KEY.json in a result's folder. The key says who read them and for what, so
# that a corrected parser, a pattern or one more metric reads again and measures nothing.

_HEAD, _MIDDLE = b'{"sha256":"', b'","body":'
_BODY = len(_HEAD) + 64 + len(_MIDDLE)
EnvironmentRow = tuple[str, int | None, str, str]  # scope, position of the step, name, value


@dataclass(frozen=True, slots=True)
class ResultFigures:
    """All that the tables have of a result but its samples; an entry for each step."""

    steps: Sequence[StepFigures]
    folders: Sequence[str]  # names
    started: Sequence[str | None]
    seconds: Sequence[float | None]
    environment: Sequence[EnvironmentRow] = ()  # what it was measured with


def reading_key(steps: Sequence[PlannedStep]) -> str:
    """Imported results may be of a kind that this version does not run."""
    parsers = [[step.kind, getattr(runner(step.kind), "parser", 0), read_settings(step)] for step in steps]
    return hashlib.sha256(json.dumps([REVISION, parsers], sort_keys=True).encode()).hexdigest()[:12]


def read_result(result: Result, steps: Sequence[PlannedStep]) -> tuple[ResultFigures, list[Columns]]:
    """Read the raw output of all steps, and keep their figures unless some cannot be read."""
    parts = zip(result.folders, steps, result.steps, strict=True)
    readings = [read_step(folder, step, record) for folder, step, record in parts]
    figures = ResultFigures(
        [reading.figures for reading in readings],
        [folder.name for folder in result.folders],
        [record.get("started") for record in result.steps],
        [record.get("seconds") for record in result.steps],
        [*environment_rows(result, [reading.figures for reading in readings])],
    )
    samples = [reading.samples for reading in readings]
    if not any(step.error for step in figures.steps):
        key = reading_key(steps)
        with suppress(OSError):  # a read-only or full store is no reason to fail
            _write(result.folder / f"samples.{key}.json", samples)
            _write(result.folder / f"figures.{key}.json", _to_json(figures))
    return figures, samples


def figures_mark(result: Path, steps: Sequence[PlannedStep]) -> str | None:
    """Name the file of stored figures, and when it was written; None where the raw output has to be read."""
    name = f"figures.{reading_key(steps)}.json"
    try:
        return f"{name} {os.stat(f'{result}/{name}').st_mtime_ns}"  # noqa: PTH116 - of ten thousand
    except OSError:
        return None


def stored_figures(result: Path, steps: Sequence[PlannedStep]) -> ResultFigures | None:
    """Take them from the result's folder; None where this version has not read it for these metrics."""
    body = _read(f"{result}/figures.{reading_key(steps)}.json")
    try:
        figures = None if body is None else _from_json(body)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return figures if figures and len(figures.steps) == len(steps) else None


def stored_samples(result: Path, steps: Sequence[PlannedStep]) -> list[Columns] | None:
    samples = _read(f"{result}/samples.{reading_key(steps)}.json")
    return samples if isinstance(samples, list) and len(samples) == len(steps) else None


def _write(path: Path, value: Any) -> None:
    body = json.dumps(value, separators=(",", ":"))
    checksum = hashlib.sha256(body.encode()).hexdigest()
    write_cache(path, f"{_HEAD.decode()}{checksum}{_MIDDLE.decode()}{body}}}")


def _read(path: str) -> Any:
    """Read what was written; None of a file that is missing or damaged."""
    try:
        content = read_bytes(path)
        body = content[_BODY:-1]
        if hashlib.sha256(body).hexdigest().encode() != content[len(_HEAD) : len(_HEAD) + 64]:
            return None
        return parse_json(body)
    except (OSError, ValueError):
        return None


def _to_json(figures: ResultFigures) -> dict[str, Any]:
    steps = []
    for step in figures.steps:
        body = {name: getattr(step, name) for name in StepFigures.__dataclass_fields__}
        steps.append({name: value for name, value in body.items() if value})
    return {**{name: getattr(figures, name) for name in ResultFigures.__dataclass_fields__}, "steps": steps}


def _from_json(body: Mapping[str, Any]) -> ResultFigures:
    steps = []
    for step in body["steps"]:
        histograms = [Buckets(*part) for part in step.get("histograms", ())]
        rates = [ClientRate(*rate) for rate in step.get("rates", ())]
        steps.append(StepFigures(**{**step, "histograms": histograms, "rates": rates}))
    return ResultFigures(**{**body, "steps": steps})


_encoded = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode


def environment_rows(result: Result, steps: Sequence[StepFigures]) -> Iterator[EnvironmentRow]:
    """Rows of the table `environment` about a result: text as it is, everything else as JSON."""
    attempt = read_json(f"{result.folder}/{ATTEMPT_FILE}")
    start, noise = attempt.get("cache") or {}, unnamed_record(attempt.get("noise") or {})
    scopes: dict[str, Mapping[str, Any]] = {
        "host": attempt.get("host") or {},
        "image": attempt.get("image") or {},
        "start": {
            **{name: start.get(name) for name in ("start", "bytes", "files", "resident")},
            **(attempt.get("loading") or {}),
        },
        "asked": attempt.get("asked") or {},
        "durability": attempt.get("durability") or {},
        "noise": {name: noise.get(name) for name in ("warning", "fixed")},
    }
    for scope, facts in scopes.items():
        yield from fact_rows(scope, None, facts)
    for position, (record, folder) in enumerate(zip(result.steps, result.folders, strict=True)):
        measured = {name: record[name] for name in ("dropped", "user", "system", "max_rss") if name in record}
        yield from fact_rows("command", position, {**_command(folder), **measured})
    for position, step in enumerate(steps):
        yield from fact_rows("facts", position, step.facts)
        yield from fact_rows(QUERY_PLANS, position, step.plans)
        yield from fact_rows("step start", position, {"state": step.start} if step.start else {})


def _command(folder: Path) -> Mapping[str, Any]:
    """Read what has the type that a run writes: the program of the step could put another command.json there."""
    record = read_json(folder / "command.json")
    argv, variables = record.get("argv"), {name: record.get(name) for name in ("env", "environment")}
    return {
        **({"argv": argv} if isinstance(argv, list) and _are_texts(argv) else {}),
        **{name: texts for name, texts in variables.items() if isinstance(texts, dict) and _are_texts(texts.values())},
        **({"launch": launch} if isinstance(launch := record.get("launch"), dict) else {}),
    }


def _are_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def fact_rows(scope: str, position: int | None, facts: Mapping[str, Any]) -> Iterator[EnvironmentRow]:
    for name, value in facts.items():
        if value is not None:
            yield scope, position, name, value if isinstance(value, str) else _encoded(value)
