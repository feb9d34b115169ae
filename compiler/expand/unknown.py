"""Params that nothing takes: a misspelt one must not pass in silence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from compiler.drivers import driver
from compiler.expand.axes import Axis
from compiler.expand.steps import Item
from compiler.language.expressions import references
from compiler.language.models import Spec
from compiler.language.nodes import Text, width
from compiler.language.problem import Problems, nearest


def unknown_params(spec: Spec, axes: Sequence[Axis], steps: Iterable[Item], problems: Problems) -> None:
    listed = list(steps)
    known = {name for step in listed for name in driver(step.kind).settings_model().model_fields}
    known |= {attribute for text in _texts([spec, listed]) for name, attribute in references(text) if name == "params"}
    for name, node in _given(spec, axes):
        if name not in known:
            where = getattr(node, "where", None)
            if where is not None:
                hint = nearest(name, known)
                problems.add("unknown-param", where, f"no step takes the param `{name}`", hint, width(node))


def _given(spec: Spec, axes: Sequence[Axis]) -> Iterator[tuple[str, Any]]:
    yield from spec.params.items()
    for build in spec.builds.values():
        yield from build.params.items()
    for axis in axes:
        for point in axis.points:
            yield from (point.params or {}).items()


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
