"""A step's settings: its own word on each, else the param of that name, as its driver's model takes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_origin

from compiler.drivers import driver
from compiler.drivers.quantity import Quantity
from compiler.expand import reads
from compiler.expand.resolved import Settings
from compiler.expand.scope import NOTHING, UNSET, Entry, Scope
from compiler.expand.steps import Item
from compiler.language import units, values
from compiler.language.nodes import Text, key_place, place, width
from compiler.language.problem import Problems, Where, nearest
from compiler.language.validate import sentence
from compiler.plan.canonical import encode

FAULTY = object()  # a value of which is said already what is wrong
_STEP_KEYS = ("use", "name", "as", "kind", "when", "measured", "mutates", "params", "options", "checkpoint")


def resolve(item: Item, scope: Scope, problems: Problems) -> Settings | None:
    found = _validated(item, _given(item, scope, problems), problems)
    if found is None:
        return None
    kind, complete = driver(item.kind), found.model_dump(mode="json")
    text = encode(found.model_dump(mode="json", exclude_defaults=True))
    return Settings(complete, text, kind.seed_key(complete), kind.estimate(complete))


def mentioned(item: Item) -> Iterator[reads.Name]:
    """The names that a step's settings may look at."""
    for link in item.links:
        yield from reads.mentioned(link.params, link.model_extra or {})
    for name in driver(item.kind).settings_model().model_fields:
        yield reads.PARAMS, name


def _given(item: Item, scope: Scope, problems: Problems) -> dict[str, tuple[Any, Where]]:
    model = driver(item.kind).settings_model()
    own = _own(item, model.model_fields, problems)
    found: dict[str, tuple[Any, Where]] = {}
    for name, field in model.model_fields.items():
        value, where = _setting(name, own.get(name, ()), get_origin(field.annotation) is tuple, item, scope)
        if value is not UNSET:
            found[name] = _typed(name, value, field.metadata, where, problems), where
    return found


def _own(item: Item, known: Mapping[str, Any], problems: Problems) -> dict[str, list[Entry]]:
    """What the step says itself, nearest last."""
    own: dict[str, list[Entry]] = {}
    for link in item.links:
        for name, node in [*link.params.items(), *(link.model_extra or {}).items()]:
            own.setdefault(name, []).append(Entry(node, place(node, item.where)))
    for name in own:
        if name not in known and not any(name in link.params for link in item.links):
            where = key_place(own[name][-1].node, item.links[-1].key(name, item.where))
            message = f"`{name}` is no setting of {item.kind} (step `{item.name}`)"
            problems.add("unknown-setting", where, message, nearest(name, [*known, *_STEP_KEYS]), len(name))
    return own


def _setting(name: str, own: Sequence[Entry], listed: bool, item: Item, scope: Scope) -> tuple[Any, Where]:
    for entry in reversed(own):
        value = scope.items(entry.node) if listed else scope.value(entry.node)
        if value is not NOTHING:
            return value, entry.where
    value, found = scope.param(name)
    return value, found.where if found else item.where


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a map"
    listed = isinstance(value, list | tuple) and value
    return f"`{', '.join(map(str, value))}`" if listed else f"`{value}`"


def _typed(name: str, value: Any, metadata: Sequence[Any], where: Where, problems: Problems) -> Any:
    if isinstance(value, dict):
        return {key: _typed(name, inner, (), where, problems) for key, inner in value.items()}
    if not isinstance(value, str):
        return value
    kind = next((m.kind for m in metadata if isinstance(m, Quantity)), None)
    if kind is None:
        return values.param_value(value, value.quoted) if isinstance(value, Text) else str(value)
    try:
        return units.quantity(value, kind)
    except units.UnitError as error:
        problems.add("wrong-unit", where, f"{name}: {error}", width=width(value))
        return FAULTY


def _validated(item: Item, given: Mapping[str, tuple[Any, Where]], problems: Problems) -> Any:
    from pydantic import ValidationError

    try:
        return driver(item.kind).settings_model().model_validate({k: v for k, (v, _) in given.items()})
    except ValidationError as error:
        for found in error.errors(include_url=False):
            name = str(found["loc"][0])
            if name not in given:
                message = f"step `{item.name}` needs `{name}`: give it to the step or in `params`"
                problems.add("missing-setting", item.where, message, width=len(item.name))
            elif given[name][0] is not FAULTY:
                message = sentence(name, found, _shown(given[name][0]))
                problems.add("wrong-setting", given[name][1], message, step=item.name)
    return None
