"""stepgrid builds diff A B: the options that two builds differ in, as text, JSON, CSV or Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec import Struct

from stepgrid.build.option_difference import (
    DEFAULT,
    KINDS,
    ONLY_FIRST,
    ONLY_SECOND,
    TYPE,
    OptionDifference,
    default,
    differences,
)
from stepgrid.cli.output import WIDTH
from stepgrid.host.terminal_output import cut, wrap
from stepgrid.model.plan import Json
from stepgrid.model.records import BuildRecord, Catalogue, OptionInfo
from stepgrid.model.table import NOTHING, Cell, Table, columns
from stepgrid.model.units import counted
from stepgrid.summarize import formats
from stepgrid.summarize.formats import delimited_text, markdown_table

_NAME_WIDTH, _CHANGE_WIDTH = 32, 30  # columns of the text; what is longer moves the next column
_NARROWEST_HELP = 24  # columns below which an explanation is left out
_MARKDOWN_HELP = 80  # characters
_CSV_HEADS = ("option", "change", "a", "b", "type_a", "type_b", "help")


class ComparedBuild(Struct, frozen=True):
    id: str
    record: BuildRecord
    catalogue: Catalogue


def diff_lines(form: str, one: ComparedBuild, other: ComparedBuild) -> Iterator[str]:
    changes = differences(one.catalogue, other.catalogue)
    titles = tuple(side.record.name for side in (one, other))
    if titles[0] == titles[1]:
        titles = tuple(f"{side.record.name} {side.id}" for side in (one, other))
    match form:
        case "json":
            yield _json(one, other, changes)
        case "csv":
            rows = []
            for change in changes:
                types = _both(change, lambda info: info.type)
                rows.append((change.option, change.kind, *_both(change, default), *types, change.help))
            yield delimited_text([_CSV_HEADS, *rows]).rstrip("\n")
        case "markdown":
            yield _markdown(titles, changes)
        case _:
            count = counted(len(one.catalogue.keys() | other.catalogue.keys()), "option")
            yield f"{titles[0]} -> {titles[1]}: {count}"
            yield from _text_lines(titles, changes)


def _json(one: ComparedBuild, other: ComparedBuild, changes: Sequence[OptionDifference]) -> str:
    sides = {
        name: {"id": side.id, "name": side.record.name, "engine": side.record.engine, "version": side.record.version}
        for name, side in (("a", one), ("b", other))
    }
    options = [
        {"option": change.option, "change": change.kind, "a": _side(change.first), "b": _side(change.second)}
        for change in changes
    ]
    return formats.json_text({**sides, "options": options})


def _side(info: OptionInfo | None) -> Json:
    return None if info is None else info.to_json()


def _both(change: OptionDifference, text: Callable[[OptionInfo], str], missing: str = "") -> list[str]:
    return [missing if side is None else text(side) for side in (change.first, change.second)]


def _markdown(titles: Sequence[str], changes: Sequence[OptionDifference]) -> str:
    heads = ("option", *titles, "help")
    rows = [
        (
            change.option,
            *_both(change, partial(_markdown_value, change.kind), NOTHING),
            cut(change.help, _MARKDOWN_HELP),
        )
        for change in changes
    ]
    return markdown_table(Table("", columns((), heads), tuple(tuple(map(Cell, row)) for row in rows))).rstrip("\n")


def _markdown_value(kind: str, info: OptionInfo) -> str:
    return f"{_default(info)} ({info.type})" if kind == TYPE else _default(info)


def _default(info: OptionInfo) -> str:
    return default(info) or "empty"


def _text_lines(names: Sequence[str], changes: Sequence[OptionDifference]) -> Iterator[str]:
    titles = {
        DEFAULT: "other default",
        TYPE: "other type",
        ONLY_FIRST: f"only in {names[0]}",
        ONLY_SECOND: f"only in {names[1]}",
    }
    groups = {kind: [change for change in changes if change.kind == kind] for kind in KINDS}
    counts = [f"{titles[kind]}: {len(group):,}" for kind, group in groups.items() if group]
    yield f"  {'; '.join(counts) or 'no option differs'}"
    for kind, group in groups.items():
        if group:
            yield ""
            yield titles[kind]
            yield from _group_lines(group)


def _group_lines(changes: Sequence[OptionDifference]) -> Iterator[str]:
    texts = [change_text(change) for change in changes]
    name_width = min(max(len(change.option) for change in changes), _NAME_WIDTH)
    text_width = min(max(map(len, texts)), _CHANGE_WIDTH)
    for change, text in zip(changes, texts, strict=True):
        head = f"  {change.option:{name_width}}  "
        if len(head) + len(text) > WIDTH:
            text = _list_change(change) or text
        if len(head) + len(text) > WIDTH:
            yield from wrap(text, head, " " * len(head), WIDTH)
            continue
        line = f"{head}{text:{text_width}}  "
        width = WIDTH - len(line)  # the explanation is cut, or left out, before a value is
        yield f"{line}{cut(change.help, width) if width >= min(_NARROWEST_HELP, len(change.help)) else ''}".rstrip()


def change_text(change: OptionDifference) -> str:
    """true -> false (bool -> string)"""
    first, second = change.first, change.second
    if first is None or second is None:
        return _default(second or first or OptionInfo())
    types = f"{first.type} -> {second.type}"
    if change.kind == TYPE:
        return types
    suffix = "" if first.type == second.type else f" ({types})"
    return f"{_default(first)} -> {_default(second)}{suffix}"


def _list_change(change: OptionDifference) -> str:
    """Show what only one of two lists has: -first +third. Empty for other values, or if only the order differs."""
    if change.first is None or change.second is None:
        return ""
    one, other = (default(side).split(",") for side in (change.first, change.second))
    if max(len(one), len(other)) < 2:
        return ""
    one, other = ([part.strip() for part in parts if part.strip()] for parts in (one, other))
    removed, added = (
        [f"-{part}" for part in one if part not in other],
        [f"+{part}" for part in other if part not in one],
    )
    return " ".join([*removed, *added])
