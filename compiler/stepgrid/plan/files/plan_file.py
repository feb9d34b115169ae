"""A plan on disk: a header, lines of cells in order, and sorted lines of builds, and of stages and their steps' parts.

A job finds its own lines by bisection. A plan without cells has no file of them."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from stepgrid.model.adaptive_repeat import AdaptiveRepeat
from stepgrid.model.canonical_json import encode, fields, flat, quoted
from stepgrid.model.plan import (
    CLIENT,
    STAGE_PREFIX,
    Axis,
    CellStep,
    Outline,
    OutlinedStage,
    Plan,
    PlannedBuild,
    PlannedCell,
    PlannedStage,
    Repeat,
    Report,
)
from stepgrid.plan import identity
from stepgrid.plan.files import json_lines, step_parts
from stepgrid.plan.files.step_parts import Writer

__all__ = [
    "HEADER", "Header", "adaptive", "build", "builds", "digest", "encode", "ids", "outline", "read", "read_header",
    "stage", "texts",
]  # fmt: skip

HEADER, CELLS, BUILDS, STAGES = "plan.json", "cells.jsonl", "builds.jsonl", "stages.jsonl"


def digest(plan: Plan) -> str:
    """Of all that is written but the digest itself."""
    found = hashlib.sha256()
    for _, content in texts(plan):
        for line in content:
            found.update(line.encode())
    return found.hexdigest()[: identity.LENGTH]


class Header(dict[str, Any]):
    """plan.json; `cells` and `stages`, which are long, are read when they are asked for."""

    def __init__(self, folder: Path) -> None:
        if not (folder / HEADER).is_file():  # a pipe would be waited for
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder / HEADER))
        super().__init__(json.loads((folder / HEADER).read_text(encoding="utf-8")))
        self._folder = folder

    def __missing__(self, name: str) -> Any:
        if name not in ("cells", "stages"):
            raise KeyError(name)
        self[name] = _cells(self._folder) if name == "cells" else _stages(self._folder)[0]
        return self[name]


def read_header(folder: Path) -> Header:
    """Everything but the builds' and the stages' own lines."""
    return Header(folder)


def read(folder: Path) -> Plan:
    raw = read_header(folder)
    stages, known = _stages(folder)
    return Plan(
        **{name: raw[name] for name in ("digest", "title", "spec", "scale", "hardware")},
        axes=tuple(_axis(axis) for axis in raw["axes"]),
        cells=tuple(_cell(cell) for cell in raw["cells"]),
        builds=tuple(PlannedBuild(**build) for build in json_lines.every(folder / BUILDS)),
        stages=tuple(_stage(stage, known) for stage in stages),
        report=Report(**{**raw["report"], **{name: tuple(raw["report"][name]) for name in ("tables", "claims")}}),
        warnings=tuple(raw["warnings"]),
        machines=raw["machines"],
        searches=tuple(raw.get("searches", ())),
        share=raw.get("share", True),
        until=adaptive(raw),
    )


def outline(folder: Path) -> Outline:
    raw, builds = read_header(folder), [PlannedBuild(**build) for build in json_lines.every(folder / BUILDS)]
    stages, known = _stages(folder)
    found = [_outlined(stage, known) for stage in stages]
    said = {name: raw[name] for name in ("digest", "title", "spec", "scale", "machines")}
    return Outline(**said, builds=builds, stages=found)


def _outlined(raw: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> OutlinedStage:
    setups = [known[part].get("setup", {}) for step in raw["steps"] for part in step["parts"]]
    clients = dict.fromkeys(setup[CLIENT] for setup in setups if setup.get(CLIENT))
    said = {name: raw[name] for name in ("id", "title", "parent", "hardware", "steps", "seconds", "rank")}
    return OutlinedStage(builds=(raw["build"], *clients), **said)


def stage(folder: Path, node: str) -> PlannedStage:
    raw = json_lines.found(folder / STAGES, [node])[0]
    needed = {part for step in raw["steps"] for part in step["parts"]}
    return _stage(raw, dict(map(step_parts.part, json_lines.found(folder / STAGES, needed))))


def ids(folder: Path) -> list[str]:
    """Of all stages, without reading more of their lines than that."""
    start = f'{{"id":"{STAGE_PREFIX}'.encode()
    begin, prefix = len(start) - len(STAGE_PREFIX), len(start)
    with (folder / STAGES).open("rb") as file:
        return [line[begin : line.index(b'"', prefix)].decode() for line in file if line.startswith(start)]


def builds(folder: Path) -> list[str]:
    """Their ids."""
    return [str(raw["id"]) for raw in json_lines.every(folder / BUILDS)]


def build(folder: Path, node: str) -> PlannedBuild:
    return PlannedBuild(**json_lines.found(folder / BUILDS, [node])[0])


def texts(plan: Plan) -> Iterator[tuple[str, Iterable[str]]]:
    """Each file's name and lines; `compiler/stepgrid/store/plans.py` writes them."""
    writer = step_parts.Writer()
    yield HEADER, [encode(_header(plan)) + "\n"]
    if plan.cells:
        yield CELLS, cells(plan.cells)
    yield (
        BUILDS,
        [json_lines.line(build.id, fields(build)) for build in sorted(plan.builds, key=lambda build: build.id)],
    )
    yield STAGES, chain(stages(plan.stages, writer), writer.lines())  # its lines are known after the stages'


