"""Files of a plan: a header, cells in order, and lines of builds, stages and parts of steps, sorted by id.

A job finds its own lines by bisection. A plan without cells has no file of them. What steps share is a part, written
once under the digest of its text. The folder is named by the digest of all that is written but this digest.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from stepgrid.model.plan import (
    CLIENT,
    STAGE_PREFIX,
    AdaptiveRepeat,
    Axis,
    CellStep,
    Option,
    Options,
    Outline,
    OutlinedStage,
    Plan,
    PlannedBuild,
    PlannedCell,
    PlannedStage,
    PlannedStep,
    Repeat,
    Report,
    encode,
    fields,
    flat,
    quoted,
)
from stepgrid.plan import identity

HEADER, CELLS, BUILDS, STAGES = "plan.json", "cells.jsonl", "builds.jsonl", "stages.jsonl"
PART_PREFIX = "sp-"  # sorts behind the stages: the same file has both
# raised while reading a plan that was damaged, or that an older version wrote
DAMAGED = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)

Parts: TypeAlias = Mapping[str, Mapping[str, Any]]  # of steps, by id


# Reading


class Header(dict[str, Any]):
    """plan.json; `cells` and `stages`, which are long, are read on first use."""

    def __init__(self, folder: Path) -> None:
        if not (folder / HEADER).is_file():  # reading a pipe would wait
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder / HEADER))
        super().__init__(json.loads((folder / HEADER).read_text(encoding="utf-8")))
        self._folder = folder

    def __missing__(self, name: str) -> Any:
        if name == "cells":
            path = self._folder / CELLS
            self[name] = list(_read_lines(path)) if path.is_file() else []
        elif name == "stages":
            self[name] = _read_stages(self._folder)[0]
        else:
            raise KeyError(name)
        return self[name]


def read_header(folder: Path) -> Header:
    """Read everything but the lines of builds, stages and cells."""
    return Header(folder)


def adaptive_repeat(header: Mapping[str, Any]) -> AdaptiveRepeat | None:
    """Return what a header says of a number of loads that the figures decide."""
    return AdaptiveRepeat(**header["until"]) if header.get("until") else None


def read(folder: Path) -> Plan:
    raw = read_header(folder)
    stages, parts = _read_stages(folder)
    axes = [(axis["name"], tuple(axis["labels"]), axis["steps"]) for axis in raw["axes"]]
    return Plan(
        **{name: raw[name] for name in ("digest", "title", "spec", "scale", "hardware")},
        axes=tuple(Axis(name, labels, None if steps is None else tuple(steps)) for name, labels, steps in axes),
        cells=tuple(_parse_cell(cell) for cell in raw["cells"]),
        builds=tuple(PlannedBuild(**build) for build in _read_lines(folder / BUILDS)),
        stages=tuple(_parse_stage(stage, parts) for stage in stages),
        report=Report(**{**raw["report"], **{name: tuple(raw["report"][name]) for name in ("tables", "claims")}}),
        warnings=tuple(raw["warnings"]),
        machines=raw["machines"],
        searches=tuple(raw.get("searches", ())),
        share=raw.get("share", True),
        until=adaptive_repeat(raw),
    )


def outline(folder: Path) -> Outline:
    """Read a plan without its cells and without what its steps do."""
    raw, builds = read_header(folder), [PlannedBuild(**build) for build in _read_lines(folder / BUILDS)]
    lines, parts = _read_stages(folder)
    stages = []
    for line in lines:
        setups = [parts[part].get("setup", {}) for step in line["steps"] for part in step["parts"]]
        clients = dict.fromkeys(setup[CLIENT] for setup in setups if setup.get(CLIENT))
        values = {name: line[name] for name in ("id", "title", "parent", "hardware", "steps", "seconds", "rank")}
        stages.append(OutlinedStage(builds=(line["build"], *clients), **values))
    header = {name: raw[name] for name in ("digest", "title", "spec", "scale", "machines")}
    return Outline(**header, builds=builds, stages=stages)


def stage(folder: Path, node: str) -> PlannedStage:
    """Read one stage; KeyError where the plan has no such stage."""
    raw = _find_lines(folder / STAGES, [node])[0]
    parts = {part for step in raw["steps"] for part in step["parts"]}
    return _parse_stage(raw, dict(map(_parse_part, _find_lines(folder / STAGES, parts))))


def build(folder: Path, node: str) -> PlannedBuild:
    return PlannedBuild(**_find_lines(folder / BUILDS, [node])[0])


def stage_ids(folder: Path) -> list[str]:
    """List the ids of all stages, without parsing their lines."""
    start = f'{{"id":"{STAGE_PREFIX}'.encode()
    begin, prefix = len(start) - len(STAGE_PREFIX), len(start)
    with (folder / STAGES).open("rb") as file:
        return [line[begin : line.index(b'"', prefix)].decode() for line in file if line.startswith(start)]


def build_ids(folder: Path) -> list[str]:
    return [str(raw["id"]) for raw in _read_lines(folder / BUILDS)]


def is_intact(folder: Path) -> bool:
    """Compare the files of a plan with the digest that names their folder, by their bytes alone.

    That takes a hundredth of the time of reading them as a plan."""
    name = folder.name.encode()
    if not all((folder / file).is_file() for file in (HEADER, BUILDS, STAGES)):  # reading a pipe would wait
        return False
    try:
        header = (folder / HEADER).read_bytes().replace(b'"digest":"%b"' % name, b'"digest":""', 1)
        checksum = hashlib.sha256(header)
        for file in (CELLS, BUILDS, STAGES):
            if file != CELLS or (folder / file).is_file():  # a plan of no cells has no such file
                checksum.update((folder / file).read_bytes())
    except OSError:
        return False
    return checksum.hexdigest()[: identity.LENGTH].encode() == name


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        yield from map(json.loads, file)


def _read_stages(folder: Path) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return the stages as they are written, and the parts of steps by id."""
    lines = list(_read_lines(folder / STAGES))
    parts = dict(_parse_part(line) for line in lines if "steps" not in line)
    return [line for line in lines if "steps" in line], parts


