"""A build's `flags:` for recipes that compile, checked without touching the world.

Lower-case keys are stepgrid's own, `env.NAME` sets the environment of the compile, and any other name with a capital
letter is a variable of the build system (`make NAME=value`, `cmake -DNAME=value`).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from stepgrid.language.sources import SourceFault, scalar_text
from stepgrid.model.plan import recipe_flags
from stepgrid.model.records import Json

ENVIRONMENT = "env."


class Flags(Struct, frozen=True):
    """Flags of one build; None and empty are what the build system does by itself."""

    system: str | None = None
    cc: str | None = None
    cxx: str | None = None
    cflags: tuple[str, ...] = ()
    cxxflags: tuple[str, ...] = ()
    ldflags: tuple[str, ...] = ()
    march: str | None = None
    assertions: bool | None = None
    type: str | None = None  # of cmake and meson: Release
    libraries: str | None = None  # the suite of headers and static libraries, or `system`
    variables: Mapping[str, str] = {}
    environment: Mapping[str, str] = {}


def read_flags(recipe: Mapping[str, Json]) -> Flags:
    """Read the flags of a planned build's recipe, which have no faults."""
    texts = {name: scalar_text(value) for name, value in recipe_flags(recipe).items()}
    values: dict[str, Any] = {name: texts[name] for name in _CHECKS if name in texts}
    for name in ("cflags", "cxxflags", "ldflags"):
        values[name] = tuple(shlex.split(values.get(name, "")))
    if "assertions" in values:
        values["assertions"] = values["assertions"] == "true"
    environment = {name.removeprefix(ENVIRONMENT): texts[name] for name in texts if name.startswith(ENVIRONMENT)}
    variables = {name: texts[name] for name in texts if name not in values and not name.startswith(ENVIRONMENT)}
    return Flags(**values, variables=variables, environment=environment)


def flag_faults(flags: Mapping[str, Json], systems: Sequence[str]) -> Iterator[SourceFault]:
    """Check flags; `systems` are the build systems of the engine, the default first."""
    for name, value in flags.items():
        text = scalar_text(value)
        bare = name.removeprefix(ENVIRONMENT)
        is_variable = (bare != name or name != name.lower()) and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", bare)
        if name not in _CHECKS and not is_variable:
            yield SourceFault("unknown-key", name, f"`flags` has no `{name}`", _hint(name))
            continue
        complaint = _choice(systems)(text) if name == "system" else _CHECKS[name](text) if name in _CHECKS else None
        if not text.isprintable():
            yield SourceFault("wrong-flag", name, f"`{name}` holds a character that cannot be printed")
        elif complaint:
            yield SourceFault("wrong-flag", name, f"`{name}: {text}` {complaint}")
    if "type" in flags and scalar_text(flags.get("system", systems[0])) in ("make", "configure"):
        hint = "with make say `assertions: true` or `cflags`"
        yield SourceFault("wrong-flag", "type", "`type` is of cmake and meson", hint)


def _hint(name: str) -> str:
    from difflib import get_close_matches  # imported for misspelt flags alone

    if close := get_close_matches(name, _CHECKS, n=1):
        return f"did you mean `{close[0]}`?"
    return f"{', '.join(_CHECKS)}; NAME for a variable of the build system; env.NAME for one of the environment"


def _choice(texts: Sequence[str]) -> Callable[[str], str | None]:
    return lambda text: None if text in texts else f"is not {' or '.join(texts)}"


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
        "assertions": _choice(("true", "false")),
        "type": _matching(r"[A-Za-z]+", "a build type such as Release"),
        "libraries": _matching(r"[a-z][a-z0-9.-]*", "a suite such as bookworm, or system"),
    }
)
