"""An entry of the spec's list of steps: a step, or the checkpoint that ends a stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from stepgrid.language.models import Step
from stepgrid.language.problems import Location
from stepgrid.language.yaml import Text
from stepgrid.model.search import AxisSearch

UNKNOWN = ""  # the name of what could not be read


@dataclass(frozen=True, slots=True)
class StepEntry:
    """One entry of the list: a step, from its definition and its use (nearest last)."""

    name: str
    kind: str
    position: int
    where: Location
    links: tuple[Step, ...]
    options: tuple[Any, ...]  # of all links, nearest last
    base: str = ""  # the name without what `times` and `for` add to it
    shown: str = ""  # the name in tables, where the variables of a live grid have columns of their own
    variables: Mapping[str, Text] = field(default_factory=dict)  # of a live grid
    search: AxisSearch | None = None  # of which it is one point
    search_at: Location | None = None  # where its objective stands

    @property
    def whens(self) -> tuple[Text, ...]:
        return tuple(link.when for link in self.links if link.when is not None)

    def flag(self, field: str, default: bool) -> bool:
        given = [value for link in self.links if (value := getattr(link, field)) is not None]
        return bool(given[-1]) if given else default


class Checkpoint(NamedTuple):
    name: str
    position: int
    where: Location
