"""--set PATH=VALUE: one value of a spec replaced for this once, as a scale would."""

from __future__ import annotations

from collections.abc import Sequence

from stepgrid.language import short_forms
from stepgrid.language.problems import Location, Problems
from stepgrid.language.yaml import Map, Node, Seq, merge_nodes, parse_value

FILE = "--set"


def override(nodes: Map, sets: Sequence[str], problems: Problems) -> Map:
    for number, text in enumerate(sets, 1):
        path, equals, value = text.partition("=")
        where = Location(FILE, number, 1)
        if not equals or not all(path.split(".")):
            problems.add("set-form", where, f"`{text}` is not PATH=VALUE", "for example: params.keys=1M")
            continue
        keys = path.split(".")
        listed = _list_on(nodes, keys)
        node = parse_value(value, where, problems)
        if listed is not None:
            keys, node = _layered(keys, listed, node, where, problems)
        merged = merge_nodes(nodes, short_forms.expand(_nested(keys, node, where)))
        assert isinstance(merged, Map)
        nodes = merged
    return nodes


def _list_on(nodes: Map, keys: Sequence[str]) -> tuple[int, Seq] | None:
    """The list that a path leads into, and how many keys lead to it."""
    node: Node = nodes
    for number, key in enumerate(keys):
        if isinstance(node, Seq):
            return number, node
        node = node.get(key) if isinstance(node, Map) else None
    return None


def _layered(
    keys: list[str], listed: tuple[int, Seq], value: Node, where: Location, problems: Problems
) -> tuple[list[str], Node]:
    """One option more, over those that a list of options has; any other list is set as a whole."""
    number, found = listed
    above, inside = keys[:number], keys[number:]
    if above[-1] == "options" and len(inside) == 1 and not inside[0].isdigit():
        return above, Seq([*found, Map({inside[0]: value}, where, {inside[0]: where})], where)
    path = ".".join(above)
    problems.add("set-form", where, f"`{path}` is a list, which is set as a whole", f"for example: {path}=[…]")
    return above, found


def _nested(path: Sequence[str], value: Node, where: Location) -> Map:
    inner = value if len(path) == 1 else _nested(path[1:], value, where)
    return Map({path[0]: inner}, where, {path[0]: where})
