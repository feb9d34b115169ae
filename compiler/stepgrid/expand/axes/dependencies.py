"""Which axes a value looks at: those whose points speak of it, and those that its expressions mention.

Rather one too many than one too few: what is mentioned counts, whether or not it is evaluated in a cell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any, TypeAlias

from stepgrid.expand.expression_scope import Entry
from stepgrid.language.expressions import mentions

Name: TypeAlias = tuple[str, str]  # ("params", "keys"), ("cache", "")

PARAMS, OPTIONS = "params", "options"
STORAGE_ENGINE = "storage_engine"  # as a name of its own it is the param, or the engine's default


class Dependencies:
    def __init__(self, axes: Mapping[str, Set[int]]) -> None:
        """`axes`: names (of axes, of what their points are made of, hardware) -> the axes that they depend on."""
        self._axes = axes
        self._speaking: dict[Name, set[int]] = defaultdict(set)
        self._mentioned: dict[Name, set[Name]] = defaultdict(set)

    def add(self, kind: str, entries: Iterable[tuple[str, Entry]], axis: int | None = None) -> None:
        """One layer's words on params or options; `axis` where it is the layer of a point."""
        for name, entry in entries:
            key = (kind, name)
            self._mentioned[key].update(mentioned(entry.node, entry.when))
            if axis is not None:
                self._speaking[key].add(axis)

    def names(self, kind: str) -> set[str]:
        """The params or options that any layer speaks of."""
        return {name for said, name in self._mentioned if said == kind}

    def axes(self, names: Iterable[Name]) -> frozenset[int]:
        """The positions of the axes that names depend on, directly or through params and options."""
        found: set[int] = set()
        seen: set[Name] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            if name in ((PARAMS, ""), (OPTIONS, "")):  # used as a whole: it may be any of them
                return frozenset().union(*self._axes.values())
            seen.add(name)
            found |= self._speaking.get(name, set())
            found |= self._axes.get(name[0], set())
            waiting += self._mentioned.get(name, ())
            if name[0] == STORAGE_ENGINE:
                waiting.append((PARAMS, STORAGE_ENGINE))
        return frozenset(found)


def mentioned(*nodes: Any) -> Iterator[Name]:
    """Every name in every text below some nodes."""
    for node in nodes:
        if isinstance(node, str):
            yield from mentions(node)
        elif isinstance(node, dict):
            yield from mentioned(*node.values())
        elif isinstance(node, list | tuple):
            yield from mentioned(*node)
