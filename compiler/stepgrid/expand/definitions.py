"""Definitions of a spec and its includes by kind and name, chains of `extends`, and the facts of machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from stepgrid.language.models import Definitions, Hardware, OptionSet, SpecBuild, SpecStep
from stepgrid.language.problems import Location, Problems, nearest_definition
from stepgrid.language.spec_file import Document, definition_location
from stepgrid.language.validation import describe, validate
from stepgrid.language.yaml import Map, Text, node_location
from stepgrid.model.records import Json
from stepgrid.model.site import HERE


class ResolvedDefinitions(NamedTuple):
    hardware: Mapping[str, Hardware]
    builds: Mapping[str, SpecBuild]
    options: Mapping[str, OptionSet]
    workloads: Mapping[str, tuple[SpecStep, ...]]


def gather(document: Document, problems: Problems) -> ResolvedDefinitions:
    """Gather all definitions; a name that two files define is an error."""
    tables: dict[str, dict[str, Any]] = {kind: {} for kind in ResolvedDefinitions._fields}
    locations: dict[tuple[str, str], Location] = {}
    for nodes, definitions in _sources(document):
        for kind, table in tables.items():
            for name, definition in getattr(definitions, kind).items():
                where = definition_location(nodes, kind, name)
                if name in table:
                    first = locations[kind, name]
                    problems.add("defined-twice", where, f"`{name}` is already defined at {first}", width=len(name))
                else:
                    table[name], locations[kind, name] = definition, where
    return ResolvedDefinitions(**tables)


def build_location(document: Document, name: str) -> Location:
    """Locate the definition of a build; the spec's own `builds` come first."""
    builds = document.nodes.get("builds")
    if isinstance(builds, Map) and name in builds.at:
        return builds.at[name]
    sources = (nodes for nodes, definitions in _sources(document) if name in definitions.builds)
    return next((definition_location(nodes, "builds", name) for nodes in sources), document.nodes.where)


def _sources(document: Document) -> Iterator[tuple[Map, Definitions]]:
    yield document.nodes, document.spec.define
    for source in document.includes:
        yield source.nodes, source.library.define


# Chains of `extends`


class Extending(Protocol):
    @property
    def extends(self) -> Text | None: ...


D = TypeVar("D", bound=Extending)


def chain(
    name: str, first: D, parent: Callable[[str, str], D | None], names: Iterable[str], problems: Problems
) -> list[D]:
    """List a definition and those that it extends, the farthest first. `parent(child, name)` finds the next one."""
    links, link_names = [first], [name]
    while (parent_name := links[0].extends) is not None:
        definition = parent(link_names[0], parent_name)
        if definition is None:
            if not problems.unread:
                itself = f"its own name means an include's, and none defines `{parent_name}`"
                hint = itself if parent_name == link_names[0] else nearest_definition(parent_name, names)
                message = f"`{parent_name}` is not defined"
                problems.add("undefined-name", parent_name.where, message, hint, len(parent_name))
            break
        if any(definition is link for link in links):
            last = next(number for number, link in enumerate(links) if link is definition)
            _report_cycle(link_names[: last + 1], [link.extends for link in links[: last + 1]], problems)
            break
        links.insert(0, definition)
        link_names.insert(0, parent_name)
    return links


def _report_cycle(names: list[str], extended: Sequence[Text | None], problems: Problems) -> None:
    """Begin with the first link in the file, whichever was found first: so it is reported once."""
    pairs = zip(reversed(extended), reversed(names), strict=True)
    links = [(text, name) for text, name in pairs if text is not None]
    first = min(range(len(links)), key=lambda number: links[number][0].where)
    links = [*links[first:], *links[:first]]
    last = links[-1][0]
    circle = " → ".join([name for _, name in links] + [last])
    problems.add("extends-cycle", last.where, f"definitions go round: {circle}", width=len(last))


# Machines


Differs: TypeAlias = Callable[[Mapping[str, Json]], Sequence[str]]


def stands_in_for_none(_: Mapping[str, Json]) -> Sequence[str]:
    return ()


class Machines:
    """Facts of machines: of this host, of one by name, or of one described in place.

    `declared` tells whether the spec gives the facts, or the host. `differs` lists the differences of the host from a
    described machine that it stands in for; the facts have the host's as `real` then.
    """

    def __init__(
        self, document: Document, defined: ResolvedDefinitions, host: Mapping[str, Json], problems: Problems,
        differs: Differs = stands_in_for_none,
    ) -> None:  # fmt: skip
        self._defined, self._host, self._problems, self._differs = defined.hardware, host, problems, differs
        where = document.nodes.at.get("hardware", document.nodes.where)
        self.base = self.facts(document.nodes.get("hardware"), where)

    def facts(self, node: Any, where: Location) -> Mapping[str, Json]:
        if node is None or node == HERE:
            return {**self._host, "declared": False}
        hardware = self._hardware(node, where)
        facts: dict[str, Json] = hardware.model_dump(mode="json", exclude_none=True) if hardware is not None else {}
        if isinstance(node, Text) and hardware is not None:
            facts.setdefault("id", str(node))
        if facts.keys() == {"price"}:  # of this host
            return {**self._host, **facts, "declared": False}
        facts["declared"] = True
        differences = self._differs(facts)
        if not differences:
            return facts
        name = f"`{facts['id']}`" if "id" in facts else "the machine that is described here"
        message = f"this host stands in for {name}: {'; '.join(differences)}"
        hint = "results are kept under this host's own id"
        self._problems.warn("other-hardware", node_location(node, where), message, hint)
        return {**facts, "real": {**self._host}}

    def _hardware(self, node: Any, where: Location) -> Hardware | None:
        if isinstance(node, Map):
            return validate(Hardware, node, self._problems)[0]
        if isinstance(node, Text):
            if node not in self._defined:
                self._problems.undefined("hardware", node, node.where, [HERE, *self._defined])
            return self._defined.get(node)
        message = f"`hardware`: expected a name or a map, found {describe(node)}"
        self._problems.add("wrong-type", node_location(node, where), message)
        return None