def _header(plan: Plan) -> dict[str, Any]:
    """Without `share`, `searches`, `until` and `as_shipped` where they are as usual: older plans keep their digests."""
    usual = {"share": plan.share, "searches": not plan.searches, "until": plan.until is None}
    left_out = {"cells", "stages", *(name for name, is_usual in usual.items() if is_usual)}
    found = {name: value for name, value in fields(plan).items() if name not in left_out}
    return found if plan.report.as_shipped else {**found, "report": _without(fields(plan.report), "as_shipped")}


def _without(found: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {each: value for each, value in found.items() if each != name}


def adaptive(raw: Mapping[str, Any]) -> AdaptiveRepeat | None:
    """What the header says of loads until it is sure."""
    return AdaptiveRepeat(**raw["until"]) if raw.get("until") else None


def _cells(folder: Path) -> list[dict[str, Any]]:
    path = folder / CELLS
    return list(json_lines.every(path)) if path.is_file() else []


def _stages(folder: Path) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """The stages as they are written, and the parts of steps by id."""
    every = list(json_lines.every(folder / STAGES))
    known = dict(step_parts.part(raw) for raw in every if "steps" not in raw)
    return [raw for raw in every if "steps" in raw], known


def _axis(raw: Mapping[str, Any]) -> Axis:
    return Axis(raw["name"], tuple(raw["labels"]), None if raw["steps"] is None else tuple(raw["steps"]))


def _cell(raw: Mapping[str, Any]) -> PlannedCell:
    repeats = tuple(Repeat(r["load"], r["run"], tuple(r["stages"])) for r in raw["repeats"])
    steps = tuple(CellStep(**step) for step in raw["steps"])
    return PlannedCell(raw["id"], raw["labels"], raw["build"], steps, repeats)


def _stage(raw: dict[str, Any], known: Mapping[str, Mapping[str, Any]]) -> PlannedStage:
    steps = tuple(step_parts.step(step, known) for step in raw.pop("steps"))
    return PlannedStage(steps=steps, children=tuple(raw.pop("children")), **raw)


def cells(planned: Iterable[PlannedCell]) -> Iterator[str]:
    """In the plan's order."""
    known: dict[int, str] = {}  # cells share their steps
    for cell in planned:
        steps = known.get(id(cell.steps)) or known.setdefault(id(cell.steps), encode(cell.steps))
        repeats = ",".join([_repeat(repeat) for repeat in cell.repeats])
        yield (
            f'{{"id":{quoted(cell.id)},"build":{quoted(cell.build)},"labels":{flat(cell.labels)},'
            f'"repeats":[{repeats}],"steps":{steps}}}\n'
        )


def stages(planned: Iterable[PlannedStage], writer: Writer) -> Iterator[str]:
    """Sorted by id, which comes first on its line."""
    for stage in sorted(planned, key=lambda stage: stage.id):
        steps = ",".join([writer.step(step) for step in stage.steps])
        todays = f',"todays":{quoted(stage.todays)}' if stage.todays else ""
        yield (
            f'{{"id":{quoted(stage.id)},"build":{quoted(stage.build)},"children":{_ids(stage.children)},'
            f'"hardware":{quoted(stage.hardware)},"load":{stage.load},"parent":{_parent(stage)},'
            f'"rank":{stage.rank},"run":{stage.run},"seconds":{stage.seconds!r},"steps":[{steps}],'
            f'"title":{quoted(stage.title)}{todays}}}\n'
        )


def _repeat(repeat: Repeat) -> str:
    return f'{{"load":{repeat.load},"run":{repeat.run},"stages":{_ids(repeat.stages)}}}'


def _parent(stage: PlannedStage) -> str:
    return "null" if stage.parent is None else quoted(stage.parent)


def _ids(nodes: Sequence[str]) -> str:
    return f"[{','.join(map(quoted, nodes))}]"
