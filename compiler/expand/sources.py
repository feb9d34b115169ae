"""The builds that cells use, each with its source as it is for its version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from compiler.build.declared import SOURCES, faults, kind_of
from compiler.expand.builds import Build
from compiler.expand.choice import Choice
from compiler.expand.names import Names
from compiler.expand.scope import NOTHING, UNSET, Reported, Scope
from compiler.language.nodes import key_place, place
from compiler.language.problem import Problems, nearest
from compiler.language.values import described

LISTED = frozenset({"debian"})  # takes several names
_VERSIONED = frozenset({"maven", "crate", "pypi"})  # which of many is fetched: the source says it, or the build
_COORDINATES = 3  # GROUP:ARTIFACT:VERSION


def builds(choices: Iterable[Choice], names: Names, problems: Problems) -> list[Build]:
    return [_sourced(build, names, problems) for build in dict.fromkeys(choice.build for choice in choices)]


def _sourced(build: Build, names: Names, problems: Problems) -> Build:
    scope = Scope(names.of_build(build), {}, {}, problems)
    try:
        found = {key: scope.value(node, key in LISTED) for key, node in build.source.items()}
    except Reported:
        return build
    _check(build, found, problems)
    source = {key: _written(value) for key, value in found.items()}
    return replace(build, source=source, options=(), params=())


def _written(value: Any) -> str | list[str]:
    """A list of one is that one: the same source has one identity."""
    if isinstance(value, list) and len(value) != 1:
        return [str(each) for each in value]
    plain = value[0] if isinstance(value, list) else value
    return str(plain).lower() if isinstance(plain, bool) else str(plain)


def _check(build: Build, found: Mapping[str, Any], problems: Problems) -> None:
    there = {key: value for key, value in found.items() if value is not NOTHING and value is not UNSET}
    for key in found.keys() - there.keys():
        message = f"build `{build.name}`: no value of `{key}` holds for it"
        problems.add("no-value", place(build.source[key], build.where), message)
    if len(there) == len(found) and _is_sound(build, there, problems):
        _check_form(build, there, problems)


def _is_sound(build: Build, found: Mapping[str, Any], problems: Problems) -> bool:
    """Whether it is of one kind, and its values are texts."""
    before = len(problems.errors)
    if kind_of(found) is None:
        _no_kind(build, found, problems)
    for key, value in found.items():
        parts = value if isinstance(value, list) and key in LISTED else [value]
        if not parts or not all(isinstance(part, str | int | float) for part in parts):
            expected = "a name or a list of names" if key in LISTED else "text"
            message = f"`{key}`: expected {expected}, found {described(value)}"
            problems.add("wrong-type", place(build.source[key], build.where), message)
    return len(problems.errors) == before


def _no_kind(build: Build, found: Mapping[str, Any], problems: Problems) -> None:
    """Nothing, two kinds, or none that there is: then its first key is probably meant for one."""
    kinds = [key for key in found if key in SOURCES]
    where, message, width = build.where, f"build `{build.family}` has no source", len(build.family)
    hint = f"one of: {', '.join(SOURCES)}"
    if kinds:
        message = f"build `{build.family}`: a source is of one kind, not of {' and '.join(kinds)}"
    elif found:
        first = next(iter(found))
        where, width = key_place(build.source[first], build.where), len(first)
        message, hint = f"`{first}` is no kind of source", nearest(first, SOURCES)
    problems.add("no-source", where, message, hint, width)


def _check_form(build: Build, found: Mapping[str, Any], problems: Problems) -> None:
    for fault in faults(found):
        node = build.source.get(fault.key) if fault.key else None
        where = key_place(node, build.where) if fault.code == "unknown-key" else place(node, build.where)
        message = fault.message if node is not None else f"build `{build.family}`: {fault.message}"
        problems.add(fault.code, where, message, fault.hint)
    kind = str(kind_of(found))
    named = "version" in found or len(str(found[kind]).split(":")) == _COORDINATES
    if kind in _VERSIONED and not named and not build.version:
        message = f"build `{build.family}` has no version, and its {kind} source names none"
        problems.add("missing-key", build.where, message, "add `version:` or `versions:`", len(build.family))
