"""Steps in pieces: what steps have in common is written once, under the digest of its text."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from stepgrid.model.plan import Option, Options, PlannedStep
from stepgrid.plan import identity
from stepgrid.plan.files import json_lines

PREFIX = "sp-"  # sorts behind the stages: the same file has both

_HEAD = ("name", "kind", "revision", "measured", "mutates")


class Writer:
    """Steps to the ids of their parts. The plan holds what it has seen, so an object's id() tells it from others."""

    def __init__(self) -> None:
        self._known: dict[Hashable, str] = {}
        self._lines: dict[str, str] = {}

    def step(self, step: PlannedStep) -> str:
        """The step in its stage's line."""
        known = self._known
        head = (step.name, step.kind, step.revision, step.measured, step.mutates)
        ids = [
            known.get(head) or self._add(head, dict(zip(_HEAD, head, strict=True))),
            known.get(id(step.settings)) or self._add(id(step.settings), {"settings": step.settings}),
        ]
        if step.setup:
            ids.append(known.get(id(step.setup)) or self._add(id(step.setup), {"setup": step.setup}))
        ids += [known.get(id(part)) or self._add(id(part), {"options": part}) for part in _options(step) if part]
        if step.files:
            ids += [known.get(file) or self._add(file, {"files": dict([file])}) for file in step.files.items()]
        listed = '","'.join(ids)
        return f'{{"parts":["{listed}"],"seed":{step.seed}}}'

    def lines(self) -> Iterator[str]:
        """Of the parts of the steps so far, sorted."""
        yield from (self._lines[node] for node in sorted(self._lines))

    def _add(self, key: Hashable, fields: Mapping[str, Any]) -> str:
        node = self._known[key] = PREFIX + identity.digest(fields)
        self._lines[node] = json_lines.line(node, fields)
        return node


def step(raw: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> PlannedStep:
    """What a stage's line says of a step, with its parts."""
    own = [known[node] for node in raw["parts"]]
    fields = {name: value for part in own for name, value in part.items()}
    options = Options(part["options"] for part in own if "options" in part)
    files = {name: text for part in own if "files" in part for name, text in part["files"].items()}
    return PlannedStep(**{**fields, "options": options, "seed": raw["seed"], "files": files})


def part(raw: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A part as read, with its id."""
    node = raw.pop("id")
    if "options" in raw:
        raw["options"] = {name: Option(**option) for name, option in raw["options"].items()}
    return node, raw


def _options(step: PlannedStep) -> tuple[Mapping[str, Option], ...]:
    return step.options.parts if isinstance(step.options, Options) else (step.options,)
