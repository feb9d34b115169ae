"""Option layers written out: sets by name or in place, those of another engine left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from stepgrid.expand.expression_scope import Entry
from stepgrid.expand.inheritance import chain
from stepgrid.language.models import OptionSet
from stepgrid.language.problems import Location, Problems
from stepgrid.language.validation import describe, validate
from stepgrid.language.yaml import Map, Text, node_location, width
from stepgrid.plugins.registry import ENGINES

_NAME = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)

Entries = tuple[tuple[str, Entry], ...]  # option name and one layer's word on it, lowest first


class Layers:
    """Flattens `options:` lists for an engine; remembers which sets no engine took."""

    def __init__(self, sets: Mapping[str, OptionSet], problems: Problems) -> None:
        self._sets, self._problems = sets, problems
        self._asked: dict[str, Text] = {}
        self._taken: set[str] = set()
        self._flat: dict[tuple[int, str, str], Entries] = {}

    def flatten(self, layers: tuple[Any, ...], engine: str, unsupported: str = "error") -> Entries:
        key = (id(layers), engine, unsupported)  # the spec holds these tuples: their ids stay theirs
        if key not in self._flat:
            self._flat[key] = self._flatten(layers, engine, unsupported)
        return self._flat[key]

    def _flatten(self, layers: Iterable[Any], engine: str, unsupported: str) -> Entries:
        entries: list[tuple[str, Entry]] = []
        for layer in layers:
            if isinstance(layer, Text):
                entries += self._named(layer, engine, unsupported)
            elif isinstance(layer, Map):
                entries += self._inline(layer, engine, unsupported)
            else:
                where = node_location(layer, Location("", 1, 1))
                message = f"expected an option set's name or a map, found {describe(layer)}"
                self._problems.add("wrong-type", where, message)
        return tuple(entries)

    def report_unused(self) -> None:
        for name, where in self._asked.items():
            if name not in self._taken:
                engine = _engines(self._sets[name])
                message = f"no cell takes the option set `{name}`: it is for {' or '.join(engine)}"
                self._problems.add("unused-set", where.where, message, width=width(where))

    def _named(self, name: Text, engine: str, unsupported: str) -> list[tuple[str, Entry]]:
        if name not in self._sets:
            self._problems.undefined("option set", name, name.where, self._sets)
            return []
        self._asked.setdefault(str(name), name)
        links = chain(name, self._sets[name], lambda _, above: self._sets.get(above), [*self._sets], self._problems)
        known = [self._knows(link) for link in links]
        if not all(known):
            self._taken.add(str(name))  # nobody can say
        if not all(known) or not all(_takes(link, engine) for link in links):
            return []
        self._taken.add(str(name))
        when = tuple(link.when for link in links if link.when is not None)  # inherited, as the engine is
        return [entry for link in links for entry in self._entries(link, when, unsupported)]

    def _knows(self, found: OptionSet) -> bool:
        """Whether there are the engines that it is for."""
        listed = found.engine if isinstance(found.engine, tuple) else (found.engine,)
        unknown = [name for name in listed if name is not None and name not in ENGINES.names()]
        for name in unknown:
            self._problems.add("undefined-name", name.where, *ENGINES.unknown(name))
        return not unknown

    def _inline(self, layer: Map, engine: str, unsupported: str) -> list[tuple[str, Entry]]:
        if not isinstance(layer.get("options"), Map):
            return [(name, self._entry(name, node, layer.at[name], (), unsupported)) for name, node in layer.items()]
        found = validate(OptionSet, layer, self._problems)[0]
        if found is None or not self._knows(found) or not _takes(found, engine):
            return []
        above = self._named(found.extends, engine, unsupported) if found.extends is not None else []
        return [*above, *self._entries(found, (found.when,) if found.when is not None else (), unsupported)]

    def _entries(self, found: OptionSet, when: tuple[Text, ...], unsupported: str) -> list[tuple[str, Entry]]:
        policy = found.when_unsupported or unsupported
        at: Mapping[str, Location] = getattr(found.options, "at", {})
        return [(name, self._entry(name, node, at[name], when, policy)) for name, node in found.options.items()]

    def _entry(self, name: str, node: Any, where: Location, when: tuple[Text, ...], unsupported: str) -> Entry:
        self._check(name, node, where)
        if isinstance(node, Map):
            given = node.get("when_unsupported")
            unsupported = str(given) if given is not None else unsupported
        return Entry(node, where, when, unsupported)

    def _check(self, name: str, node: Any, where: Location) -> None:
        if node is None:
            hint = "the engine's own default is `unset`; in a scale null removes"
            message = f"option `{name}`: expected a value, found nothing"
            self._problems.add("wrong-type", where, message, hint, len(name))
        if not _NAME.fullmatch(name):
            plain = name.lstrip("-").partition("=")[0]
            dashed = name.startswith("-")
            hint = f"without dashes: `{plain}`" if dashed else "letters, digits and _ - . as the engine has them"
            self._problems.add("option-name", where, f"`{name}` is not the name of an option", hint, len(name))


def by_name(*layers: Entries) -> dict[str, tuple[Entry, ...]]:
    """For each name the layers that speak of it, lowest first."""
    table: dict[str, list[Entry]] = {}
    for layer in layers:
        for name, entry in layer:
            table.setdefault(name, []).append(entry)
    return {name: tuple(entries) for name, entries in table.items()}


def params(given: Mapping[str, Any], where: Location) -> Entries:
    at: Mapping[str, Location] = getattr(given, "at", {})
    return tuple((name, Entry(node, node_location(node, at.get(name, where)))) for name, node in given.items())


def _takes(found: OptionSet, engine: str) -> bool:
    return not (engines := _engines(found)) or engine in engines


def _engines(found: OptionSet) -> tuple[str, ...]:
    engine = found.engine
    return () if engine is None else (str(engine),) if isinstance(engine, str) else tuple(map(str, engine))
