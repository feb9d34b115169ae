"""--set PATH=VALUE: one value of a spec replaced for this once, as a scale would."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.language import short
from compiler.language.load import parse_value
from compiler.language.merge import merge
from compiler.language.nodes import Map, Node
from compiler.language.problem import Problems, Where

FILE = "--set"


def override(nodes: Map, sets: Sequence[str], problems: Problems) -> Map:
    for number, text in enumerate(sets, 1):
        path, equals, value = text.partition("=")
        where = Where(FILE, number, 1)
        if not equals or not all(path.split(".")):
            problems.add("set-form", where, f"`{text}` is not PATH=VALUE", "for example: params.keys=1M")
            continue
        merged = merge(nodes, short.expand(_nested(path.split("."), parse_value(value, where, problems), where)))
        assert isinstance(merged, Map)
        nodes = merged
    return nodes


def _nested(path: Sequence[str], value: Node, where: Where) -> Map:
    inner = value if len(path) == 1 else _nested(path[1:], value, where)
    return Map({path[0]: inner}, where, {path[0]: where})
