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
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from stepgrid.model.plan import (
    BUILD_PREFIX,
    CLIENT,
    STAGE_PREFIX,
    AdaptiveRepeat,
    Axis,
    CellStep,
    Header,
    Option,
    Options,
    OutlinedStage,
    Plan,
    PlannedBuild,
    PlannedCell,
    PlannedStage,
    PlannedStep,
    ProfilePass,
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


def read_header(folder: Path) -> Header:
    """Read plan.json alone; cells and stages, which are long, are read on first use."""
    if not (folder / HEADER).is_file():  # reading a pipe would wait
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder / HEADER))
    raw = json.loads((folder / HEADER).read_text(encoding="utf-8"))
    axes = [(axis["name"], tuple(axis["labels"]), axis["steps"]) for axis in raw["axes"]]
    return Header(
        **{name: raw[name] for name in ("digest", "title", "spec", "scale", "hardware")},
        axes=tuple(Axis(name, labels, None if steps is None else tuple(steps)) for name, labels, steps in axes),
        builds=tuple(PlannedBuild(**build) for build in raw["builds"]),
        report=Report(**{**raw["report"], **{name: tuple(raw["report"][name]) for name in ("tables", "claims")}}),
        read_cells=lambda: _read_cells(folder),
        read_stages=lambda: _read_outlined_stages(folder),
        warnings=tuple(raw["warnings"]),
        machines=raw["machines"],
        searches=tuple(raw.get("searches", ())),
        share=raw.get("share", True),
        until=AdaptiveRepeat(**raw["until"]) if raw.get("until") else None,
        profile=ProfilePass(tuple(profile["where"]), profile["stages"]) if (profile := raw.get("profile")) else None,
    )


def read(folder: Path) -> Plan:
    header = read_header(folder)
    lines, raw_parts = _read_stages(folder)
    parts = dict(map(_parse_part, raw_parts))
    return Plan(
        **{name: getattr(header, name) for name in Plan.__dataclass_fields__ if name not in ("cells", "stages")},
        cells=tuple(header.cells),
        stages=tuple(_parse_stage(line, parts) for line in lines),
    )


def outline(folder: Path) -> Header:
    """Read a plan with its stages, but without cells and what steps do."""
    stages = _read_outlined_stages(folder)
    return replace(read_header(folder), read_stages=lambda: stages)


def stage(folder: Path, node: str) -> PlannedStage:
    """Read one stage; KeyError where the plan has no such stage."""
    raw = _find_lines(folder / STAGES, [node])[0]
    parts = {part for step in raw["steps"] for part in step["parts"]}
    return _parse_stage(raw, dict(map(_parse_part, _find_lines(folder / STAGES, parts))))


def build(folder: Path, node: str) -> PlannedBuild:
    return PlannedBuild(**_find_lines(folder / BUILDS, [node])[0])


def stage_ids(folder: Path) -> list[str]:
    return _line_ids(folder / STAGES, STAGE_PREFIX)


def build_ids(folder: Path) -> list[str]:
    return _line_ids(folder / BUILDS, BUILD_PREFIX)


def _line_ids(path: Path, id_prefix: str) -> list[str]:
    """List the ids of lines, without parsing them."""
    start = f'{{"id":"{id_prefix}'.encode()
    begin, end = len(start) - len(id_prefix), len(start)
    with path.open("rb") as file:
        return [line[begin : line.index(b'"', end)].decode() for line in file if line.startswith(start)]


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


def _read_cells(folder: Path) -> list[PlannedCell]:
    """Read the cells, most of which have the same steps: these stand at the end of the line, and are one object."""
    cells = []
    steps_by_text: dict[bytes, tuple[CellStep, ...]] = {}
    for line in (folder / CELLS).read_bytes().splitlines() if (folder / CELLS).is_file() else ():
        start, _, text = line.partition(b',"steps":[')  # labels and variables are texts, so none of them looks like it
        if (steps := steps_by_text.get(text)) is None:
            raw_steps = json.loads(b"[" + text[:-1])
            texts = ({name: tuple(step.get(name, ())) for name in _EXPECTATIONS} for step in raw_steps)
            steps = tuple(CellStep(**{**step, **lists}) for step, lists in zip(raw_steps, texts, strict=True))
            steps_by_text[text] = steps
        raw = json.loads(start + b"}")
        repeats = tuple(Repeat(**{**repeat, "stages": tuple(repeat["stages"])}) for repeat in raw["repeats"])
        cells.append(PlannedCell(raw["id"], raw["labels"], raw["build"], steps, repeats))
    return cells


