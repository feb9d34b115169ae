"""Which short forms a place in a spec takes: found by trying them on `short`, so no rule is written twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stepgrid.language import short_forms
from stepgrid.language.problems import Location
from stepgrid.language.yaml import Map, Node, Seq, Text

NAME = "a-name-of-no-key"
WHERE = Location("", 1, 1)

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class ShortForms:
    """What may stand at a place for what its model says: each names the key that it becomes, "" for a list's item."""

    text: bool = False
    words: bool = False  # a list, which becomes one text
    listed: str | None = None  # a list, which becomes the value of this key
    item: bool = False  # a map, which becomes a list of one
    entries: str | None = None  # a map of names, which becomes the value of this key


def forms(path: Path) -> ShortForms:
    map_, list_ = _tried(path, _map({NAME: _map({})})), _tried(path, Seq([Text("x", WHERE)], WHERE))
    return ShortForms(
        text=not isinstance(_tried(path, Text("x", WHERE)), Text | None),
        words=isinstance(list_, Text),
        listed=_key_of(list_),
        item=isinstance(map_, Seq),
        entries=_key_with_name(map_),
    )


def stays(path: Path, key: str) -> bool:
    """Whether a key of the long form may stand beside the names of a short one."""
    found = _tried(path, _map({NAME: _map({}), key: Text("x", WHERE)}))
    return isinstance(found, Map) and key in found and NAME not in found


def absorbed(path: Path, key: str, required: Sequence[str]) -> bool:
    """Whether a map with these keys, in place of the long form, becomes an item of the list at a key."""
    found = _tried(path, _map({name: Text("x", WHERE) for name in required}))
    return isinstance(found, Map) and isinstance(found.get(key), Seq) and not set(required) & found.keys()


def beside(path: Path, name: str, required: Sequence[str]) -> bool:
    """Whether a key of the long form may stand in such a map."""
    found = _tried(path, _map({name: _map({}), **{each: Text("x", WHERE) for each in required}}))
    return isinstance(found, Map) and name in found


def redirected(path: Path, name: str, key: str) -> bool:
    """Whether a list of maps at one key becomes the list at another."""
    found = _tried(path, _map({name: Seq([_map({})], WHERE)}))
    return name != key and isinstance(found, Map) and name not in found and isinstance(found.get(key), Seq)


def _tried(path: Path, node: Node) -> Node:
    """What a node at a path of a spec becomes; None when it is not found there again."""
    for part in reversed(path):
        node = _map({part: node}) if isinstance(part, str) else Seq([node], WHERE)
    found = short_forms.expand(node)
    for part in path:
        found = _entry(found, part)
    return found


def _entry(node: Node, part: str | int) -> Node:
    if isinstance(part, str):
        return node.get(part) if isinstance(node, Map) else None
    return node[part] if isinstance(node, Seq) and part < len(node) else None


def _key_of(found: Node) -> str | None:
    """The key whose value a list became."""
    if not isinstance(found, Map):
        return None
    return next((key for key, value in found.items() if isinstance(value, Seq)), None)


def _key_with_name(found: Node) -> str | None:
    if not isinstance(found, Map) or NAME in found:
        return None
    return next((key for key, value in found.items() if isinstance(value, Map) and NAME in value), None)


def _map(items: Mapping[str, Node]) -> Map:
    return Map(items, WHERE, dict.fromkeys(items, WHERE))


def names(folder_texts: Sequence[Mapping[str, Node]]) -> dict[str, list[str]]:
    """What library files define: kind (options, workloads …) -> names."""
    found: dict[str, set[str]] = {}
    for library in folder_texts:
        define = library.get("define")
        for kind, group in define.items() if isinstance(define, Map) else ():
            found.setdefault(kind, set()).update(group if isinstance(group, Map) else ())
    return {kind: sorted(group) for kind, group in sorted(found.items())}
