"""pgvector, compiled against the Postgres that was compiled just before."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from compiler.build.problem import BuildError
from compiler.build.recipes import extensions
from compiler.build.recipes.compiled import Compile
from compiler.build.sources import source_of
from compiler.build.sources.protocol import Artifact
from compiler.plan.model import Json

URL = "https://github.com/pgvector/pgvector.git"
_NAME = "pgvector"


class Added(NamedTuple):
    quality: dict[str, Json]
    facts: dict[str, Json]
    artifacts: tuple[Artifact, ...] = ()


def compile_asked(compiled: Compile, home: Path) -> Added:
    """Into an installed Postgres, if the build asks for it."""
    asked = extensions.asked(compiled.order)
    if _NAME not in asked:
        return Added({}, {})
    version = str(asked[_NAME])
    artifacts = _compile(compiled, home, version)
    found = extensions.found(home).get(_NAME)
    if found != version:
        raise BuildError(f"`extensions: {{{_NAME}: {version}}}`: the tree of v{version} says it is {found}")
    return Added(*extensions.record({_NAME: version}), artifacts)


def _compile(compiled: Compile, home: Path, version: str) -> tuple[Artifact, ...]:
    source, folder = {"git": URL, "ref": f"v{version}"}, compiled.order.folder / _NAME
    folder.mkdir()
    material = source_of(source).fetch(source, folder, compiled.order)
    assert material.tree is not None
    # left alone it compiles for the processor that it is compiled on, unlike Postgres itself
    given = [f"PG_CONFIG={home / 'bin' / 'pg_config'}", "OPTFLAGS=", "with_llvm=no"]
    make = compiled.tools["make"]
    compiled.run([make, *compiled.parallel, *given], material.tree)
    compiled.run([make, "install", *given], material.tree)
    return material.artifacts
