"""Engines, drivers, collectors, layouts and importers by the entry points of the installed packages.

Those of stepgrid itself are found the same way. Names cost one look at the installed packages; a plug-in is imported
when somebody asks for it.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from stepgrid.plugins.collector import Collector
    from stepgrid.plugins.driver import Driver
    from stepgrid.plugins.engine import Engine
    from stepgrid.plugins.importer import Importer
    from stepgrid.plugins.layout import Layout

Plugin = TypeVar("Plugin")

OWN = "stepgrid"  # the package that brings the built-in ones
CONFORMANCE = "`pytest --pyargs stepgrid.conformance` says what a plug-in needs (docs/plugins.md)"
INSTALL = "`pip install PACKAGE` adds one (docs/plugins.md)"


class PluginError(LookupError):
    """A plug-in that is not installed or cannot be imported: a sentence and a hint."""


class Registry(Generic[Plugin]):
    """The plug-ins of one group of entry points."""

    def __init__(self, group: str, what: str, protocol: str, install: str = INSTALL) -> None:
        """`protocol`: module and name, as few processes need more than one of them."""
        self.group, self.what, self._protocol, self._install = f"{OWN}.{group}", what, protocol, install
        self._whole: set[str] = set()  # those of other packages that have all that their protocol asks for

    @cached_property
    def points(self) -> dict[str, EntryPoint]:
        found: dict[str, EntryPoint] = {}
        for point in sorted(_points()[self.group], key=lambda each: each.name):
            if found.get(point.name, point).value != point.value:  # equal: one package, met twice on the path
                raise PluginError(self._twice(found[point.name], point))
            found[point.name] = point
        return found

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self.points))

    def built_in(self) -> tuple[str, ...]:
        return tuple(name for name in self.names() if _is_own(self.points[name]))

    def folder(self, name: str) -> Path:
        """Of its module, which is not imported."""
        spec = find_spec(self.points[name].module)
        return Path(spec.origin).parent if spec and spec.origin else Path()

    def get(self, name: str) -> Plugin:
        if name not in self.points:
            raise PluginError(f"{self.what} `{name}` is not installed; {self._install}")
        point = self.points[name]
        try:
            found: Plugin = getattr(import_module(point.module), point.attr)
        except Exception as error:  # whatever the module of another package does when it is imported
            why = f"{type(error).__name__}: {error}"
            raise PluginError(f"{self.what} `{name}` of {brought_by(point)} cannot be imported: {why}") from error
        if not _is_own(point) and name not in self._whole:
            self._check(point, found)
            self._whole.add(name)
        return found

    def _check(self, point: EntryPoint, found: Plugin) -> None:
        if lacking := [name for name in self.members() if not hasattr(found, name)]:
            what = f"{self.what} `{point.name}` of {brought_by(point)}"
            raise PluginError(f"{what} has no {', '.join(lacking)}; {CONFORMANCE}")

    def members(self) -> list[str]:
        """The attributes and methods that each plug-in of this group has."""
        module, _, name = self._protocol.partition(":")
        protocol = getattr(import_module(module), name)
        return [each for each in {**protocol.__annotations__, **vars(protocol)} if not each.startswith("_")]

    def unknown(self, name: str) -> tuple[str, str, int]:
        """What a spec is told: the message, the name that was probably meant or how to install it, the width."""
        from stepgrid.language.problems import nearest

        hint = nearest(name, self.points)
        return (
            f"there is no {self.what} `{name}`",
            hint if hint.endswith("?") else f"{hint}; {self._install}",
            len(name),
        )

    def _twice(self, first: EntryPoint, second: EntryPoint) -> str:
        both = f"{brought_by(first)} and {brought_by(second)}"
        return f"two packages bring the {self.what} `{first.name}`: {both}; uninstall one of them"


@cache
def _points() -> dict[str, list[EntryPoint]]:
    from importlib.metadata import distributions  # 40 ms, of which a job that asks for no plug-in is spared

    found: dict[str, list[EntryPoint]] = defaultdict(list)
    for point in (point for package in distributions() for point in package.entry_points):
        if point.group.startswith(f"{OWN}."):
            found[point.group].append(point)
    if not found:
        raise PluginError("no plug-in is registered: the installation is older than pyproject.toml; run `make setup`")
    return found


def _is_own(point: EntryPoint) -> bool:
    return point.dist is None or point.module.partition(".")[0] == OWN


def brought_by(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value


def foreign(*registries: Registry[Any]) -> dict[str, set[Path]]:
    """Packages beside stepgrid itself, with their versions -> where the code of their plug-ins is."""
    found: dict[str, set[Path]] = defaultdict(set)
    for point in (point for registry in registries for point in registry.points.values()):
        if not _is_own(point):
            found[brought_by(point)].update(_folder(point.module.partition(".")[0]))
    return dict(sorted(found.items()))


def _folder(package: str) -> list[Path]:
    """Of a package that need not be imported for it; a single module is a file."""
    spec = find_spec(package)
    if spec is None:
        return []
    return list(map(Path, spec.submodule_search_locations or [spec.origin or package]))


ENGINES: Registry[Engine] = Registry("engines", "engine", "stepgrid.plugins.engine:Engine")
DRIVERS: Registry[Driver] = Registry("drivers", "kind", "stepgrid.plugins.driver:Driver")
COLLECTORS: Registry[Collector] = Registry("collectors", "collector", "stepgrid.plugins.collector:Collector")
LAYOUTS: Registry[Layout] = Registry("layouts", "layout", "stepgrid.plugins.layout:Layout")
IMPORTERS: Registry[Importer[Any]] = Registry(
    "importers",
    "kind of published results",
    "stepgrid.plugins.importer:Importer",
    "`pip install 'stepgrid[importers]'` (in a checkout `make setup`) adds some",
)
