"""YAML as plain data that remembers where it stands: text, sequences and maps with positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from stepgrid.language.problems.problem import Location

Node: TypeAlias = "Text | Seq | Map | None"


class Text(str):
    """A scalar's source text: 9.10 stays 9.10."""

    where: Location
    quoted: bool
    key: Location | None = None  # where the key stands that it is the value of

    def __new__(cls, value: str, where: Location, quoted: bool = False) -> Text:
        self = super().__new__(cls, value)
        self.where = where
        self.quoted = quoted
        return self


class Seq(list[Node]):
    where: Location
    key: Location | None = None
    at: Sequence[Location]  # where each item stands: null remembers nothing

    def __init__(self, items: Iterable[Node], where: Location, at: Sequence[Location] = ()) -> None:
        super().__init__(items)
        self.where = where
        self.at = at


class Map(dict[str, Node]):
    where: Location
    key: Location | None = None
    at: Mapping[str, Location]  # where each key stands

    def __init__(self, items: Mapping[str, Node], where: Location, at: Mapping[str, Location]) -> None:
        super().__init__(items)
        self.where = where
        self.at = at


def place(node: object, default: Location) -> Location:
    """Where a value stands; null remembers nothing, so its key speaks for it."""
    return getattr(node, "where", default)


def key_place(node: object, default: Location) -> Location:
    """Where the key of a value stands."""
    return getattr(node, "key", None) or default


def width(node: object) -> int:
    return max(1, len(node)) if isinstance(node, str) else 1


def replaced(source: Map, key: str, value: Node) -> Map:
    """The map with one value in place of another; the key keeps its position (a new one stands where the map does)."""
    return Map({**source, key: value}, source.where, {**source.at, key: source.at.get(key, source.where)})


def without(source: Map, *keys: str) -> Map:
    return Map({key: value for key, value in source.items() if key not in keys}, source.where, source.at)


def renamed(source: Map, key: str, meant: str) -> Map:
    """With a misspelt key as what was meant, at its place; of an empty one no more is said, so it is left out."""
    kept = {name: value for name, value in source.items() if name != key}
    value = {meant: source[key]} if source[key] else {}
    return Map({**kept, **value}, source.where, {**source.at, meant: source.at[key]})
