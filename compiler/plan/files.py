"""A plan on disk: a header, and a sorted line per build and per stage, so that a job finds its own by bisection."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from compiler.plan.model import (
    Axis,
    CellStep,
    Option,
    Plan,
    PlannedBuild,
    PlannedCell,
    PlannedStage,
    PlannedStep,
    Repeat,
    Report,
)

HEADER, STAGES, BUILDS = "plan.json", "stages.jsonl", "builds.jsonl"


def encode(value: object) -> str:
    """Compact JSON with sorted keys: equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_fields)


def write(plan: Plan, folder: Path) -> None:
    """Publishes the plan by rename; a plan that is there already is the same plan."""
    if (folder / HEADER).is_file():
        return
    new = folder.with_name(f".{folder.name}.{os.getpid()}")
    new.mkdir(parents=True)
    (new / HEADER).write_text(encode(header(plan)) + "\n", encoding="utf-8")
    (new / STAGES).write_text(_lines(plan.stages), encoding="utf-8")
    (new / BUILDS).write_text(_lines(plan.builds), encoding="utf-8")
    try:
        os.rename(new, folder)
    except OSError:  # another process published the same plan first
        for entry in new.iterdir():
            entry.unlink()
        new.rmdir()


def header(plan: Plan) -> dict[str, Any]:
    fields = _fields(plan)
    fields["stages"] = [
        {"id": s.id, "title": s.title, "build": s.build, "parent": s.parent, "seconds": s.seconds, "rank": s.rank}
        for s in plan.stages
    ]
    return fields


def read_header(folder: Path) -> dict[str, Any]:
    """plan.json: everything but the steps of the stages."""
    result: dict[str, Any] = json.loads((folder / HEADER).read_text(encoding="utf-8"))
    return result


def read(folder: Path) -> Plan:
    raw = read_header(folder)
    return Plan(
        **{name: raw[name] for name in ("digest", "title", "spec", "scale", "hardware")},
        axes=tuple(_axis(axis) for axis in raw["axes"]),
        cells=tuple(_cell(cell) for cell in raw["cells"]),
        builds=tuple(PlannedBuild(**json.loads(line)) for line in _read_lines(folder / BUILDS)),
        stages=tuple(_stage(json.loads(line)) for line in _read_lines(folder / STAGES)),
        report=Report(**raw["report"]),
        warnings=tuple(raw["warnings"]),
    )


def stage(folder: Path, node: str) -> PlannedStage:
    return _stage(json.loads(_find(folder / STAGES, node)))


def build(folder: Path, node: str) -> PlannedBuild:
    return PlannedBuild(**json.loads(_find(folder / BUILDS, node)))


def _lines(nodes: Iterable[PlannedBuild | PlannedStage]) -> str:
    # the id comes first on its line, so that lines sort and bisect by it
    return "".join(f'{{"id":"{node.id}",{encode(_without_id(node))[1:]}\n' for node in sorted(nodes, key=_id))


def _find(path: Path, node: str) -> str:
    """The line of a node, by bisection over the bytes of a sorted file."""
    key = f'{{"id":"{node}"'.encode()
    with path.open("rb") as file:
        low, high = 0, file.seek(0, os.SEEK_END)
        while low < high:
            middle = (low + high) // 2
            line = _line_from(file, middle)
            if line and line[: len(key)] < key:
                low = middle + 1
            else:
                high = middle
        line = _line_from(file, low)
    if not line.startswith(key):
        raise KeyError(f"{path} has no {node}")
    return line.decode()


def _line_from(file: BinaryIO, position: int) -> bytes:
    """The first line that starts at or after a position."""
    file.seek(max(position - 1, 0))
    if position:
        file.readline()
    return file.readline()


def _read_lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _id(node: PlannedBuild | PlannedStage) -> str:
    return node.id


def _fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def _without_id(node: PlannedBuild | PlannedStage) -> dict[str, Any]:
    return {name: value for name, value in _fields(node).items() if name != "id"}


def _axis(raw: Mapping[str, Any]) -> Axis:
    return Axis(raw["name"], tuple(raw["labels"]), None if raw["steps"] is None else tuple(raw["steps"]))


def _cell(raw: Mapping[str, Any]) -> PlannedCell:
    repeats = tuple(Repeat(r["load"], r["run"], tuple(r["stages"])) for r in raw["repeats"])
    steps = tuple(CellStep(**step) for step in raw["steps"])
    return PlannedCell(raw["id"], raw["labels"], raw["build"], steps, repeats)


def _stage(raw: dict[str, Any]) -> PlannedStage:
    steps = tuple(_step(step) for step in raw.pop("steps"))
    return PlannedStage(steps=steps, children=tuple(raw.pop("children")), **raw)


def _step(raw: dict[str, Any]) -> PlannedStep:
    options = {name: Option(**option) for name, option in raw.pop("options").items()}
    return PlannedStep(options=options, **raw)
