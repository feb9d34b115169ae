"""Figures of a result, and the file beside it that keeps them: what was measured with, too. It measures nothing.

The job that measured a stage writes the file; where it is missing, damaged, or was read by another parser or for other
metrics, the kept raw output is read again. It is a cache: raw output is the result.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from msgspec import MsgspecError, Struct, msgpack

from stepgrid.collect.series import MainSeries, effect
from stepgrid.collect.step_figures import SHARE_PCT, TRIED, StepFigures, read_step
from stepgrid.expand.search import RateShare, chosen_axis, rate_target
from stepgrid.host.files import find_record, read_bytes, write_cache
from stepgrid.host.noise import unnamed_record
from stepgrid.model.plan import PlannedStep
from stepgrid.model.records import CommandRecord, Facts, NoiseRecord, StepRecord, plain, replace
from stepgrid.model.result_schema import QUERY_PLANS
from stepgrid.model.status import Result
from stepgrid.plugins.registry import read_settings, runner
from stepgrid.store.attempts import attempt_record
from stepgrid.store.paths import FIGURES_DIGEST

REVISION = 24  # of what is worked out beside the drivers' own figures
EnvironmentRow = tuple[str, int | None, str, str]  # scope, position of the step, name, value


class ResultFigures(Struct, frozen=True):
    """All that the tables have of a result; an entry for each step."""

    steps: Sequence[StepFigures]
    folders: Sequence[str]  # names
    started: Sequence[str | None]
    seconds: Sequence[float | None]
    environment: Sequence[EnvironmentRow] = ()  # what it was measured with


def read_result(result: Result, steps: Sequence[PlannedStep]) -> ResultFigures:
    """Read the raw output of all steps, and keep their figures unless some cannot be read."""
    parts = zip(result.folders, steps, result.steps, strict=True)
    shared = with_shares(steps, [read_step(folder, step, record) for folder, step, record in parts])
    readings = with_effects(steps, result.steps, shared)
    figures = ResultFigures(
        readings,
        [folder.name for folder in result.folders],
        [record.started for record in result.steps],
        [record.seconds for record in result.steps],
        [*environment_rows(result, readings)],
    )
    if not any(step.error for step in readings):
        body = msgpack.encode(figures)
        with suppress(OSError):  # a read-only or full store is no reason to fail
            write_cache(figures_file(result.folder, steps), hashlib.sha256(body).digest() + body)
    return figures


def with_shares(steps: Sequence[PlannedStep], readings: Sequence[StepFigures]) -> Iterator[StepFigures]:
    """Give each rate that is a share of what a step reached the share that it is; a client may take whole numbers."""
    reached = {step.name: reading.metrics for step, reading in zip(steps, readings, strict=True)}
    for step, reading in zip(steps, readings, strict=True):
        share, value = chosen_axis(step.setup), reading.metrics.get(TRIED)
        target = rate_target(step.kind, step.settings, share.param) if isinstance(share, RateShare) else None
        if isinstance(share, RateShare) and value and target and (most := reached[share.of].get(target.metric)):
            percent, warnings = 100 * value * target.of_one / most, [*reading.warnings]
            if round(percent / share.percent, 2) != 1:
                text = f"{percent:.3g} % of what `{share.of}` reached, not {share.percent:g} %"
                warnings.append(f"its rate of {value:g} is {text}: its client takes whole numbers")
            reading = replace(reading, metrics={**reading.metrics, SHARE_PCT: percent}, warnings=warnings)
        yield reading


def with_effects(
    steps: Sequence[PlannedStep], records: Sequence[StepRecord], readings: Iterable[StepFigures]
) -> list[StepFigures]:
    """Add to each step that ran beside another one what it did to that."""
    figures = list(readings)
    main = 0
    for index, step in enumerate(steps):
        if not step.is_beside:
            main = index
            continue
        group = takewhile(lambda other: steps[other].is_beside, range(main + 1, len(steps)))
        company = [records[other] for other in group if other != index]
        reading, figures_of_main = figures[index], figures[main]
        series = MainSeries(figures_of_main.qps, figures_of_main.p99, figures_of_main.series_start)
        change = effect(records[index], records[main], company, series)
        metrics, facts = {**change.metrics, **reading.metrics}, {**reading.facts, **change.facts}
        figures[index] = replace(reading, metrics=metrics, facts=facts)
    return figures


def figures_file(result: Path, steps: Sequence[PlannedStep]) -> Path:
    """Name the file by its parsers and metrics: a corrected parser or one more metric reads raw output again."""
    # imported results may be of a kind that this version does not run
    parsers = [[step.kind, getattr(runner(step.kind), "parser", 0), read_settings(step)] for step in steps]
    key = hashlib.sha256(json.dumps([REVISION, parsers], sort_keys=True).encode()).hexdigest()[:12]
    return result / f"figures.{key}.msgpack"


def stored_figures(result: Path, steps: Sequence[PlannedStep]) -> ResultFigures | None:
    """Take them from the result's folder; None where this version has not read it for these metrics, or damage."""
    try:
        content = read_bytes(figures_file(result, steps))
        if hashlib.sha256(content[FIGURES_DIGEST:]).digest() == content[:FIGURES_DIGEST]:
            return msgpack.decode(content[FIGURES_DIGEST:], type=ResultFigures)
    except (OSError, MsgspecError):
        pass
    return None


_encoded = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode


def environment_rows(result: Result, steps: Sequence[StepFigures]) -> Iterator[EnvironmentRow]:
    """Rows of the table `environment` about a result: text as it is, everything else as JSON."""
    attempt = attempt_record(result.folder)
    noise, start = unnamed_record(attempt.noise or NoiseRecord()), attempt.cache
    scopes: dict[str, Facts] = {
        "host": attempt.host,
        "image": attempt.image,
        "start": {**{name: start.get(name) for name in ("start", "bytes", "files", "resident")}, **attempt.loading},
        "asked": attempt.request,
        "durability": attempt.durability,
        "noise": {"warning": noise.warning, "fixed": noise.fixed},
    }
    for scope, facts in scopes.items():
        yield from fact_rows(scope, None, facts)
    for position, (record, folder) in enumerate(zip(result.steps, result.folders, strict=True)):
        measured = {name: plain(getattr(record, name)) for name in ("dropped", "user", "system", "max_rss")}
        # what has the type that a run writes: the program of the step could put another command.json there
        command = find_record(folder / "command.json", CommandRecord)
        yield from fact_rows("command", position, {**(command.to_json() if command else {}), **measured})
    for position, step in enumerate(steps):
        yield from fact_rows("facts", position, step.facts)
        yield from fact_rows(QUERY_PLANS, position, step.plans)
        yield from fact_rows("step start", position, {"state": step.start} if step.start else {})


def fact_rows(scope: str, position: int | None, facts: Mapping[str, object]) -> Iterator[EnvironmentRow]:
    for name, value in facts.items():
        if value is not None:
            yield scope, position, name, value if isinstance(value, str) else _encoded(value)
