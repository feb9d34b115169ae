"""The sources by route: the key of a spec's `source:` says which."""

from __future__ import annotations

from collections.abc import Mapping

from stepgrid.build.error import BuildError
from stepgrid.build.source import Source
from stepgrid.build.sources.crate import Crate
from stepgrid.build.sources.debian import Debian
from stepgrid.build.sources.debian_source import DebianSource
from stepgrid.build.sources.git import GitSource
from stepgrid.build.sources.maven import Maven
from stepgrid.build.sources.path import LocalTree
from stepgrid.build.sources.pypi import Pypi
from stepgrid.build.sources.server import RunningServer
from stepgrid.build.sources.system import System
from stepgrid.build.sources.tarball import Tarball
from stepgrid.model.plan import Json

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
