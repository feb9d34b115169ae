"""Servers that are there already, in packages, jars or wheels: made startable, wherever the build is."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from stepgrid.build.compilation.compiler_options import published
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import BuiltPrograms, ExtensibleEngine
from stepgrid.build.recipes import server_libraries
from stepgrid.build.recipes.server_programs import find, startable
from stepgrid.build.source import Material
from stepgrid.build.sources import source_of
from stepgrid.build.task import Order
from stepgrid.language.sources import source_kind
from stepgrid.model.plan import PlannedBuild

KINDS = ("debian", "maven", "pypi")

# what came along for the scripts of packages: nothing that is kept needs it
_PRUNED = (
    "etc", "var", "usr/include", "usr/lib/python3*", "usr/lib/systemd", "usr/lib/*/perl*", "usr/lib/*/systemd",
    "usr/share/i18n", "usr/share/perl*", "usr/share/python3*",
)  # fmt: skip


class ServerPrefix:
    name, tools = "server", ()

    def takes(self, build: PlannedBuild) -> bool:
        return source_kind(build.source) in KINDS

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        prefix, packaged = material.prefix, "debian" in order.build.source
        assert prefix is not None
        what = source_of(order.build.source).describe(order.build.source)
        if order.build.recipe.get("flags"):
            raise BuildError(f"{what} is compiled already: no `flags` for it; leave them out, or build from source")
        programs = find(prefix, order.engine, what)
        added = order.engine.extend(order, prefix, what) if isinstance(order.engine, ExtensibleEngine) else {}
        quality = {} if packaged else published(programs[order.engine.programs[0]])
        libraries = server_libraries.of(order, packaged)
        if packaged:
            _slim(prefix, programs.values())
        ready = startable(order, programs, libraries.system)
        return BuiltPrograms(
            ready.programs, quality={**quality, **added}, artifacts=libraries.artifacts, facts={**ready.facts, **added}
        )


def _slim(prefix: Path, programs: Iterable[Path]) -> None:
    kept = set(programs) | {path.resolve() for path in programs}
    for folder in {path.parent for path in kept} | {prefix / "usr/bin", prefix / "usr/sbin"}:
        for path in folder.iterdir() if folder.is_dir() else ():
            if path not in kept and not path.is_dir():
                path.unlink()
    for pattern in _PRUNED:
        for place in prefix.glob(pattern):
            shutil.rmtree(place)
