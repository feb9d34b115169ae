"""What a build's `flags:` may say to the recipes that compile, checked without touching the world.

Lower-case keys are stepgrid's own, `env.NAME` sets the environment of the compile, and any other name with a capital
letter is a variable of the build system (`make NAME=value`, `cmake -DNAME=value`).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from stepgrid.language.builds.sources import Fault, scalar_text

ENVIRONMENT = "env."

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_BOOLEANS = ("true", "false")


@dataclass(frozen=True, slots=True)
class Flags:
    """Of one build; None and empty are what the build system does by itself."""

    system: str | None = None
    cc: str | None = None
    cxx: str | None = None
    cflags: tuple[str, ...] = ()
    cxxflags: tuple[str, ...] = ()
    ldflags: tuple[str, ...] = ()
    march: str | None = None
    assertions: bool | None = None
    type: str | None = None  # of cmake and meson: Release
    libraries: str | None = None  # the suite that headers and static libraries come from, or `system`
    variables: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


def read(recipe: Mapping[str, Any]) -> Flags:
    """Of a planned build's recipe, whose flags have no faults."""
    given = {name: scalar_text(value) for name, value in recipe.get("flags", {}).items()}
    own: dict[str, Any] = {name: given[name] for name in _CHECKS if name in given}
    for name in ("cflags", "cxxflags", "ldflags"):
        own[name] = tuple(shlex.split(own.get(name, "")))
    if "assertions" in own:
        own["assertions"] = own["assertions"] == "true"
    environment = {name.removeprefix(ENVIRONMENT): given[name] for name in given if name.startswith(ENVIRONMENT)}
    variables = {name: given[name] for name in given if name not in own and not name.startswith(ENVIRONMENT)}
    return Flags(**own, variables=variables, environment=environment)


def flag_faults(flags: Mapping[str, Any], systems: Sequence[str]) -> Iterator[Fault]:
    """`systems`: the build systems that there are for the engine, the default first."""
    for name, value in flags.items():
        text = scalar_text(value)
        if wrong := _unknown(name):
            yield wrong
        elif not text.isprintable():
            yield Fault("wrong-flag", name, f"`{name}` holds a character that cannot be printed")
        elif complaint := _wrong(name, text, systems):
            yield Fault("wrong-flag", name, f"`{name}: {text}` {complaint}")
    if "type" in flags and scalar_text(flags.get("system", systems[0])) in ("make", "configure"):
        yield Fault(
            "wrong-flag", "type", "`type` is of cmake and meson", "with make say `assertions: true` or `cflags`"
        )


def _unknown(name: str) -> Fault | None:
    bare = name.removeprefix(ENVIRONMENT)
    if name in _CHECKS or (_NAME.fullmatch(bare) and (bare != name or name != name.lower())):
        return None
    from difflib import get_close_matches  # of use to the few that err

    close = get_close_matches(name, _CHECKS, n=1)
    known = f"{', '.join(_CHECKS)}; NAME for a variable of the build system; env.NAME for one of the environment"
    return Fault("unknown-key", name, f"`flags` has no `{name}`", f"did you mean `{close[0]}`?" if close else known)


def _wrong(name: str, text: str, systems: Sequence[str]) -> str | None:
    if name == "system":
        return _choice(systems)(text)
    return _CHECKS[name](text) if name in _CHECKS else None


def _choice(known: Sequence[str]) -> Callable[[str], str | None]:
    return lambda text: None if text in known else f"is not {' or '.join(known)}"


def _matching(pattern: str, expected: str) -> Callable[[str], str | None]:
    return lambda text: None if re.fullmatch(pattern, text, re.ASCII) else f"is not {expected}"


def _words(text: str) -> str | None:
    try:
        shlex.split(text)
    except ValueError as error:
        return f"cannot be split into words: {str(error).lower()}"
    return None


_COMPILER = _matching(r"[A-Za-z0-9_/][\w.+/-]*", "a compiler's name or path")
_CHECKS: Mapping[str, Callable[[str], str | None]] = MappingProxyType(
    {
        "system": _words,
        "cc": _COMPILER,
        "cxx": _COMPILER,
        "cflags": _words,
        "cxxflags": _words,
        "ldflags": _words,
        "march": _matching(r"[a-z0-9][a-z0-9.+-]*", "a processor that the compiler knows, such as native or x86-64-v3"),
        "assertions": _choice(_BOOLEANS),
        "type": _matching(r"[A-Za-z]+", "a build type such as Release"),
        "libraries": _matching(r"[a-z][a-z0-9.-]*", "a suite such as bookworm, or system"),
    }
)
