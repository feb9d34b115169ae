"""One node over another: maps merge, lists replace, null removes."""

from __future__ import annotations

from stepgrid.language.yaml.nodes import Map, Node

# what cannot stand together: giving one takes the others out
_ALTERNATIVES = ({"version", "versions"}, {"option", "param", "points"})
_WHOLE = frozenset({"source"})  # replaced whole


def merge(base: Node, patch: Node) -> Node:
    if not isinstance(patch, Map):
        return patch
    if not isinstance(base, Map):
        base = Map({}, patch.where, {})  # so that its nulls remove, also where there is nothing to remove
    items, at = dict(base), dict(base.at)
    for key, value in patch.items():
        for group in _ALTERNATIVES:
            if key in group:
                _drop(items, group - patch.keys())
        if value is None:
            items.pop(key, None)
            continue
        items[key] = value if key in _WHOLE else merge(items.get(key), value)
        at[key] = patch.at[key]
    return Map(items, base.where, at)


def _drop(items: dict[str, Node], keys: set[str]) -> None:
    for key in keys:
        items.pop(key, None)
