"""Short forms, written out before a scale is merged in, so that everything after sees one form."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import TypeAlias

from stepgrid.language.yaml import Map, Node, Seq, Text, drop_keys, node_location, set_value

Rule: TypeAlias = Callable[[Node], Node]

_LONG_AXIS = ("points", "option", "param", "values", "builds", "each", "groups")
_AXIS_SCOPE = ("from", "steps")


def expand(document: Map) -> Map:
    """Write out every short form of a spec or a library."""
    nodes = _apply(document, _SPEC)
    assert isinstance(nodes, Map)
    return nodes


def _apply(node: Node, rules: Mapping[str, Rule]) -> Node:
    """Apply rules to the values of a map, by key."""
    if isinstance(node, Map):
        for key, rule in rules.items():
            if node.get(key) is not None:
                node = set_value(node, key, rule(node[key]))
    return node


def _all(rule: Rule) -> Rule:
    """Make a rule for all entries of a map or a list."""

    def apply(node: Node) -> Node:
        if isinstance(node, Map):
            return Map({key: rule(value) for key, value in node.items()}, node.where, node.at)
        return Seq([rule(item) for item in node], node.where, node.at) if isinstance(node, Seq) else node

    return apply


def _keys(names: str, rule: Rule) -> Rule:
    rules = dict.fromkeys(names.split(), rule)
    return lambda node: _apply(node, rules)


def _list(node: Node) -> Node:
    return Seq([node], node.where) if isinstance(node, Text | Map) else node


def _under(key: str, node: Text | Seq) -> Map:
    return Map({key: node}, node.where, {key: node.where})


_options = _keys("options", _list)


def _words(node: Node) -> Node:
    """Join the words of a flag that is a list, as a shell would read them."""
    words = [item for item in node if isinstance(item, Text)] if isinstance(node, Seq) else []
    if not isinstance(node, Seq) or not words or len(words) < len(node):
        return node
    text = Text(shlex.join(words), node.where)
    text.key = node.key
    return text


def _build(node: Node) -> Node:
    return _apply(node, {"options": _list, "flags": _all(_words)})


def _step(node: Node) -> Node:
    if isinstance(node, Text):
        return _under("use", node)
    # a variable of a live grid is a list; a map is a search
    return _apply(node, {"options": _list, "for": _all(lambda v: _list(v) if isinstance(v, Text) else v)})


def _axis(name: str, axis: Node, sweep: Map) -> Node:
    where = node_location(axis, sweep.at[name])
    if name == "build" and isinstance(axis, Text):
        axis = Seq([axis], axis.where)
    if name == "build":  # it lists families and builds
        return _under("builds", axis) if isinstance(axis, Seq) else axis
    if isinstance(axis, Seq):
        param = Text(name, sweep.at[name])
        return Map({"param": param, "values": axis}, where, {"param": param.where, "values": where})
    if not isinstance(axis, Map):
        return axis
    if not any(key in axis for key in _LONG_AXIS):
        scope = {key: value for key, value in axis.items() if key in _AXIS_SCOPE}
        points = Map({key: value for key, value in axis.items() if key not in _AXIS_SCOPE}, where, axis.at)
        axis = Map({"points": points, **scope}, where, {"points": where, **axis.at})
    return _apply(_grouped(axis), {"points": _all(_options), "groups": _all(_options)})


def _grouped(axis: Map) -> Map:
    """Move generated points, alone, beside named ones or as a list, to `groups`."""
    if isinstance(axis.get("points"), Seq):
        return set_value(drop_keys(axis, "points"), "groups", axis["points"])
    if "each" in axis:
        keys = [key for key in axis if key not in ("points", *_AXIS_SCOPE)]
        group = Map({key: axis[key] for key in keys}, axis.where, axis.at)
        return set_value(drop_keys(axis, *keys), "groups", Seq([group], axis.where))
    return axis


_table_lists = _keys("rows columns by metrics counters window", _list)


def _collector(node: Node) -> Node:
    """Write out a collector; a kind that has no name is called what it is."""
    if isinstance(node, Text):
        node = _under("collector", node)
    if isinstance(node, Map) and "name" not in node and isinstance(node.get("collector"), Text):
        node = set_value(node, "name", node["collector"])
    return _apply(node, {"steps": _list, "events": _list})


_DEFINE: Mapping[str, Rule] = {"builds": _all(_build), "workloads": _all(_all(_step))}
_SPEC: Mapping[str, Rule] = {
    "include": _list,
    "define": lambda node: _apply(node, _DEFINE),
    "builds": _all(_build),
    "options": _list,
    "steps": _all(_step),
    "sweep": lambda node: (
        Map({name: _axis(name, axis, node) for name, axis in node.items()}, node.where, node.at)
        if isinstance(node, Map)
        else node
    ),
    "exclude": _list,
    "also": _list,
    "repeat": lambda node: _under("loads", node) if isinstance(node, Text) else node,
    "probes": _all(_keys("before after counters", _list)),
    "collectors": lambda node: _all(_collector)(_list(node)),
    "report": _keys("tables", _all(lambda n: _under("layout", n) if isinstance(n, Text) else _table_lists(n))),
}
