"""What the figures were measured with: the plan, the builds, the host of each attempt, the command of each step."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from stepgrid.collect.tables.parquet import Row
from stepgrid.host import file_reader
from stepgrid.model.plan import Option, Options, Plan, PlannedStage, Value
from stepgrid.model.status import Result
from stepgrid.store import build_record, retractions
from stepgrid.store.paths import IMPORTED
from stepgrid.store.store import Store

WITHOUT_OPTIONS = "command"  # a kind of step that the engine's options do not reach


def rows(store: Store, plan: Plan) -> Iterator[Row]:
    """(scope, subject, name, value): text as it is, everything else as JSON. What is not of an attempt."""
    yield from _rows("plan", plan.digest, {"title": plan.title, "spec": plan.spec, "scale": plan.scale})
    yield from _rows("hardware", str(plan.hardware.get("id", "")), plan.hardware)
    for build in plan.builds:
        records = store.build_record(build.id)
        yield from _rows("build", build.id, {"name": build.name, **build_record.read(records / "build.json")})
        yield from _rows("default", build.id, _defaults(records / "catalogue.json"))
    for node, options in requested(plan.stages).items():
        yield from _rows("requested", node, options)
    for stage in plan.stages:
        yield from _retracted(store, stage.id)
        yield from _unknown_contents(store, stage)


def _retracted(store: Store, stage: str) -> Iterator[Row]:
    for result in store.all_results(stage):
        if note := retractions.of(result):
            yield from _rows("retracted", f"{stage}/{result.name}", asdict(note))


def _unknown_contents(store: Store, stage: PlannedStage) -> Iterator[Row]:
    """Of results that do not say what was in the files that their commands read."""
    files = sorted({name.partition("/")[2] for name in stage.contents})
    for result in store.results(stage.id) if files else ():
        if "contents" not in file_reader.read(result / "attempt.json"):
            yield from _rows("unknown contents", f"{stage.id}/{result.name}", {"files": ", ".join(files)})


def _defaults(path: Path) -> dict[str, str]:
    return {name: str(info.get("default", "")) for name, info in (build_record.catalogue(path) or {}).items()}


def requested(stages: Iterable[PlannedStage]) -> dict[str, dict[str, list[Value | None]]]:
    """Build -> option -> what its steps ask for; None is among it where some step leaves it to the build."""
    asked: dict[str, dict[tuple[int, ...], Mapping[str, Option]]] = defaultdict(dict)
    for stage in stages:
        for step in stage.steps:
            if step.kind != WITHOUT_OPTIONS:  # many steps have the same: they are looked at once
                asked[stage.build].setdefault(_parts(step.options), step.options)
    return {build: _values(list(options.values())) for build, options in asked.items()}


def _parts(options: Mapping[str, Option]) -> tuple[int, ...]:
    return tuple(map(id, options.parts)) if isinstance(options, Options) else (id(options),)


def _values(asked: Sequence[Mapping[str, Option]]) -> dict[str, list[Value | None]]:
    found: dict[str, dict[str, Value | None]] = defaultdict(dict)
    for name in dict.fromkeys(name for options in asked for name in options):
        for options in asked:
            value = options[name].value if name in options else None
            found[name].setdefault(repr(value), value)
    return {name: list(values.values()) for name, values in found.items()}


def attempt(subject: str, result: Result, said: Sequence[tuple[Mapping[str, str], Mapping[str, Any]]]) -> Iterator[Row]:
    """Of one result: `said` are the facts of its steps, and what these began with."""
    found = file_reader.read(f"{result.folder}/attempt.json")
    yield from _rows("host", subject, found.get("host") or {})
    if os.path.exists(imported := f"{result.folder}/{IMPORTED}"):  # noqa: PTH110 - of tens of thousands
        yield from _rows("imported", subject, {"signer": str(file_reader.read(imported).get("signer") or "")})
    yield from _rows("image", subject, found.get("image") or {})
    start = found.get("cache") or {}
    yield from _rows("start", subject, {name: start.get(name) for name in ("start", "bytes", "files", "resident")})
    yield from _rows("asked", subject, found.get("asked") or {})
    noise = found.get("noise") or {}
    yield from _rows("noise", subject, {name: noise.get(name) for name in ("warning", "fixed")})
    for index, (step, folder) in enumerate(zip(result.steps, result.folders, strict=True)):
        facts: dict[str, Any] = {name: step[name] for name in ("dropped", "user", "system", "max_rss") if name in step}
        yield from _rows("command", f"{subject}/{index}", {**_command(folder), **facts})
    for index, (told, began) in enumerate(said):
        yield from _rows("facts", f"{subject}/{index}", told)
        yield from _rows("step start", f"{subject}/{index}", {"state": began} if began else {})


def _command(folder: Path) -> Mapping[str, Any]:
    """Read what has the type that a run writes: the program of the step could put another command.json there."""
    record = file_reader.read(folder / "command.json")
    argv, variables = record.get("argv"), {name: record.get(name) for name in ("env", "environment")}
    return {
        **({"argv": argv} if isinstance(argv, list) and _are_texts(argv) else {}),
        **{name: texts for name, texts in variables.items() if isinstance(texts, dict) and _are_texts(texts.values())},
        **({"launch": launch} if isinstance(launch := record.get("launch"), dict) else {}),
    }


def _are_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


_encoded = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode


def _rows(scope: str, subject: str, facts: Mapping[str, Any]) -> Iterator[Row]:
    for name, value in facts.items():
        if value is not None:
            text = value if isinstance(value, str) else _encoded(value)
            yield {"scope": scope, "subject": subject, "name": name, "value": text}
