"""A build as a person names it: as its spec does, by engine and version, or by its id."""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from stepgrid.cli.builds import BuildsError
from stepgrid.cli.shared import spec_arguments
from stepgrid.language.problems import nearest
from stepgrid.language.sources import source_kind
from stepgrid.model.plan import Json, Plan
from stepgrid.store import builds
from stepgrid.store.store import Store

Names = Mapping[str, Collection[str]]  # id -> what the build is called, its own name first
_ID = re.compile(r"b-[0-9a-f]*$")


class SpecIsWrong(Exception):
    """Its problems were printed."""


def known(args: argparse.Namespace, store: Store) -> Names:
    """Of `--spec`, else of the store."""
    if not args.spec:
        return of_store(store)
    plan = spec_arguments.quietly(args, args.spec)
    if plan is None:
        raise SpecIsWrong
    return of_plan(plan)


def of_plan(plan: Plan) -> dict[str, list[str]]:
    """All names that cells have for a build, its first one first."""
    found: dict[str, dict[str, None]] = {build.id: {build.name: None} for build in plan.builds}
    for cell in plan.cells:
        found[cell.build][cell.labels["build"]] = None
    return {node: list(names) for node, names in found.items()}


def of_store(store: Store) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node in builds.ids(store):
        record = builds.record(store, node)
        if record:
            called = f"{record.get('engine', '')}-{record.get('version', '')}"
            found[node] = list(dict.fromkeys((record.get("name") or node, called)))
    return found


def find(name: str, names: Names, store: Store) -> str:
    """The id of the one build that is meant: its own name counts before the others that it has."""
    own: dict[str, list[str]] = defaultdict(list)
    by_name: dict[str, list[str]] = defaultdict(list)
    for node, called in names.items():
        own[next(iter(called))].append(node)
        for each in called:
            by_name[each].append(node)
    beginning = [node for node in names if node.startswith(name)]
    found = [name] if name in names else own.get(name) or by_name.get(name) or beginning
    if len(found) == 1:
        return found[0]
    if not found:
        there = list(names if _ID.match(name) else by_name)
        raise BuildsError(f"there is no build `{name}`: {nearest(name, there) if there else 'none was made here'}")
    lines = [f"  {node}  {_about(store, node)}" for node in found]
    raise BuildsError("\n".join([f"{len(found)} builds are called {name}; say an id:", *lines]))


def _about(store: Store, node: str) -> str:
    record = builds.record(store, node)
    if not record:
        return "not built"
    return f"{record.get('name', '')} {record.get('version', '')} ({declared(record.get('source', {}))})"


def declared(source: Mapping[str, Any]) -> str:
    """git: https://…, ref: v9.9.3"""
    kind = source_kind(source)
    return ", ".join(f"{name}: {value_text(source[name])}" for name in sorted(source, key=lambda name: name != kind))


def value_text(value: Json) -> str:
    if isinstance(value, Mapping):
        return f"({declared(value)})"
    return " ".join(map(value_text, value)) if isinstance(value, list | tuple) else str(value)