def _parse_part(raw: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a part's id, and the part."""
    node = raw.pop("id")
    if "options" in raw:
        raw["options"] = {name: Option(**option) for name, option in raw["options"].items()}
    return node, raw


def _parse_stage(raw: dict[str, Any], parts: Parts) -> PlannedStage:
    steps = tuple(_parse_step(step, parts) for step in raw.pop("steps"))
    return PlannedStage(steps=steps, children=tuple(raw.pop("children")), **raw)


def _parse_step(raw: Mapping[str, Any], parts: Parts) -> PlannedStep:
    step_parts = [parts[node] for node in raw["parts"]]
    values = {name: value for part in step_parts for name, value in part.items()}
    options = Options(part["options"] for part in step_parts if "options" in part)
    files = {name: text for part in step_parts if "files" in part for name, text in part["files"].items()}
    return PlannedStep(**{**values, "options": options, "seed": raw["seed"], "files": files})


def _parse_cell(raw: Mapping[str, Any]) -> PlannedCell:
    """Build a cell of its line."""
    repeats = tuple(Repeat(repeat["load"], repeat["run"], tuple(repeat["stages"])) for repeat in raw["repeats"])
    steps = tuple(CellStep(**step) for step in raw["steps"])
    return PlannedCell(raw["id"], raw["labels"], raw["build"], steps, repeats)


def _find_lines(path: Path, nodes: Iterable[str]) -> list[dict[str, Any]]:
    """Find the lines of some ids, in a file that is sorted by them."""
    with path.open("rb") as file:
        return [json.loads(_bisect(file, node)) for node in nodes]


def _bisect(file: BinaryIO, node: str) -> bytes:
    key = f'{{"id":{quoted(node)},'.encode()
    low, high = 0, file.seek(0, os.SEEK_END)
    while low < high:
        middle = (low + high) // 2
        text = _line_from(file, middle)
        if text and text[: len(key)] < key:
            low = middle + 1
        else:
            high = middle
    text = _line_from(file, low)
    if not text.startswith(key):
        raise KeyError(f"{file.name} has no {node}")
    return text


def _line_from(file: BinaryIO, position: int) -> bytes:
    """Read the first line that starts at or after a position."""
    file.seek(max(position - 1, 0))
    if position:
        file.readline()
    return file.readline()


# Writing


def digest(plan: Plan) -> str:
    """Compute the digest of all that is written; the plan's own digest is empty then."""
    checksum = hashlib.sha256()
    for _, content in texts(plan):
        for line in content:
            checksum.update(line.encode())
    return checksum.hexdigest()[: identity.LENGTH]


def texts(plan: Plan) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield each file's name and lines; `compiler/stepgrid/store/plans.py` writes them."""
    writer = _PartWriter()
    yield HEADER, [encode(_header(plan)) + "\n"]
    if plan.cells:
        yield CELLS, _cell_lines(plan.cells)
    builds = sorted(plan.builds, key=lambda build: build.id)
    yield BUILDS, [_line(build.id, fields(build)) for build in builds]
    yield STAGES, chain(_stage_lines(plan.stages, writer), writer.lines())  # the writer knows them after the stages


def _header(plan: Plan) -> dict[str, Any]:
    """Leave out what is as usual: plans that are older than these keys keep their digests."""
    usual = {"share": plan.share, "searches": not plan.searches, "until": plan.until is None}
    omitted = {"cells", "stages", *(name for name, is_usual in usual.items() if is_usual)}
    header = {name: value for name, value in fields(plan).items() if name not in omitted}
    if plan.report.as_shipped:
        return header
    return {**header, "report": {name: value for name, value in fields(plan.report).items() if name != "as_shipped"}}


def _line(node: str, values: Mapping[str, Any]) -> str:
    # the id comes first, so that lines sort and bisect by it
    return f'{{"id":{quoted(node)},{encode({name: value for name, value in values.items() if name != "id"})[1:]}\n'


def _cell_lines(cells: Iterable[PlannedCell]) -> Iterator[str]:
    encoded: dict[int, str] = {}  # cells share their steps
    for cell in cells:
        steps = encoded.get(id(cell.steps)) or encoded.setdefault(id(cell.steps), encode(cell.steps))
        repeats = ",".join([f'{{"load":{r.load},"run":{r.run},"stages":{_ids(r.stages)}}}' for r in cell.repeats])
        yield (
            f'{{"id":{quoted(cell.id)},"build":{quoted(cell.build)},"labels":{flat(cell.labels)},'
            f'"repeats":[{repeats}],"steps":{steps}}}\n'
        )


def _stage_lines(stages: Iterable[PlannedStage], writer: _PartWriter) -> Iterator[str]:
    for stage in sorted(stages, key=lambda stage: stage.id):
        steps = ",".join([writer.step(step) for step in stage.steps])
        parent = "null" if stage.parent is None else quoted(stage.parent)
        todays = f',"todays":{quoted(stage.todays)}' if stage.todays else ""
        yield (
            f'{{"id":{quoted(stage.id)},"build":{quoted(stage.build)},"children":{_ids(stage.children)},'
            f'"hardware":{quoted(stage.hardware)},"load":{stage.load},"parent":{parent},'
            f'"rank":{stage.rank},"run":{stage.run},"seconds":{stage.seconds!r},"steps":[{steps}],'
            f'"title":{quoted(stage.title)}{todays}}}\n'
        )


def _ids(nodes: Sequence[str]) -> str:
    return f"[{','.join(map(quoted, nodes))}]"


_HEAD = ("name", "kind", "revision", "measured", "mutates")


class _PartWriter:
    """Replace steps by the ids of their parts. The plan holds all of them, so an object's id() identifies it."""

    def __init__(self) -> None:
        self._ids: dict[Hashable, str] = {}
        self._lines: dict[str, str] = {}

    def step(self, step: PlannedStep) -> str:
        """Write a step as it stands in its stage's line."""
        ids = self._ids
        head = (step.name, step.kind, step.revision, step.measured, step.mutates)
        parts = [
            ids.get(head) or self._add(head, dict(zip(_HEAD, head, strict=True))),
            ids.get(id(step.settings)) or self._add(id(step.settings), {"settings": step.settings}),
        ]
        if step.setup:
            parts.append(ids.get(id(step.setup)) or self._add(id(step.setup), {"setup": step.setup}))
        options = step.options.parts if isinstance(step.options, Options) else (step.options,)
        parts += [ids.get(id(part)) or self._add(id(part), {"options": part}) for part in options if part]
        if step.files:
            parts += [ids.get(file) or self._add(file, {"files": dict([file])}) for file in step.files.items()]
        listed = '","'.join(parts)
        return f'{{"parts":["{listed}"],"seed":{step.seed}}}'

    def lines(self) -> Iterator[str]:
        """Yield the lines of the parts of all steps so far, sorted."""
        yield from (self._lines[node] for node in sorted(self._lines))

    def _add(self, key: Hashable, values: Mapping[str, Any]) -> str:
        node = self._ids[key] = PART_PREFIX + identity.digest(values)
        self._lines[node] = _line(node, values)
        return node
