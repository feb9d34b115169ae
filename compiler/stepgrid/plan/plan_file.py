"""A plan is one file of lines: what it has once, cells in order, then builds, stages and parts of steps by their ids.

What steps share is a part, written once under the digest of its text. The digest of all lines names the file's folder.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from stepgrid.model.plan import (
    BUILD_PREFIX,
    STAGE_PREFIX,
    AdaptiveRepeat,
    CellStep,
    Json,
    Option,
    Options,
    Plan,
    PlannedBuild,
    PlannedRepeat,
    PlannedReport,
    PlannedStage,
    PlannedStep,
    encode,
    fields,
    quoted,
)
from stepgrid.model.records import StepSetup, replace
from stepgrid.plan import identity

PLAN_FILE = "plan.jsonl"
PART_PREFIX = "sp-"
# raised while reading a plan that was damaged
DAMAGED = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, msgspec.MsgspecError)


# Writing


def digest(plan: Plan) -> str:
    """Compute the digest of all that is written; a plan's own digest is not written."""
    return _text_digest(text(plan).encode())


def _text_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[: identity.LENGTH]


def is_intact(folder: Path, digest: str = "") -> bool:
    """Compare the file of a plan with a digest, or with the one that names its folder."""
    try:
        return _text_digest(_content(folder)) == (digest or folder.name)
    except OSError:
        return False


def text(plan: Plan) -> str:
    """Write a plan; equal plans have equal texts. Whatever a spec does not say is left out, where that came later."""
    parts = _Parts()
    head = {name: value for name, value in _values(plan).items() if name not in ("cells", "stages", "share")}
    head |= {"digest": "", "report": _values(plan.report), **({} if plan.share else {"share": False})}
    head |= {"until": _values(plan.until)} if plan.until else {}
    lines = [encode(head)]
    for cell in plan.cells:
        repeats, steps = [list(map(_values, entries)) for entries in (cell.repeats, cell.steps)]
        lines.append(_line({**fields(cell), "repeats": repeats, "steps": steps}))
    lines += [_line(fields(build)) for build in sorted(plan.builds, key=lambda build: build.id)]
    for stage in sorted(plan.stages, key=lambda stage: stage.id):
        lines.append(_line({**_values(stage), "steps": list(map(parts.of_step, stage.steps))}))
    return "".join(f"{line}\n" for line in [*lines, *(parts.lines[node] for node in sorted(parts.lines))])


_OMITTED: Mapping[type, frozenset[str]] = {  # as long as they are empty
    AdaptiveRepeat: frozenset({"is_race"}),
    Plan: frozenset({"searches", "until", "profile", "design", "tune", "equal"}),
    PlannedReport: frozenset(
        {"as_shipped", "strict", "metric", "declared", "mixed_durability", "best", "pareto", "derived"}
    ),
    CellStep: frozenset({"expects", "checkpoint_expects"}),
    PlannedRepeat: frozenset({"origin"}),
    PlannedStage: frozenset({"origin"}),
}


def _values(entry: Any) -> dict[str, Any]:
    omitted = _OMITTED[type(entry)]
    return {name: value for name, value in fields(entry).items() if value or name not in omitted}


def _line(values: Mapping[str, Any]) -> str:
    """Write the id first, and it alone tells what a line is of."""
    return _with_id(values["id"], encode({name: value for name, value in values.items() if name != "id"}))


def _with_id(node: str, text: str) -> str:
    return f'{{"id":{quoted(node)},{text[1:]}'


_HEAD = ("name", "kind", "revision", "measured", "mutates")


class _Parts:
    """Parts of steps, each with its line. The plan holds what they are made of, so that an id() identifies it."""

    def __init__(self) -> None:
        self._ids: dict[Hashable, str] = {}
        self.lines: dict[str, str] = {}

    def of_step(self, step: PlannedStep) -> dict[str, Any]:
        head = tuple(getattr(step, name) for name in _HEAD)
        options = step.options.parts if isinstance(step.options, Options) else (step.options,)
        parts = [
            self._part(head, dict(zip(_HEAD, head, strict=True))),
            self._part(id(step.settings), {"settings": step.settings}),
            *([self._part(id(step.setup), {"setup": step.setup})] if step.setup != StepSetup() else []),
            *(self._part(id(part), {"options": part}) for part in options if part),
            *(self._part(file, {"files": dict([file])}) for file in step.files.items()),
        ]
        return {"parts": parts, "seed": step.seed}

    def _part(self, key: Hashable, values: Mapping[str, Any]) -> str:
        if key not in self._ids:
            part_text = encode(values)
            self._ids[key] = node = PART_PREFIX + identity.text_digest(part_text)
            self.lines[node] = _with_id(node, part_text)
        return self._ids[key]


# Reading


class Head(msgspec.Struct, frozen=True):
    """The part of a plan's first line that is listed; a damaged plan has no spec."""

    spec: str = ""
    scale: str | None = None
    builds: tuple[PlannedBuild, ...] = ()
    machines: Mapping[str, Mapping[str, Json]] = {}


class _Part(msgspec.Struct):
    """A part of a step; each has the values of one kind."""

    id: str
    name: str = ""
    kind: str = ""
    revision: int = 0
    measured: bool = True
    mutates: bool = False
    settings: dict[str, Json] = {}
    setup: StepSetup | None = None
    options: dict[str, Option] = {}
    files: dict[str, str] = {}


def _content(folder: Path) -> bytes:
    if not (folder / PLAN_FILE).is_file():  # reading a pipe would wait
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder / PLAN_FILE))
    return (folder / PLAN_FILE).read_bytes()


def read_head(folder: Path) -> Head:
    return msgspec.json.decode(_content(folder).partition(b"\n")[0], type=Head)


def read(folder: Path) -> Plan:
    head, *lines = _content(folder).splitlines()
    later = [f'{{"id":"{prefix}'.encode() for prefix in (STAGE_PREFIX, PART_PREFIX, BUILD_PREFIX)]
    cells = b",".join(line for line in lines if not line.startswith(tuple(later)))
    plan = msgspec.json.decode(b'%b,"cells":[%b],"stages":[]}' % (head.removesuffix(b"}"), cells), type=Plan)
    stage_lines, part_lines = ([line for line in lines if line.startswith(start)] for start in later[:2])
    steps = _Steps({part.id: part for part in map(msgspec.json.Decoder(_Part).decode, part_lines)})
    stages = tuple(steps.of_stage(msgspec.json.decode(line)) for line in stage_lines)
    return replace(plan, digest=folder.name, stages=stages)


class _Steps:
    """Steps by the parts that they are made of: what they share stays one object."""

    def __init__(self, parts: Mapping[str, _Part]) -> None:
        self._parts, self._steps = parts, dict[tuple[str, ...], PlannedStep]()

    def of_stage(self, values: dict[str, Any]) -> PlannedStage:
        steps = tuple(replace(self._step(*step["parts"]), seed=step["seed"]) for step in values["steps"])
        return PlannedStage(**{**values, "children": tuple(values["children"]), "steps": steps})

    def _step(self, *nodes: str) -> PlannedStep:
        if nodes not in self._steps:
            head, settings, *parts = (self._parts[node] for node in nodes)
            setup = next((part.setup for part in parts if part.setup), StepSetup())
            options = Options(part.options for part in parts if part.options)
            files = {name: content for part in parts for name, content in part.files.items()}
            self._steps[nodes] = PlannedStep(
                head.name, head.kind, head.revision, settings.settings, options, 0, head.measured, head.mutates,
                setup, files,
            )  # fmt: skip
        return self._steps[nodes]
