"""Short forms, written out, so that everything after sees one form: done before a scale is merged in."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import TypeAlias

from stepgrid.language.yaml import Map, Node, Seq, Text, drop_keys, node_location, set_value

Rule: TypeAlias = Callable[[Node], Node]

_LONG_AXIS = ("points", "option", "param", "values", "builds", "each", "groups")
_AXIS_SCOPE = ("from", "steps")


def expand(spec: Node) -> Node:
    """A spec or a library with every short form written out."""
    return _keys(spec, _SPEC)


def _keys(node: Node, rules: Mapping[str, Rule]) -> Node:
    if not isinstance(node, Map):
        return node
    for key, rule in rules.items():
        if node.get(key) is not None:
            node = set_value(node, key, rule(node[key]))
    return node


def _each(rule: Rule) -> Rule:
    """The rule for every entry of a map or a list."""

    def apply(node: Node) -> Node:
        if isinstance(node, Map):
            return Map({key: rule(value) for key, value in node.items()}, node.where, node.at)
        return Seq([rule(item) for item in node], node.where, node.at) if isinstance(node, Seq) else node

    return apply


def _listed(node: Node) -> Node:
    return Seq([node], node.where) if isinstance(node, Text | Map) else node


def _with_options(node: Node) -> Node:
    return _keys(node, {"options": _listed})


def _build(node: Node) -> Node:
    return _keys(node, {"options": _listed, "flags": _each(_words)})


def _words(node: Node) -> Node:
    """Of a flag that is a list: its words, as a shell would read them."""
    words = [item for item in node if isinstance(item, Text)] if isinstance(node, Seq) else []
    if not isinstance(node, Seq) or not words or len(words) < len(node):
        return node
    text = Text(shlex.join(words), node.where)
    text.key = node.key
    return text


def _repeat(node: Node) -> Node:
    return _single("loads", node) if isinstance(node, Text) else node


def _step(node: Node) -> Node:
    return _single("use", node) if isinstance(node, Text) else _keys(node, {"options": _listed, "for": _each(_values)})


def _values(node: Node) -> Node:
    """Of a variable of a live grid; a map is a search."""
    return _listed(node) if isinstance(node, Text) else node


def _sweep(node: Node) -> Node:
    if not isinstance(node, Map):
        return node
    axes = {name: _build_axis(axis) if name == "build" else _axis(name, axis, node) for name, axis in node.items()}
    return Map(axes, node.where, node.at)


def _build_axis(axis: Node) -> Node:
    """The axis `build` lists families and builds."""
    listed = _listed(axis) if isinstance(axis, Text) else axis
    return _single("builds", listed) if isinstance(listed, Seq) else axis


def _axis(name: str, axis: Node, sweep: Map) -> Node:
    where = node_location(axis, sweep.at[name])
    if isinstance(axis, Seq):
        param = Text(name, sweep.at[name])
        return Map({"param": param, "values": axis}, where, {"param": param.where, "values": where})
    if not isinstance(axis, Map):
        return axis
    if not any(key in axis for key in _LONG_AXIS):
        scope = {key: value for key, value in axis.items() if key in _AXIS_SCOPE}
        points = Map({key: value for key, value in axis.items() if key not in _AXIS_SCOPE}, where, axis.at)
        axis = Map({"points": points, **scope}, where, {"points": where, **axis.at})
    return _keys(_grouped(axis), {"points": _each(_with_options), "groups": _each(_with_options)})


def _grouped(axis: Map) -> Map:
    """Generated points, given alone, beside named ones or as a list, are `groups`."""
    groups: Node = None
    if isinstance(axis.get("points"), Seq):
        groups, axis = axis["points"], drop_keys(axis, "points")
    elif "each" in axis:
        own = Map({k: v for k, v in axis.items() if k not in ("points", *_AXIS_SCOPE)}, axis.where, axis.at)
        groups, axis = Seq([own], axis.where), drop_keys(axis, *own)
    return axis if groups is None else set_value(axis, "groups", groups)


def _table(node: Node) -> Node:
    """A name alone is that of a layout."""
    if isinstance(node, Text):
        return Map({"layout": node}, node.where, {"layout": node.where})
    return _keys(node, dict.fromkeys(("rows", "columns", "by", "metrics", "counters", "window"), _listed))


def _collector(node: Node) -> Node:
    """A name alone is that of the kind and its own; a kind that has no name is called what it is."""
    if isinstance(node, Text):
        return Map({"name": node, "collector": node}, node.where, {"name": node.where, "collector": node.where})
    if isinstance(node, Map) and "name" not in node and isinstance(node.get("collector"), Text):
        node = set_value(node, "name", node["collector"])
    return _keys(node, {"steps": _listed, "events": _listed})


def _single(key: str, node: Text | Seq) -> Map:
    return Map({key: node}, node.where, {key: node.where})


_SPEC: Mapping[str, Rule] = {
    "include": _listed,
    "define": lambda node: _keys(node, _DEFINE),
    "builds": _each(_build),
    "options": _listed,
    "steps": _each(_step),
    "sweep": _sweep,
    "exclude": _listed,
    "also": _listed,
    "repeat": _repeat,
    "probes": _each(lambda node: _keys(node, dict.fromkeys(("before", "after", "counters"), _listed))),
    "collectors": lambda node: _each(_collector)(_listed(node)),
    "report": lambda node: _keys(node, {"tables": _each(_table)}),
}
_DEFINE: Mapping[str, Rule] = {"builds": _each(_build), "workloads": _each(_each(_step))}
