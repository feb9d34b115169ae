"""The sources by route: the key of a spec's `source:` says which."""

from __future__ import annotations

from collections.abc import Mapping

from compiler.build.problem import BuildError
from compiler.build.sources.crate import Crate
from compiler.build.sources.debian import Debian
from compiler.build.sources.debian_source import DebianSource
from compiler.build.sources.git import GitSource
from compiler.build.sources.maven import Maven
from compiler.build.sources.path import LocalTree
from compiler.build.sources.protocol import Source
from compiler.build.sources.pypi import Pypi
from compiler.build.sources.server import RunningServer
from compiler.build.sources.system import System
from compiler.build.sources.tarball import Tarball
from compiler.plan.model import Json

_ALL: tuple[Source, ...] = (
    Debian(),
    System(),
    GitSource(),
    Tarball(),
    Maven(),
    Crate(),
    Pypi(),
    DebianSource(),
    LocalTree(),
    RunningServer(),
)

SOURCES: dict[str, Source] = {source.route: source for source in _ALL}


def source_of(declared: Mapping[str, Json]) -> Source:
    found = [SOURCES[key] for key in declared if key in SOURCES]
    if len(found) != 1:
        routes, given = ", ".join(SOURCES), ", ".join(declared) or "nothing"
        raise BuildError(f"a source has exactly one of the keys {routes}; this one has {given}")
    return found[0]
