"""What a build of the engine `program` says in its `flags:`, checked without touching the world.

It is any engine that nobody here knows: `command` makes it, in its tree and never by a shell, and `programs` are the
files in there that steps run.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

from stepgrid.language.builds.sources import Fault

COMMAND, PROGRAMS, ENVIRONMENT = "command", "programs", "env."


def flag_faults(flags: Mapping[str, Any]) -> Iterator[Fault]:
    for name, value in flags.items():
        check = _CHECKS.get(name)
        if check is None and not re.fullmatch(r"env\.[A-Za-z_][A-Za-z0-9_]*", name, re.ASCII):
            from stepgrid.language.problems.suggestion import nearest  # of use to the few that err

            hint = f"{nearest(name, _CHECKS)} (a variable of the environment is `env.NAME`)"
            yield Fault("unknown-key", name, f"`flags` has no `{name}`", hint)
        elif check and (wrong := check(str(value))):
            yield Fault("wrong-flag", name, f"`{name}: {value}` {wrong}")


def lacking(source: Mapping[str, Any], recipe: Mapping[str, Any]) -> str | None:
    """A program of the machine is named already."""
    if "system" in source or recipe.get("flags", {}).get(PROGRAMS):
        return None
    return "does not say which programs it makes"


def program_paths(recipe: Mapping[str, Any]) -> dict[str, str]:
    """Its programs by name: what they are called in their tree."""
    return {PurePosixPath(word).name: word for word in shlex.split(str(recipe.get("flags", {}).get(PROGRAMS, "")))}


def command(recipe: Mapping[str, Any], jobs: int) -> list[str]:
    """Empty where the tree holds its programs already."""
    return [word.replace("{jobs}", str(jobs)) for word in shlex.split(command_text(recipe))]


def command_text(recipe: Mapping[str, Any]) -> str:
    return str(recipe.get("flags", {}).get(COMMAND, ""))


def environment(recipe: Mapping[str, Any]) -> dict[str, str]:
    given = recipe.get("flags", {}).items()
    return {name.removeprefix(ENVIRONMENT): str(value) for name, value in given if name.startswith(ENVIRONMENT)}


def only_choose(flags: Mapping[str, Any]) -> bool:
    return set(flags) == {PROGRAMS}


def _command(text: str) -> str | None:
    return _split(text) or (None if text.strip() else "is empty")


def _programs(text: str) -> str | None:
    if wrong := _command(text):
        return wrong
    found = [PurePosixPath(word) for word in shlex.split(text)]
    if any(path.is_absolute() or ".." in path.parts or not path.name for path in found):
        return "leads out of the tree: paths in it are expected"
    twice = next((path.name for path in found if sum(path.name == other.name for other in found) > 1), None)
    return f"has two programs {twice}" if twice else None


def _split(text: str) -> str | None:
    try:
        words = shlex.split(text)
    except ValueError as error:
        return f"cannot be split into words: {str(error).lower()}"
    return "begins with `-`" if words and words[0].startswith("-") else None


_CHECKS: Mapping[str, Callable[[str], str | None]] = MappingProxyType({COMMAND: _command, PROGRAMS: _programs})
