"""stepgrid builds diff A B: the options that two builds differ in, as their catalogues have them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from stepgrid.build.option_difference import (
    DEFAULT,
    KINDS,
    ONLY_FIRST,
    ONLY_SECOND,
    TYPE,
    Difference,
    default,
    differences,
)
from stepgrid.cli.builds import BuildsError
from stepgrid.cli.builds.names import SpecIsWrong, find, known
from stepgrid.cli.shared import spec_arguments
from stepgrid.cli.shared.plan_text import WIDTH
from stepgrid.errors import FINE, PROBLEMS
from stepgrid.model.table import NOTHING, Cell, Table, columns
from stepgrid.model.units import counted
from stepgrid.store import builds
from stepgrid.store.builds import catalogue
from stepgrid.store.store import Store
from stepgrid.summarize.formats import markdown
from stepgrid.summarize.formats.csv_format import delimited_text
from stepgrid.summarize.formats.text import cut, wrapped

_NAME, _VALUES = 32, 30  # columns of the text; what is longer moves the rest
_HELP = 24  # columns below which an explanation says nothing
_CELL = 80  # characters of an explanation in Markdown


@dataclass(frozen=True, slots=True)
class ComparedBuild:
    id: str
    record: Mapping[str, Any]
    catalogue: Mapping[str, Mapping[str, Any]]

    @property
    def name(self) -> str:
        return str(self.record["name"])


def diff(args: argparse.Namespace, names: Sequence[str]) -> int:
    from stepgrid.workflow import host_plan

    spec_arguments.wrong_site(args)
    store = host_plan.store()
    try:
        ids = known(args, store)
    except SpecIsWrong:
        return PROBLEMS
    one, other = (_side(store, find(name, ids, store), name) for name in names)
    print("\n".join(_FORMS[args.format](one, other, differences(one.catalogue, other.catalogue))))
    return FINE


def _side(store: Store, node: str, name: str) -> ComparedBuild:
    record, options = builds.record(store, node), catalogue(store, node)
    if not record:
        raise BuildsError(f"{name} ({node}) is not built yet: `stepgrid builds SPEC --make` makes it")
    if options is None:
        raise BuildsError(f"{name} ({node}) has no catalogue of its options")
    return ComparedBuild(node, record, options)


def text(one: ComparedBuild, other: ComparedBuild, found: Sequence[Difference]) -> Iterator[str]:
    names = _apart(one, other)
    titles = _titles(*names)
    counts = [(sum(each.kind == kind for each in found), kind) for kind in KINDS]
    said = "; ".join(f"{titles[kind]}: {count:,}" for count, kind in counts if count) or "no option differs"
    yield f"{names[0]} -> {names[1]}: {counted(len(one.catalogue.keys() | other.catalogue.keys()), 'option')}"
    yield f"  {said}"
    for kind in KINDS:
        listed = [each for each in found if each.kind == kind]
        if listed:
            yield ""
            yield titles[kind]
            yield from _rows(listed)


def _apart(one: ComparedBuild, other: ComparedBuild) -> tuple[str, str]:
    """Builds of one name are told apart by their ids."""
    if one.name != other.name:
        return one.name, other.name
    return f"{one.name} {one.id}", f"{other.name} {other.id}"


def _titles(one: str, other: str) -> dict[str, str]:
    return {
        DEFAULT: "other default",
        TYPE: "other type",
        ONLY_FIRST: f"only in {one}",
        ONLY_SECOND: f"only in {other}",
    }


def _rows(found: Sequence[Difference]) -> Iterator[str]:
    values = [change(each) for each in found]
    first = min(max(len(each.option) for each in found), _NAME)
    second = min(max(map(len, values)), _VALUES)
    for each, value in zip(found, values, strict=True):
        yield from _row(f"  {each.option:{first}}  ", value, second, each)


def _row(head: str, value: str, width: int, each: Difference) -> Iterator[str]:
    """The explanation is cut, or left out, before a value is."""
    room = WIDTH - len(head)
    if len(value) > room:
        value = _changed(each) or value
    if len(value) > room:
        yield from wrapped(value, head, " " * len(head), WIDTH)
        return
    line = f"{head}{value:{width}}  "
    left = WIDTH - len(line)
    yield f"{line}{cut(each.help, left) if left >= min(_HELP, len(each.help)) else ''}".rstrip()


def _changed(each: Difference) -> str:
    """Of two lists what only one has: -first +third. Empty where there is none, or the order alone differs."""
    if each.first is None or each.second is None:
        return ""
    one, other = (default(side).split(",") for side in (each.first, each.second))
    if max(len(one), len(other)) < 2:
        return ""
    one, other = ([part.strip() for part in parts if part.strip()] for parts in (one, other))
    gone, new = [f"-{part}" for part in one if part not in other], [f"+{part}" for part in other if part not in one]
    return " ".join([*gone, *new])


def change(each: Difference) -> str:
    if each.first is None or each.second is None:
        return _shown(each.second or each.first or {})
    types = (each.first.get("type"), each.second.get("type"))
    if each.kind == TYPE:
        return f"{types[0]} -> {types[1]}"
    typed = "" if types[0] == types[1] else f" ({types[0]} -> {types[1]})"
    return f"{_shown(each.first)} -> {_shown(each.second)}{typed}"


def _shown(info: Mapping[str, Any]) -> str:
    return default(info) or "empty"


def _json(one: ComparedBuild, other: ComparedBuild, found: Sequence[Difference]) -> Iterator[str]:
    from stepgrid.summarize.formats import json_text

    sides = {
        name: {"id": side.id, **{key: side.record.get(key) for key in ("name", "engine", "version")}}
        for name, side in (("a", one), ("b", other))
    }
    options = [{"option": each.option, "change": each.kind, "a": each.first, "b": each.second} for each in found]
    yield json_text.text({**sides, "options": options})


def _csv(one: ComparedBuild, other: ComparedBuild, found: Sequence[Difference]) -> Iterator[str]:
    heads = ("option", "change", "a", "b", "type_a", "type_b", "help")
    rows = [(each.option, each.kind, *_both(each, default), *_both(each, _type), each.help) for each in found]
    yield delimited_text([heads, *rows]).rstrip("\n")


def _both(each: Difference, of: Callable[[Mapping[str, Any]], str], nothing: str = "") -> list[str]:
    return [nothing if side is None else of(side) for side in (each.first, each.second)]


def _type(info: Mapping[str, Any]) -> str:
    return str(info.get("type", ""))


def _markdown(one: ComparedBuild, other: ComparedBuild, found: Sequence[Difference]) -> Iterator[str]:
    heads = ("option", *_apart(one, other), "help")
    rows = [
        (each.option, *_both(each, partial(_typed, kind=each.kind), NOTHING), cut(each.help, _CELL)) for each in found
    ]
    yield markdown.table(Table("", columns((), heads), tuple(tuple(map(Cell, row)) for row in rows))).rstrip("\n")


def _typed(info: Mapping[str, Any], kind: str) -> str:
    return f"{_shown(info)} ({info.get('type')})" if kind == TYPE else _shown(info)


Form = Callable[[ComparedBuild, ComparedBuild, Sequence[Difference]], Iterator[str]]
_FORMS: Mapping[str, Form] = MappingProxyType({"text": text, "json": _json, "csv": _csv, "markdown": _markdown})
