"""Figures of a result, and the file beside it that keeps them: what was measured with, too. It measures nothing.

The job that measured a stage writes the file; where it is missing, damaged, or was read by another parser or for other
metrics, the kept raw output is read again. It is a cache: raw output is the result.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import MsgspecError, msgpack

from stepgrid.collect.step_figures import StepFigures, read_step
from stepgrid.host.files import read_bytes, read_json, write_cache
from stepgrid.host.noise import unnamed_record
from stepgrid.model.plan import PlannedStep
from stepgrid.model.result_schema import QUERY_PLANS
from stepgrid.model.status import Result
from stepgrid.plugins.registry import read_settings, runner
from stepgrid.store.paths import ATTEMPT_FILE, FIGURES_DIGEST

REVISION = 19  # of what is worked out beside the drivers' own figures
EnvironmentRow = tuple[str, int | None, str, str]  # scope, position of the step, name, value


@dataclass(frozen=True, slots=True)
class ResultFigures:
    """All that the tables have of a result; an entry for each step."""

    steps: Sequence[StepFigures]
    folders: Sequence[str]  # names
    started: Sequence[str | None]
    seconds: Sequence[float | None]
    environment: Sequence[EnvironmentRow] = ()  # what it was measured with


def read_result(result: Result, steps: Sequence[PlannedStep]) -> ResultFigures:
    """Read the raw output of all steps, and keep their figures unless some cannot be read."""
    parts = zip(result.folders, steps, result.steps, strict=True)
    readings = [read_step(folder, step, record) for folder, step, record in parts]
    figures = ResultFigures(
        readings,
        [folder.name for folder in result.folders],
        [record.get("started") for record in result.steps],
        [record.get("seconds") for record in result.steps],
        [*environment_rows(result, readings)],
    )
    if not any(step.error for step in readings):
        body = msgpack.encode(figures)
        with suppress(OSError):  # a read-only or full store is no reason to fail
            write_cache(figures_file(result.folder, steps), hashlib.sha256(body).digest() + body)
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
