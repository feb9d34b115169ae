"""The builds that cells use, each with its source as it is for its version."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from stepgrid.expand.builds import Build
from stepgrid.expand.expression_names import Names
from stepgrid.expand.expression_scope import NOTHING, UNSET, AlreadyReported, Scope
from stepgrid.language.problems import Location, Problems, nearest
from stepgrid.language.scalars import describe_value
from stepgrid.language.sources import SOURCES, TREES, Fault, complete_source, source_faults, source_kind
from stepgrid.language.yaml import Map, key_location, node_location, width
from stepgrid.model.plan import SERVER, runs_already
from stepgrid.plugins.engine import DeclaredBuilds, Published
from stepgrid.plugins.registry import engine

LISTED = frozenset({"debian"})  # takes several names
# which of many is fetched, or what a server must say that it is: the source says it, or the build
_VERSIONED = frozenset({"maven", "crate", "pypi", SERVER})
_COORDINATES = 3  # GROUP:ARTIFACT:VERSION


def builds(used: Iterable[Build], names: Names, problems: Problems) -> list[Build]:
    sound = not problems.errors  # else a source that is not there may have been of a wrong type, which is said
    return [_sourced(build, names, problems) if build.source or sound else build for build in used]


def _sourced(build: Build, names: Names, problems: Problems) -> Build:
    scope = Scope(names.of_build(build), {}, {}, problems)
    try:
        found = {key: scope.value(node, key in LISTED) for key, node in build.source.items()}
    except AlreadyReported:
        return build
    sound = _check(build, found, problems)
    source = _located({key: _written(value) for key, value in found.items()}, build.source, build.where)
    of = engine(build.engine)
    whole = (
        complete_source(of.libraries if isinstance(of, Published) else {}, source, build.version) if sound else source
    )
    return replace(build, source=whole, options=(), params=())


def _written(value: Any) -> str | list[str] | dict[str, Any]:
    """A list of one is that one: the same source has one identity."""
    if isinstance(value, Mapping):
        return {key: _written(inner) for key, inner in value.items()}
    if isinstance(value, list) and len(value) != 1:
        return [str(each) for each in value]
    plain = value[0] if isinstance(value, list) else value
    return str(plain).lower() if isinstance(plain, bool) else str(plain)


def _located(source: dict[str, Any], nodes: Any, where: Location) -> dict[str, Any]:
    """A local tree is meant from the file that names it, as includes and patches are."""
    for key, value in source.items():
        node = nodes.get(key) if isinstance(nodes, Mapping) else None
        around = node_location(node, where)
        if isinstance(value, dict):
            source[key] = _located(value, node, around)
        elif key == "path" and isinstance(value, str):  # else it is said to be no text
            source[key] = os.path.normpath(Path(around.file).parent / value)
    return source


def _check(build: Build, found: Mapping[str, Any], problems: Problems) -> bool:
    """Whether nothing is wrong with it. (Not by the number of problems: what is said twice counts once.)"""
    there = {key: value for key, value in found.items() if value is not NOTHING and value is not UNSET}
    for key in found.keys() - there.keys():
        message = f"build `{build.name}`: no value of `{key}` holds for it"
        problems.add("no-value", node_location(build.source[key], build.where), message)
    return len(there) == len(found) and _is_sound(build, there, problems) and _has_form(build, there, problems)


def _is_sound(build: Build, found: Mapping[str, Any], problems: Problems) -> bool:
    """Whether it is of one kind, and its values are texts; a source within it is looked at by itself."""
    kind = source_kind(found)
    if kind is None:
        _no_kind(build, found, problems)
    texts = (kind, *SOURCES[kind].required, *SOURCES[kind].optional) if kind else tuple(found)
    wrong = {key: value for key, value in found.items() if key in texts and not _is_text(key, value)}
    for key, value in wrong.items():
        expected = "a name or a list of names" if key in LISTED else "text"
        message = f"`{key}`: expected {expected}, found {describe_value(value)}"
        problems.add("wrong-type", node_location(build.source[key], build.where), message)
    return kind is not None and not wrong


def _is_text(key: str, value: Any) -> bool:
    parts = value if isinstance(value, list) and key in LISTED else [value]
    return bool(parts) and all(isinstance(part, str | int | float) for part in parts)


def _no_kind(build: Build, found: Mapping[str, Any], problems: Problems) -> None:
    """Nothing, two kinds, or none that there is: then its first key is probably meant for one."""
    kinds = [key for key in found if key in SOURCES]
    where, message, width = build.where, f"build `{build.family}` has no source", len(build.family)
    hint = f"one of: {', '.join(SOURCES)}"
    if kinds:
        message = f"build `{build.family}`: a source is of one kind, not of {' and '.join(kinds)}"
    elif found:
        first = next(iter(found))
        where, width = key_location(build.source[first], build.where), len(first)
        message, hint = f"`{first}` is no kind of source", nearest(first, SOURCES)
    problems.add("no-source", where, message, hint, width)


def _has_form(build: Build, found: Mapping[str, Any], problems: Problems) -> bool:
    wrong = list(source_faults(found))
    for fault in wrong:
        node, around = _stands(build, fault)
        where = key_location(node, around) if fault.code == "unknown-key" else node_location(node, around)
        message = fault.message if node is not None else f"build `{build.family}`: {fault.message}"
        problems.add(fault.code, where, message, fault.hint)
    of = engine(build.engine)
    lacking = of.lacking(found, build.recipe) if isinstance(of, DeclaredBuilds) else None
    if lacking and not _has_wrong_programs(problems):
        message = f"build `{build.family}` {lacking}"
        problems.add("missing-key", build.where, message, "add `flags: {programs: PATH}`", len(build.family))
    if runs_already(found) and not of.server:
        message = f"build `{build.family}`: {build.engine} is no server that could run already"
        wrong.append(Fault("wrong-source", SERVER, message))
        problems.add("wrong-source", key_location(build.source[SERVER], build.where), message, width=len(SERVER))
    _patched(build, source_kind(found), problems)
    unnamed = [] if build.version else list(_unnamed(found))
    for kind in unnamed:
        message = f"build `{build.family}` has no version, and its {kind} source names none"
        problems.add("missing-key", build.where, message, "add `version:` or `versions:`", len(build.family))
    return not wrong and not unnamed


def _has_wrong_programs(problems: Problems) -> bool:
    """Programs of a wrong form were left out of the build: they are not missing."""
    return any(problem.message.startswith("`programs`: ") for problem in problems.items)


def _patched(build: Build, kind: str | None, problems: Problems) -> None:
    """What is made already cannot be patched: also an official library, whose client alone is compiled."""
    if build.patches and kind is not None and kind not in TREES:
        patch = build.patches[0]
        message = f"build `{build.family}`: a {kind} source brings no tree to patch"
        hint = f"leave `patches` out, or build from source: {', '.join(TREES)}"
        problems.add("patch-without-tree", patch.where, message, hint, width(patch))


def _stands(build: Build, fault: Fault) -> tuple[Any, Location]:
    """The value that a fault is of, and where what holds it stands."""
    holder, around = build.source, build.where
    for key in fault.inside:
        node = holder.get(key)
        holder, around = node if isinstance(node, Map) else {}, node_location(node, around)
    return holder.get(fault.key) if fault.key else None, around


def _unnamed(source: Any) -> Iterator[str]:
    """The kinds of the source, and of one within it, that leave open which release is meant."""
    kind = source_kind(source) if isinstance(source, Mapping) else None
    if kind is None:
        return
    if kind in _VERSIONED and "version" not in source and len(str(source[kind]).split(":")) != _COORDINATES:
        yield kind
    for key in SOURCES[kind].nested:
        yield from _unnamed(source.get(key))
