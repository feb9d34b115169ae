"""Another value in the text of a spec: all else stays as it was written, comments too. Pure."""

from __future__ import annotations

import io
from collections.abc import Sequence

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode


def value(text: str, path: Sequence[str]) -> str | None:
    """Of a scalar; None where there is none."""
    found = _node(text, path)
    return str(found.value) if isinstance(found, ScalarNode) else None


def replaced(text: str, path: Sequence[str], new: str) -> str | None:
    """None where the key is not there."""
    found = _node(text, path)
    if found is None:
        return None
    begin, end = found.start_mark.index, found.end_mark.index
    end = begin + len(text[begin:end].rstrip())  # a block ends where the next key begins
    return f"{text[:begin]}{new}{text[end:]}"


def with_key(text: str, key: str, new: str) -> str:
    """At the end, where it is not there yet."""
    found = replaced(text, (key,), new)
    return found if found is not None else f"{text.rstrip()}\n{key}: {new}\n"


def _node(text: str, path: Sequence[str]) -> Node | None:
    node: Node | None = YAML(typ="safe", pure=True).compose(io.StringIO(text))
    for key in path:
        entries = node.value if isinstance(node, MappingNode) else ()
        node = next((entry for name, entry in entries if name.value == key), None)
    return node
