"""What the builds' own defaults differ in, of the options that some step leaves to them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stepgrid.build.option_difference import same, shorten_number
from stepgrid.model.table import NOTHING, Cell, Table, columns
from stepgrid.summarize.data.tables_reader import Tables

LIST = 3  # values between commas
_PLACE = re.compile(r"(^|[\s}])/\w|\{hostname\}")

Facts = Mapping[str, Mapping[str, str]]  # build -> option -> default, or what is requested


@dataclass(frozen=True, slots=True)
class Defaults:
    """A row for each option; the base's default first, None where a build has no such option."""

    base: str
    others: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str | None, ...]], ...]

    @property
    def table(self) -> Table:
        heads = columns((), ("option", f"{self.base} (base)", *self.others))
        shown = ((name, *(NOTHING if each is None else each or "empty" for each in row)) for name, row in self.rows)
        return Table("defaults", heads, tuple(tuple(map(Cell, row)) for row in shown))

    def changes(self, index: int) -> list[str]:
        """Of one of the others: `format_version 5 -> 6`."""
        found = [(option, values[0], values[index + 1]) for option, values in self.rows]
        return [f"{name} {_change(one or '', new or '')}" for name, one, new in found if _differ(one, new)]

    @property
    def sentences(self) -> Iterator[str]:
        """For the warnings: the table lies far below them."""
        found = [(build, len(self.changes(index))) for index, build in enumerate(self.others)]
        differing = [f"{build}: {number}" for build, number in found if number]
        if differing:
            yield (
                f"options that the spec leaves alone have other defaults than in {self.base} ({', '.join(differing)}): "
                "they are part of each ratio across builds, and listed below"
            )

    def groups(self) -> list[tuple[tuple[str, ...], list[str]]]:
        """Builds that differ from the base in the same way, and how."""
        found: dict[tuple[str, ...], list[str]] = {}
        for index, build in enumerate(self.others):
            found.setdefault(tuple(self.changes(index)), []).append(build)
        return [(tuple(builds), list(changes)) for changes, builds in found.items() if changes]


def defaults(tables: Tables, builds: Sequence[str], base: str | None) -> Defaults | None:
    """`builds`: the labels of the axis. None where there is nothing to compare, or no difference."""
    known: Facts = tables.facts.get("default", {})
    ids = {run.build: run.build_id for run in tables.runs if run.build_id in known}
    first = base if base is not None else next(iter(builds), None)
    if first is None or first not in ids:
        return None
    there = {build: node for build, node in ids.items() if _engine(tables, node) == _engine(tables, ids[first])}
    others = tuple(build for build in builds if build in there and ids[build] != ids[first])
    nodes = [ids[build] for build in (first, *others)]
    left = _left_alone(nodes, known, tables.facts.get("requested", {}), _set_by_us(tables))
    rows = ((name, tuple(_said(known[node].get(name)) for node in nodes)) for name in sorted(left))
    found = tuple(row for row in rows if any(_differ(row[1][0], value) for value in row[1][1:]))
    return Defaults(first, others, found) if found else None


def _change(one: str, new: str) -> str:
    """5 -> 6; of long lists what went and what came: -skip_scan=off +skip_scan=on"""
    before, after = one.split(","), new.split(",")
    if min(len(before), len(after)) < LIST:
        return f"{one or 'empty'} -> {new or 'empty'}"
    gone, come = (
        [f"-{each}" for each in before if each not in after],
        [f"+{each}" for each in after if each not in before],
    )
    return " ".join((*gone, *come)) or "in another order"


def _said(value: str | None) -> str | None:
    return None if value is None else shorten_number(value)


def _engine(tables: Tables, node: str) -> str | None:
    return tables.facts.get("build", {}).get(node, {}).get("engine")


def _left_alone(nodes: Sequence[str], known: Facts, requested: Facts, set_by_us: set[str]) -> set[str]:
    """By some step of some build, in all of the builds that have the option: what is always said has no default."""
    names = {name for node in nodes for name in known[node]} - set_by_us
    return {name for name in names if any(_leaves(requested.get(node, {}).get(name)) for node in nodes)}


def _leaves(asked: str | None) -> bool:
    return asked is None or None in json.loads(asked)


def _set_by_us(tables: Tables) -> set[str]:
    """By the driver, or by whoever runs a server."""
    from stepgrid.plugins import registry

    used = {facts["engine"] for facts in tables.facts.get("build", {}).values() if "engine" in facts}
    kinds = {run.kind for run in tables.runs}
    theirs = {name for kind in kinds for name in registry.driver(kind).reserved}
    return theirs.union(*(registry.engine(name).reserved for name in used))


def _differ(one: str | None, other: str | None) -> bool:
    """An option that one of them lacks has no default there that could differ; where its files lie is no behaviour."""
    if one is None or other is None or _PLACE.search(f"{one} {other}"):
        return False
    return not same(one, other)
