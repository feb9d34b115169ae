"""Two sets of stacks as one flame graph: red where the arm takes more CPU than its base, blue where less."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stepgrid.collectors.flame import laid_out, picture
from stepgrid.collectors.stacks import Stack

FULL = 0.1  # of the CPU of an operation: a box that takes so much more or less has the full colour


@dataclass(slots=True)
class _Node:
    arm: float = 0.0  # microseconds of CPU per operation
    base: float = 0.0
    room: float = 0.0  # its width: room for all that stands on it
    above: dict[str, _Node] = field(default_factory=dict)


def graph(arm: Mapping[Stack, float], base: Mapping[Stack, float], title: str) -> str:
    """As wide as in the arm or in the base, where it is wider."""
    root = _tree(arm, base)
    whole = max(root.arm, root.base)
    boxes = list(laid_out(root, lambda node: node.room))
    said = f"{title}: {_words(root)}"
    return picture(boxes, said, lambda box: _words(box.node), lambda box: _colour(box.node, whole))


def _tree(arm: Mapping[Stack, float], base: Mapping[Stack, float]) -> _Node:
    """The program's name is left out: threads are called otherwise in another release."""
    root = _Node()
    for stack in arm.keys() | base.keys():
        node, more, less = root, arm.get(stack, 0.0), base.get(stack, 0.0)
        for name in ("", *stack[1:]):
            node = node.above.setdefault(name, _Node()) if name else node
            node.arm += more
            node.base += less
    _make_room(root)
    return root


def _make_room(root: _Node) -> None:
    """From the leaves down, without recursion: stacks may be deep."""
    order = [root]
    for node in order:
        order += node.above.values()
    for node in reversed(order):
        node.room = max(node.arm, node.base, sum(each.room for each in node.above.values()))


def _words(node: _Node) -> str:
    return f"{node.base:.3g} to {node.arm:.3g} µs of CPU per operation ({node.arm - node.base:+.3g})"


def _colour(node: _Node, whole: float) -> str:
    """White where nothing changed."""
    share = (node.arm - node.base) / whole / FULL if whole else 0.0
    return f"hsl({0 if share > 0 else 220},85%,{100 - 40 * min(abs(share), 1):.0f}%)"
