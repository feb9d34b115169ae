"""One step under one build and some points: its settings and options with every layer applied."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_origin

from compiler.drivers import driver
from compiler.drivers.quantity import Quantity
from compiler.expand.scope import NOTHING, UNSET, Entry, Scope
from compiler.expand.steps import Item
from compiler.language import units, values
from compiler.language.nodes import Text, key_place, place, width
from compiler.language.problem import Problems, Where, nearest
from compiler.language.validate import sentence
from compiler.plan.model import Json, Option


@dataclass(frozen=True, slots=True)
class ResolvedStep:
    name: str  # a label
    kind: str
    settings: Mapping[str, Json]
    options: Mapping[str, Option]
    measured: bool
    mutates: bool
    seed_key: str
    seconds: float
    identity: str  # everything of the step that decides what is run, but its seed


def step(item: Item, scope: Scope, problems: Problems) -> ResolvedStep | None:
    given = _settings(item, scope, problems)
    settings = _validated(item, given, problems)
    options = _options(item, scope, problems)
    if settings is None:
        return None
    kind = driver(item.kind)
    complete = settings.model_dump(mode="json")
    identity = [item.kind, kind.revision, settings.model_dump(mode="json", exclude_defaults=True), _requested(options)]
    return ResolvedStep(
        item.name,
        item.kind,
        complete,
        options,
        item.flag("measured", True),
        item.flag("mutates", False),
        kind.seed_key(complete),
        kind.estimate(complete),
        json.dumps(identity, sort_keys=True, separators=(",", ":")),
    )


def _requested(options: Mapping[str, Option]) -> dict[str, list[Json]]:
    return {name: [o.value, "drop"] if o.unsupported == "drop" else [o.value] for name, o in options.items()}


def _settings(item: Item, scope: Scope, problems: Problems) -> dict[str, tuple[Any, Where]]:
    model = driver(item.kind).settings_model()
    own: dict[str, list[Entry]] = {}
    for link in item.links:
        for name, node in [*link.params.items(), *(link.model_extra or {}).items()]:
            own.setdefault(name, []).append(Entry(node, place(node, item.where)))
    for name in own:
        if name not in model.model_fields and not any(name in link.params for link in item.links):
            where = key_place(own[name][-1].node, item.where)
            message = f"`{name}` is no setting of {item.kind} (step `{item.name}`)"
            hint = nearest(name, [*model.model_fields, *_STEP_KEYS])
            problems.add("unknown-setting", where, message, hint, len(name))
    found: dict[str, tuple[Any, Where]] = {}
    for name, field in model.model_fields.items():
        value, where = _setting(name, own.get(name, ()), get_origin(field.annotation) is tuple, item, scope)
        if value is not UNSET:
            found[name] = _typed(name, value, field.metadata, where, problems), where
    return found


def _setting(name: str, own: Sequence[Entry], listed: bool, item: Item, scope: Scope) -> tuple[Any, Where]:
    """The step's own word, else the param of that name."""
    for entry in reversed(own):
        value = scope.items(entry.node) if listed else scope.value(entry.node)
        if value is not NOTHING:
            return value, entry.where
    value, found = scope.param(name)
    return value, found.where if found else item.where


def _typed(name: str, value: Any, metadata: Sequence[Any], where: Where, problems: Problems) -> Any:
    if not isinstance(value, Text):
        return value
    kind = next((m.kind for m in metadata if isinstance(m, Quantity)), None)
    if kind is None:
        return values.option_value(value, value.quoted)
    try:
        return units.quantity(value, kind)
    except units.UnitError as error:
        problems.add("wrong-unit", where, f"{name}: {error}", width=width(value))
        return None


def _validated(item: Item, given: Mapping[str, tuple[Any, Where]], problems: Problems) -> Any:
    from pydantic import ValidationError

    before = len(problems.errors)
    try:
        return driver(item.kind).settings_model().model_validate({k: v for k, (v, _) in given.items()})
    except ValidationError as error:
        for found in error.errors(include_url=False):
            name = str(found["loc"][0])
            if name not in given:
                message = f"step `{item.name}` needs `{name}`: give it to the step or in `params`"
                problems.add("missing-setting", item.where, message, width=len(item.name))
            elif len(problems.errors) == before:  # else its unit was wrong, which is said already
                message = sentence(name, found, f"`{given[name][0]}`")
                problems.add("wrong-setting", given[name][1], f"step `{item.name}`: {message}")
    return None


def _options(item: Item, scope: Scope, problems: Problems) -> dict[str, Option]:
    reserved: Mapping[str, str] = getattr(driver(item.kind), "reserved", {})
    found: dict[str, Option] = {}
    for name in sorted(scope.options):
        value, entry = scope.option(name)
        if value is UNSET or entry is None:
            continue
        if name in reserved:
            hint = f"it is the setting `{reserved[name]}` of the step" if reserved[name] else "the driver sets it"
            where = key_place(entry.node, entry.where)
            problems.add("reserved-option", where, f"`{name}` cannot be set as an option", hint, len(name))
        typed = values.option_value(value, value.quoted) if isinstance(value, Text) else value
        if not isinstance(typed, bool | int | float | str):
            problems.add("wrong-type", entry.where, f"option `{name}`: expected one value, found {typed!r}")
            continue
        plain = typed if not isinstance(typed, str) else str(typed)
        found[name] = Option(plain, entry.unsupported, str(entry.where))
    return found


_STEP_KEYS = ("use", "name", "as", "kind", "when", "measured", "mutates", "params", "options", "checkpoint")
