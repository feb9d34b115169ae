"""Any program: an engine unknown to stepgrid, run by steps of kind command.

Its builds say in `flags:` what makes them: `command`, run in the tree and never by a shell, and `programs`, the files
of the tree that steps run.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from stepgrid.language.sources import WHOLE, SourceFault, default_program, local_files
from stepgrid.model.plan import recipe_flags
from stepgrid.model.records import Json
from stepgrid.plugins.engine import Built, EngineBase, Identity, OptionInfo, Run

if TYPE_CHECKING:
    from stepgrid.build.recipe import Recipe


class AnyProgram(EngineBase):
    name = "program"
    kinds: tuple[str, ...] = ("command",)
    storage_engines: tuple[str, ...] = ("program",)
    default_storage_engine = "program"
    programs: tuple[str, ...] = ()  # each build names its own
    bookkeeping = (  # of RocksDB, LevelDB, LMDB and SQLite, one of which may be in it
        *("LOG*", "LOCK", "lock.mdb", "MANIFEST-*", "CURRENT", "OPTIONS-*", "IDENTITY"),
        *("*.log", "*.lock", "*.pid", "*-wal", "*-shm", "*-journal"),
    )

    def recipes(self) -> Sequence[Recipe]:
        from stepgrid_databases.engines.recipes.program import ByCommand, Installed

        return (Installed(), ByCommand())

    def flag_faults(self, flags: Mapping[str, Json]) -> Iterator[SourceFault]:
        for name, value in flags.items():
            check = _CHECKS.get(name)
            if check is None and not re.fullmatch(r"env\.[A-Za-z_][A-Za-z0-9_]*", name, re.ASCII):
                from stepgrid.language.problems import nearest  # of use to the few that err

                hint = f"{nearest(name, _CHECKS)} (a variable of the environment is `env.NAME`)"
                yield SourceFault("unknown-key", name, f"`flags` has no `{name}`", hint)
            elif check and (fault := check(str(value))):
                yield SourceFault("wrong-flag", name, f"`{name}: {value}` {fault}")

    def lacking(self, source: Mapping[str, Json], recipe: Mapping[str, Json]) -> SourceFault | None:
        """Require `programs`, except of a source that names its program; a wheel has no scripts that could run."""
        if default_program(source) is None and not recipe_flags(recipe).get("programs"):
            return SourceFault(
                "missing-key", None, "does not say which programs it makes", "add `flags: {programs: PATH}`"
            )
        scripts = [path for path in self.program_paths(recipe).values() if path.endswith(".py")]
        if "pypi" not in source or source.get("kind") == "sdist" or not scripts:
            return None
        message = f"takes `{scripts[0]}` from the package {source['pypi']}, which brings libraries for it"
        version = f"=={source['version']}" if "version" in source else ""
        hint = f"write `source: {{path: FOLDER}}` of the script, and `requirements: [{source['pypi']}{version}]`"
        return SourceFault("wrong-source", "pypi", message, hint)

    def complete_source(self, source: Mapping[str, Json], recipe: Mapping[str, Json]) -> Mapping[str, Json]:
        """Choose the programs of a local folder and the `files` beside them, or all that a command may need."""
        if "path" not in source:
            return source
        programs = () if recipe_flags(recipe).get("command") else self.program_paths(recipe).values()
        names = {str(PurePosixPath(name)) for name in (*programs, *local_files(source))}
        return {**source, "files": [*sorted(names)] or [WHOLE]}

    def only_choose(self, flags: Mapping[str, Json]) -> bool:
        return set(flags) == {"programs"}

    def program_paths(self, recipe: Mapping[str, Json]) -> dict[str, str]:
        text = str(recipe_flags(recipe).get("programs", ""))
        return {PurePosixPath(word).name: word for word in shlex.split(text)}

    def identify(self, run: Run) -> Identity:
        """Start nothing: given an argument that it does not know, the program might begin to work."""
        return Identity("")

    def catalogue(self, run: Run) -> Mapping[str, OptionInfo] | None:
        return None


def _command_fault(text: str) -> str | None:
    try:
        words = shlex.split(text)
    except ValueError as error:
        return f"cannot be split into words: {str(error).lower()}"
    if words and words[0].startswith("-"):
        return "begins with `-`"
    return None if text.strip() else "is empty"


def _programs_fault(text: str) -> str | None:
    if fault := _command_fault(text):
        return fault
    paths = [PurePosixPath(word) for word in shlex.split(text)]
    if any(path.is_absolute() or ".." in path.parts or not path.name for path in paths):
        return "leads out of the tree: paths in it are expected"
    names = [path.name for path in paths]
    double = next((name for name in names if names.count(name) > 1), None)
    return f"has two programs {double}" if double else None


_CHECKS: Mapping[str, Callable[[str], str | None]] = {"command": _command_fault, "programs": _programs_fault}

ENGINE: Built = AnyProgram()
