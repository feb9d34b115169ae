"""Applies a build's patches on top of its source tree."""

from __future__ import annotations

from compiler.build.order import Order
from compiler.build.sources.protocol import Material


def apply(order: Order, material: Material) -> None:
    """Their contents must be those that the plan saw."""
