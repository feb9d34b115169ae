"""Two sets of stacks as one flame graph: red where the arm takes more CPU than its base, blue where less."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape

from stepgrid.collectors.flame import LEAST, ROW, SIDE, STYLE, TOP, WIDTH, fitting
from stepgrid.collectors.stacks import Stack

FULL = 0.1  # of the CPU of an operation: a box that takes so much more or less has the full colour


@dataclass(slots=True)
class _Node:
    arm: float = 0.0  # microseconds of CPU per operation
    base: float = 0.0
    room: float = 0.0  # its width: room for all that stands on it
    above: dict[str, _Node] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Box:
    name: str
    node: _Node
    left: float
    width: float
    depth: int


def graph(arm: Mapping[Stack, float], base: Mapping[Stack, float], title: str) -> str:
    root = _tree(arm, base)
    boxes = list(_boxes(root))
    height = TOP + ROW * (max((box.depth for box in boxes), default=0) + 1) + SIDE
    size = f'width="{WIDTH:g}" height="{height:g}" viewBox="0 0 {WIDTH:g} {height:g}"'
    said = f"{title}: {_words(root)}"
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} style="{STYLE}">',
            f'<rect width="100%" height="100%" fill="#fff"/><text x="{SIDE:g}" y="24">{escape(said)}</text>',
            *(_drawn(box, max(root.arm, root.base), height) for box in boxes),
            "</svg>\n",
        )
    )


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


def _boxes(root: _Node) -> Iterator[_Box]:
    """By name from left to right, as wide as in the arm or in the base, where it is wider."""
    unit = (WIDTH - 2 * SIDE) / root.room if root.room else 0.0
    left = [("all", root, SIDE, 0)] if unit else []
    while left:
        name, node, start, depth = left.pop()
        yield _Box(name, node, start, node.room * unit, depth)
        for inner, child in sorted(node.above.items()):
            if child.room * unit >= LEAST:
                left.append((inner, child, start, depth + 1))
            start += child.room * unit


def _drawn(box: _Box, whole: float, height: float) -> str:
    bottom = height - SIDE - box.depth * ROW
    place = f'x="{box.left:.1f}" y="{bottom - ROW:.1f}" width="{box.width:.1f}" height="{ROW - 1}"'
    shown = escape(fitting(box.name, box.width))
    text = f'<text x="{box.left + 3:.1f}" y="{bottom - 5:.1f}">{shown}</text>' if shown else ""
    title = escape(f"{box.name}: {_words(box.node)}")
    return f'<g><title>{title}</title><rect {place} rx="2" fill="{_colour(box.node, whole)}"/>{text}</g>'


def _words(node: _Node) -> str:
    return f"{node.base:.3g} to {node.arm:.3g} µs of CPU per operation ({node.arm - node.base:+.3g})"


def _colour(node: _Node, whole: float) -> str:
    """White where nothing changed."""
    share = (node.arm - node.base) / whole / FULL if whole else 0.0
    return f"hsl({0 if share > 0 else 220},85%,{100 - 40 * min(abs(share), 1):.0f}%)"
