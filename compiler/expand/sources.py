"""The builds that cells use, each with its source as it is for its version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from compiler.build.declared import faults
from compiler.expand.builds import Build
from compiler.expand.choice import Choice
from compiler.expand.names import Names
from compiler.expand.scope import NOTHING, UNSET, Reported, Scope
from compiler.language.nodes import key_place, place
from compiler.language.problem import Problems


def builds(choices: Iterable[Choice], names: Names, problems: Problems) -> list[Build]:
    return [_sourced(build, names, problems) for build in dict.fromkeys(choice.build for choice in choices)]


def _sourced(build: Build, names: Names, problems: Problems) -> Build:
    scope = Scope(names.of_build(build), {}, {}, problems)
    try:
        found = {key: scope.value(node) for key, node in build.source.items()}
    except Reported:
        return build
    _check(build, found, problems)
    source = {key: str(value) for key, value in found.items() if isinstance(value, str)}
    return replace(build, source=source, options=(), params=())


def _check(build: Build, found: Mapping[str, Any], problems: Problems) -> None:
    there = {key: value for key, value in found.items() if value is not NOTHING and value is not UNSET}
    for key in found.keys() - there.keys():
        message = f"build `{build.name}`: no value of `{key}` holds for it"
        problems.add("no-value", place(build.source[key], build.where), message)
    for fault in faults(there) if len(there) == len(found) else ():
        node = build.source.get(fault.key) if fault.key else None
        where = key_place(node, build.where) if fault.code == "unknown-key" else place(node, build.where)
        message = fault.message if node is not None else f"build `{build.family}`: {fault.message}"
        problems.add(fault.code, where, message, fault.hint)
