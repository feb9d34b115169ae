"""Flame graphs of stacks: an SVG without a script, of one recording or of an arm against its base."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from html import escape

from msgspec import Struct

Stack = tuple[str, ...]  # the program, then from the outermost function to the innermost

_WIDTH, _ROW, _LETTER, _SIDE, _TOP = 1200.0, 17, 7.0, 10.0, 40.0  # of the picture, a box, a letter; margins
_NARROWEST = 0.4  # a narrower box is not drawn, nor what stands on it
_FULL_COLOUR = 0.1  # of the CPU of an operation: a box that takes so much more or less has the full colour


class _Node(Struct):
    """A function with those that it calls. Of one recording `arm` counts samples, `base` nothing."""

    arm: float = 0.0  # of a difference: microseconds of CPU per operation
    base: float = 0.0
    room: float = 0.0  # its width: room for all that stands on it
    children: dict[str, _Node] = {}

    def add(self, stack: Stack, arm: float, base: float) -> None:
        node = self
        for name in ("", *stack):
            node = node.children.setdefault(name, _Node()) if name else node
            node.arm += arm
            node.base += base

    def make_room(self) -> None:
        """Sum widths from the leaves down, without recursion: stacks may be deep."""
        nodes = [self]
        for node in nodes:
            nodes += node.children.values()
        for node in reversed(nodes):
            node.room = max(node.arm, node.base, sum(child.room for child in node.children.values()))


def draw_graph(counts: Mapping[Stack, int], title: str) -> str:
    """Draw one recording; the title of a box says what it is and its share of the time."""
    root = _Node()
    for stack, count in counts.items():
        root.add(stack, count, 0.0)
    root.make_room()

    def label(node: _Node) -> str:
        return f"{node.arm:.0f} samples, {node.arm / root.arm:.1%}"

    def colour(name: str, node: _Node) -> str:
        """Give a function one colour in every picture."""
        number = zlib.crc32(name.encode())
        return f"hsl({20 + number % 40},{65 + number // 40 % 25}%,{62 + number // 1000 % 16}%)"

    return _picture(root, f"{title}: {root.arm:.0f} samples", label, colour)


def draw_difference(arm: Mapping[Stack, float], base: Mapping[Stack, float], title: str) -> str:
    """Draw an arm against its base: red where it takes more CPU, blue where less, white where nothing changed.

    The program's name is left out: threads are called otherwise in another release.
    """
    root = _Node()
    for stack in arm.keys() | base.keys():
        root.add(stack[1:], arm.get(stack, 0.0), base.get(stack, 0.0))
    root.make_room()
    total = max(root.arm, root.base)

    def label(node: _Node) -> str:
        return f"{node.base:.3g} to {node.arm:.3g} µs of CPU per operation ({node.arm - node.base:+.3g})"

    def colour(name: str, node: _Node) -> str:
        share = (node.arm - node.base) / total / _FULL_COLOUR if total else 0.0
        return f"hsl({0 if share > 0 else 220},85%,{100 - 40 * min(abs(share), 1):.0f}%)"

    return _picture(root, f"{title}: {label(root)}", label, colour)


class _Box(Struct, frozen=True):
    name: str
    node: _Node
    x: float
    width: float
    depth: int


def _boxes(root: _Node) -> Iterator[_Box]:
    """Order boxes by name from left to right, so that two pictures have in common order what both have."""
    unit = (_WIDTH - 2 * _SIDE) / root.room if root.room else 0.0
    waiting = [("all", root, _SIDE, 0)] if unit else []
    while waiting:
        name, node, start, depth = waiting.pop()
        yield _Box(name, node, start, node.room * unit, depth)
        for inner, child in sorted(node.children.items()):
            if child.room * unit >= _NARROWEST:
                waiting.append((inner, child, start, depth + 1))
            start += child.room * unit


def _picture(root: _Node, title: str, label: Callable[[_Node], str], colour: Callable[[str, _Node], str]) -> str:
    boxes = list(_boxes(root))
    height = _TOP + _ROW * (max((box.depth for box in boxes), default=0) + 1) + _SIDE
    size = f'width="{_WIDTH:g}" height="{height:g}" viewBox="0 0 {_WIDTH:g} {height:g}"'
    style = "font-family:monospace;font-size:12px"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} style="{style}">',
        f'<rect width="100%" height="100%" fill="#fff"/><text x="{_SIDE:g}" y="24">{escape(title)}</text>',
    ]
    for box in boxes:
        bottom = height - _SIDE - box.depth * _ROW
        rect = f'x="{box.x:.1f}" y="{bottom - _ROW:.1f}" width="{box.width:.1f}" height="{_ROW - 1}"'
        name = escape(_shorten(box.name, box.width))
        text = f'<text x="{box.x + 3:.1f}" y="{bottom - 5:.1f}">{name}</text>' if name else ""
        tip = escape(f"{box.name}: {label(box.node)}")
        fill = colour(box.name, box.node)
        lines.append(f'<g><title>{tip}</title><rect {rect} rx="2" fill="{fill}"/>{text}</g>')
    return "\n".join((*lines, "</svg>\n"))


def _shorten(name: str, width: float) -> str:
    letters = int((width - 6) / _LETTER)
    if letters < 3:
        return ""
    return name if len(name) <= letters else f"{name[: letters - 2]}.."
