"""What the includes and the spec define, by kind and name; a name that two of them define is an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from stepgrid.language.models import Build, Definitions, Hardware, OptionSet, Step
from stepgrid.language.problems import Location, Problems
from stepgrid.language.spec_file import Document, definition_location
from stepgrid.language.yaml import Map, Node, Seq


class ResolvedDefinitions(NamedTuple):
    hardware: Mapping[str, Hardware]
    builds: Mapping[str, Build]
    options: Mapping[str, OptionSet]
    workloads: Mapping[str, tuple[Step, ...]]


def gather(document: Document, problems: Problems) -> ResolvedDefinitions:
    tables: dict[str, dict[str, Any]] = {kind: {} for kind in ResolvedDefinitions._fields}
    places: dict[tuple[str, str], Location] = {}
    for nodes, definitions in _sources(document):
        for kind, table in tables.items():
            for name, definition in getattr(definitions, kind).items():
                where = definition_location(nodes, kind, name)
                if name in table:
                    first = places[kind, name]
                    problems.add("defined-twice", where, f"`{name}` is already defined at {first}", width=len(name))
                else:
                    table[name], places[kind, name] = definition, where
    return ResolvedDefinitions(**tables)


def place_of_build(document: Document, name: str) -> Location:
    """Where it is defined: the spec's own `builds` come first."""
    own = document.nodes.get("builds")
    if isinstance(own, Map) and name in own.at:
        return own.at[name]
    defined = (nodes for nodes, definitions in _sources(document) if name in definitions.builds)
    return next((definition_location(nodes, "builds", name) for nodes in defined), document.nodes.where)


def check_used(document: Document, problems: Problems) -> None:
    """An option set of the spec's own that nothing names, in no scale: a library's may wait for a spec to use them."""
    own = document.spec.define.options
    if document.scale is None and own and not problems.errors:
        named = set(_texts(document.nodes)) | {t for source in document.includes for t in _texts(source.nodes)}
        for name in own.keys() - named:
            where = definition_location(document.nodes, "options", name)
            problems.add("unused-set", where, f"nothing uses the option set `{name}`", width=len(name))


def _texts(node: Node) -> Iterator[str]:
    if isinstance(node, str):
        yield str(node)
    elif isinstance(node, Map | Seq):
        for inner in node.values() if isinstance(node, Map) else node:
            yield from _texts(inner)


def _sources(document: Document) -> Iterator[tuple[Map, Definitions]]:
    yield document.nodes, document.spec.define
    for source in document.includes:
        yield source.nodes, source.library.define
