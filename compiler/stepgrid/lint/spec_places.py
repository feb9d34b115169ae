"""Where things of a spec stand, for findings: values remember their place only as far as their option or node does."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from stepgrid.expand.cells import Expansion
from stepgrid.language.models import Step
from stepgrid.language.problems import Location
from stepgrid.language.spec_file import Document
from stepgrid.language.yaml import Map, key_location, node_location

_MADE = re.compile(r"(\[.*\])?(\.\d+)?(\.warmup)?$", re.DOTALL)  # what `for`, `times` and `warmup` add to a name


class Places:
    def __init__(self, document: Document, expansion: Expansion) -> None:
        self._document, self._expansion = document, expansion
        self._parsed: dict[str, Location] = {}
        self._steps: dict[tuple[str, str | None], Location] = {}

    def parsed(self, text: str) -> Location:
        """`file:line:column`, as an option carries it."""
        if text not in self._parsed:
            self._parsed[text] = Location.read(text)
        return self._parsed[text]

    def key(self, *path: str) -> Location:
        """Where a key of the spec stands, or the nearest that is there."""
        node: Any = self._document.nodes
        where = self._document.nodes.at.get("title", self._document.nodes.where)
        for name in path:
            if not isinstance(node, Map) or name not in node:
                break
            where, node = node.at[name], node[name]
        return where

    def of_step(self, step: str, setting: str | None) -> Location:
        """Where a step's setting was said (step, its definition, axis, params), or where the step is named."""
        known = (step, setting)
        if known not in self._steps:
            self._steps[known] = self._find(step, setting)
        return self._steps[known]

    def _find(self, step: str, setting: str | None) -> Location:
        named = list(self._named(step)) or list(self._named(_MADE.sub("", step)))
        if setting is not None:
            for where in self._said(named, setting):
                return where
        for found in named:
            for name in (found.as_, found.use, found.name):
                if name is not None:
                    return name.where
        return self.key("steps")

    def _said(self, named: list[Step], setting: str) -> Iterator[Location]:
        for found in named:
            for given in (found.model_extra or {}, found.params):
                if setting in given:
                    yield node_location(given[setting], self.key("steps"))
        yield from self._on_axes(setting)
        spec = self._document.spec
        for params in (*(build.params for build in spec.builds.values()), spec.params):
            if setting in params:
                yield key_location(params[setting], self.key("params", setting))

    def _on_axes(self, setting: str) -> Iterator[Location]:
        for axis in self._expansion.axes:
            for point in axis.points:
                given: Mapping[str, Any] = point.params or {}
                if setting in given:
                    yield key_location(given[setting], axis.where)

    def _named(self, step: str) -> Iterator[Step]:
        """The use before its definition, which is in the workload of the spec: a step of its own has none there."""
        listed = self._document.spec.steps
        exact = self._listed.get(step, ())
        yield from exact
        names = {step} if listed is None else {str(one.use) for one in exact if one.use is not None}
        yield from (one for one in self._workload() if one.name is not None and str(one.name) in names)

    @cached_property
    def _listed(self) -> Mapping[str, Sequence[Step]]:
        """By name: a spec may have thousands."""
        found = defaultdict[str, list[Step]](list)
        for one in self._document.spec.steps or ():
            found[str(one.as_ or one.use or one.name)].append(one)
        return found

    def _workload(self) -> Sequence[Step]:
        spec, includes = self._document.spec, self._document.includes
        defined = (define.workloads for define in (spec.define, *(source.library.define for source in includes)))
        return next((found[spec.workload] for found in defined if spec.workload in found), ())
