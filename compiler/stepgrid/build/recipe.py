"""What a recipe is: how the material of a source becomes programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from stepgrid.build.source import Artifact, Material
from stepgrid.build.task import Order
from stepgrid.model.plan import Json, PlannedBuild


@dataclass(frozen=True, slots=True)
class Made:
    """The programs of a build, below its folder or on the machine."""

    programs: Mapping[str, tuple[str, ...]]  # argv prefix: paths relative to the build's folder or absolute
    quality: Mapping[str, Json] = field(default_factory=dict)  # adds to the material's
    artifacts: tuple[Artifact, ...] = ()  # adds to the material's
    facts: Mapping[str, Json] = field(default_factory=dict)  # adds to the material's


class Recipe(Protocol):
    name: str  # for the record

    def takes(self, build: PlannedBuild) -> bool: ...

    def make(self, order: Order, material: Material) -> Made:
        """What is not needed to run the programs is removed: a tree of 2 GB does not stay."""
        ...
