"""The builds that cells use, each with its source as it is for its version."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from compiler.expand.builds import Build
from compiler.expand.choice import Choice
from compiler.expand.names import Names
from compiler.expand.scope import Reported, Scope
from compiler.language.problem import Problems


def builds(choices: Iterable[Choice], names: Names, problems: Problems) -> list[Build]:
    return [_sourced(build, names, problems) for build in dict.fromkeys(choice.build for choice in choices)]


def _sourced(build: Build, names: Names, problems: Problems) -> Build:
    scope = Scope(names.of_build(build), {}, {}, problems)
    try:
        found = {key: scope.value(node) for key, node in build.source.items()}
    except Reported:
        return build
    source = {key: str(value) for key, value in found.items() if isinstance(value, str)}
    for key in found.keys() - source.keys():
        message = f"build `{build.name}`: no value of `{key}` holds for it"
        problems.add("no-value", getattr(build.source[key], "where", build.where), message)
    return replace(build, source=source, options=(), params=())
