"""Params that nothing takes: a misspelt one must not pass in silence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from compiler.drivers import driver
from compiler.expand.axes import Axis
from compiler.expand.reads import STORAGE_ENGINE
from compiler.expand.steps import Item
from compiler.language.expressions import references
from compiler.language.models import Spec
from compiler.language.nodes import Text, key_place
from compiler.language.problem import Problems, Where, nearest


def unknown_params(spec: Spec, axes: Sequence[Axis], steps: Iterable[Item], nowhere: Where, problems: Problems) -> None:
    listed = list(steps)
    known = {name for step in listed for name in driver(step.kind).settings_model().model_fields} | {STORAGE_ENGINE}
    known |= {attribute for text in _texts([spec, listed]) for name, attribute in references(text) if name == "params"}
    for name, where in _given(spec, axes, nowhere):
        if name not in known:
            problems.add("unknown-param", where, f"no step takes the param `{name}`", nearest(name, known), len(name))


def _given(spec: Spec, axes: Sequence[Axis], nowhere: Where) -> Iterator[tuple[str, Where]]:
    for given in (spec.params, *(build.params for build in spec.builds.values())):
        yield from ((name, key_place(node, nowhere)) for name, node in given.items())
    for axis in axes:
        for point in axis.points:  # a value of a list has no key of its own: the axis speaks for it
            yield from ((name, key_place(node, axis.where)) for name, node in (point.params or {}).items())


def _texts(value: Any) -> Iterator[str]:
    """Every text below a value that may hold an expression."""
    if isinstance(value, Text):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, Item):
        yield from _texts(value.links)
    elif hasattr(value, "__dict__"):
        yield from _texts({**value.__dict__, **(getattr(value, "model_extra", None) or {})})
