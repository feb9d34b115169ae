"""A step under one build and some points, with every layer applied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from stepgrid.expand.step_entry import StepEntry
from stepgrid.expand.steps.setup import Setup
from stepgrid.model.plan import Json, Options, encode
from stepgrid.plugins.registry import driver


@dataclass(frozen=True, slots=True, eq=False)
class StepHead:
    """What a step is in all cells with a build."""

    name: str  # a label
    step: str  # the label without what `times` and `for` add
    variables: Mapping[str, str]  # of a live grid
    kind: str
    revision: int  # of what the driver runs
    measured: bool
    mutates: bool
    options: tuple[str, ...]  # the names that it may have, sorted

    @classmethod
    def of(cls, item: StepEntry, options: tuple[str, ...]) -> StepHead:
        measured, mutates = item.flag("measured", True), item.flag("mutates", False)
        variables = {name: str(value) for name, value in item.variables.items()}
        revision = driver(item.kind).revision
        return cls(item.name, item.shown, variables, item.kind, revision, measured, mutates, options)


class PlacedValues(dict[str, Json]):
    """Values by name, with where each was said; a driver's own default has no place."""

    __slots__ = ("at",)

    def __init__(self, values: Mapping[str, Json], at: Mapping[str, str]) -> None:
        super().__init__(values)
        self.at = at


class Settings(NamedTuple):
    values: PlacedValues  # complete
    text: str  # what identity has of them: those that decide what is run and are not the driver's defaults
    earlier_text: str  # what earlier ids had: with those that decide what is read of the output
    seed_key: str
    seconds: float

    @property
    def is_read(self) -> bool:
        """Some of them decide what is read of the output."""
        return self.text != self.earlier_text


@dataclass(frozen=True, slots=True, eq=False)
class ResolvedStep:
    head: StepHead
    settings: Settings
    options: Options
    setup: Setup
    texts: tuple[Mapping[str, str], ...] = field(repr=False)  # what identity has of the options, by name

    def identity(self, client: str | None = None, generation: int = 0) -> str:
        """Everything that decides what is run, but the seed: JSON with sorted keys. `client`: the id of its build.

        `generation`: of ids: 0 is that of today, 1 had what is read of the output, 2 and 3 not all files that it reads.
        """
        texts: dict[str, str] = {}
        for part in self.texts:
            texts |= part
        options = ",".join([texts[name] for name in self.head.options if name in texts])
        setup = self.setup.text_of(max(generation - 1, 0))
        settings = self.settings.earlier_text if generation else self.settings.text
        around = f",{setup}" if setup else ""
        if client is not None:
            around += f",{encode(client)}"
        return f"[{encode(self.head.kind)},{self.head.revision},{settings},{{{options}}}{around}]"


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """The steps between two boundaries; cells that have the same share the object."""

    steps: tuple[ResolvedStep, ...]
    seed_keys: tuple[str, ...]  # what each step does, for its seed

    @classmethod
    def of(cls, steps: Iterable[ResolvedStep | None]) -> Segment:
        there = tuple([step for step in steps if step is not None])
        return cls(there, tuple([f"{step.head.kind}/{step.settings.seed_key}" for step in there]))
