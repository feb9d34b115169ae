"""The sources by route: the key of a spec's `source:` says which. A module is imported when its route is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from stepgrid.build.error import BuildError
from stepgrid.build.source import Source
from stepgrid.model.plan import Json

# by route: the module and its class
_CLASSES = {
    "debian": ("debian", "Debian"),
    "system": ("system", "System"),
    "git": ("git", "GitSource"),
    "tarball": ("tarball", "Tarball"),
    "maven": ("maven", "Maven"),
    "crate": ("crate", "Crate"),
    "pypi": ("pypi", "Pypi"),
    "debian-source": ("debian_source", "DebianSource"),
    "path": ("path", "LocalTree"),
    "server": ("server", "RunningServer"),
}
ROUTES = tuple(_CLASSES)


@cache
def source(route: str) -> Source:
    module, name = _CLASSES[route]
    found: Source = getattr(import_module(f"{__name__}.{module}"), name)()
    return found


def source_of(declared: Mapping[str, Json]) -> Source:
    found = [key for key in declared if key in _CLASSES]
    if len(found) != 1:
        routes, given = ", ".join(ROUTES), ", ".join(declared) or "nothing"
        raise BuildError(f"a source has exactly one of the keys {routes}; this one has {given}")
    return source(found[0])