def _read_outlined_stages(folder: Path) -> list[OutlinedStage]:
    lines, parts = _read_stages(folder)
    client_by_part = {part["id"]: part["setup"].get(CLIENT) for part in parts if "setup" in part}
    stages = []
    for line in lines:
        steps = [step["parts"] for step in line.pop("steps")]
        clients = dict.fromkeys(client_by_part.get(part) for step in steps for part in step)
        values = {name: line[name] for name in ("id", "title", "parent", "hardware", "seconds", "rank")}
        values["origin"] = line.get("origin", "")
        stages.append(OutlinedStage(builds=(line["build"], *filter(None, clients)), steps=steps, **values))
    return stages


def _read_stages(folder: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return stages and parts of steps as they are written."""
    with (folder / STAGES).open("rb") as file:
        lines = list(map(json.loads, file))
    return [line for line in lines if "steps" in line], [line for line in lines if "steps" not in line]


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
    values = ({name: value for name, value in fields(build).items() if name != "id"} for build in builds)
    yield BUILDS, [_line(build.id, encode(value)) for build, value in zip(builds, values, strict=True)]
    yield STAGES, chain(_stage_lines(plan.stages, writer), writer.lines())  # the writer knows them after the stages


_UNUSUAL = (
    "as_shipped",
    "strict",
    "metric",
    "declared",
    "mixed_durability",
)  # keys of a report that are left out where a spec does not say them


def _header(plan: Plan) -> dict[str, Any]:
    """Leave out what is as usual: plans that are older than these keys keep their digests."""
    usual = {"share": plan.share, "searches": not plan.searches, "until": plan.until is None}
    usual["profile"] = plan.profile is None
    omitted = {"cells", "stages", *(name for name, is_usual in usual.items() if is_usual)}
    header = {name: value for name, value in fields(plan).items() if name not in omitted}
    report = {name: value for name, value in fields(plan.report).items() if value or name not in _UNUSUAL}
    return {**header, "report": report}


def _line(node: str, encoded: str) -> str:
    # the id comes first, so that lines sort and bisect by it
    return f'{{"id":{quoted(node)},{encoded[1:]}\n'


_EXPECTATIONS = ("expects", "checkpoint_expects")  # likewise of the steps of a cell


def _cell_lines(cells: Iterable[PlannedCell]) -> Iterator[str]:
    encoded: dict[int, str] = {}  # cells share their steps
    for cell in cells:
        if (steps := encoded.get(id(cell.steps))) is None:
            values = (fields(step).items() for step in cell.steps)
            usual = [{name: value for name, value in step if value or name not in _EXPECTATIONS} for step in values]
            steps = encoded[id(cell.steps)] = encode(usual)
        origins = [f',"origin":{quoted(r.origin)}' if r.origin else "" for r in cell.repeats]
        texts = [f'{{"load":{r.load},"run":{r.run},"stages":{_ids(r.stages)}' for r in cell.repeats]
        repeats = ",".join([f"{text}{origin}}}" for text, origin in zip(texts, origins, strict=True)])
        yield (
            f'{{"id":{quoted(cell.id)},"build":{quoted(cell.build)},"labels":{flat(cell.labels)},'
            f'"repeats":[{repeats}],"steps":{steps}}}\n'
        )


def _stage_lines(stages: Iterable[PlannedStage], writer: _PartWriter) -> Iterator[str]:
    for stage in sorted(stages, key=lambda stage: stage.id):
        steps = ",".join([writer.step(step) for step in stage.steps])
        parent = "null" if stage.parent is None else quoted(stage.parent)
        todays = f',"todays":{quoted(stage.todays)}' if stage.todays else ""
        origin = f',"origin":{quoted(stage.origin)}' if stage.origin else ""
        yield (
            f'{{"id":{quoted(stage.id)},"build":{quoted(stage.build)},"children":{_ids(stage.children)},'
            f'"hardware":{quoted(stage.hardware)},"load":{stage.load},"parent":{parent},'
            f'"rank":{stage.rank},"run":{stage.run},"seconds":{stage.seconds!r},"steps":[{steps}],'
            f'"title":{quoted(stage.title)}{todays}{origin}}}\n'
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
        encoded = encode(values)
        node = self._ids[key] = PART_PREFIX + identity.text_digest(encoded)
        self._lines[node] = _line(node, encoded)
        return node
