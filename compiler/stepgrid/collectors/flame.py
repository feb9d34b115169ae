"""Stacks as a flame graph: an SVG without a script; a box says in its title what it is and how much of the time."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, Generic, TypeVar

from stepgrid.collectors.stacks import Stack

WIDTH, ROW, LETTER, SIDE, TOP = 1200.0, 17, 7.0, 10.0, 40.0  # of the picture, a box, a letter; what is left free
LEAST = 0.4  # a box narrower than that is not drawn, nor what stands on it
STYLE = "font-family:monospace;font-size:12px"
N = TypeVar("N", bound=Any)  # of a tree: has `above`, the nodes that stand on it by their names


@dataclass(slots=True)
class Node:
    count: int = 0
    above: dict[str, Node] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Box(Generic[N]):
    name: str
    node: N
    left: float
    width: float
    depth: int


def graph(counts: Mapping[Stack, int], title: str) -> str:
    root = _tree(counts)

    def words(box: Box[Node]) -> str:
        return f"{box.node.count} samples, {box.node.count / root.count:.1%}"

    boxes = list(laid_out(root, lambda node: node.count))
    return picture(boxes, f"{title}: {root.count} samples", words, lambda box: _colour(box.name))


def _tree(counts: Mapping[Stack, int]) -> Node:
    root = Node()
    for stack, count in counts.items():
        root.count += count
        node = root
        for name in stack:
            node = node.above.setdefault(name, Node())
            node.count += count
    return root


def laid_out(root: N, size: Callable[[N], float]) -> Iterator[Box[N]]:
    """By name from left to right: what two pictures have in common stands in the same order."""
    unit = (WIDTH - 2 * SIDE) / size(root) if size(root) else 0.0
    left = [("all", root, SIDE, 0)] if unit else []
    while left:
        name, node, start, depth = left.pop()
        yield Box(name, node, start, size(node) * unit, depth)
        for inner, child in sorted(node.above.items()):
            if size(child) * unit >= LEAST:
                left.append((inner, child, start, depth + 1))
            start += size(child) * unit


def picture(boxes: list[Box[N]], said: str, words: Callable[[Box[N]], str], colour: Callable[[Box[N]], str]) -> str:
    """`words`: what the title of a box says behind its name."""
    height = TOP + ROW * (max((box.depth for box in boxes), default=0) + 1) + SIDE
    size = f'width="{WIDTH:g}" height="{height:g}" viewBox="0 0 {WIDTH:g} {height:g}"'
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} style="{STYLE}">',
            f'<rect width="100%" height="100%" fill="#fff"/><text x="{SIDE:g}" y="24">{escape(said)}</text>',
            *(_drawn(box, escape(f"{box.name}: {words(box)}"), colour(box), height) for box in boxes),
            "</svg>\n",
        )
    )


def _drawn(box: Box[N], title: str, colour: str, height: float) -> str:
    bottom = height - SIDE - box.depth * ROW
    place = f'x="{box.left:.1f}" y="{bottom - ROW:.1f}" width="{box.width:.1f}" height="{ROW - 1}"'
    shown = escape(_fitting(box.name, box.width))
    text = f'<text x="{box.left + 3:.1f}" y="{bottom - 5:.1f}">{shown}</text>' if shown else ""
    return f'<g><title>{title}</title><rect {place} rx="2" fill="{colour}"/>{text}</g>'


def _fitting(name: str, width: float) -> str:
    letters = int((width - 6) / LETTER)
    if letters < 3:
        return ""
    return name if len(name) <= letters else f"{name[: letters - 2]}.."


def _colour(name: str) -> str:
    """A function has one colour in every picture."""
    number = zlib.crc32(name.encode())
    return f"hsl({20 + number % 40},{65 + number // 40 % 25}%,{62 + number // 1000 % 16}%)"
