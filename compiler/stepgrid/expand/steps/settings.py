"""A step's settings: its own word on each, else the param of that name, as its driver's model takes them."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_origin

from stepgrid.expand.axes import dependencies
from stepgrid.expand.expression_scope import NOTHING, UNSET, AlreadyReported, Entry, Scope
from stepgrid.expand.step_entry import StepEntry
from stepgrid.expand.steps import placeholders
from stepgrid.expand.steps.resolved_step import PlacedValues, Settings
from stepgrid.language import option_scalars
from stepgrid.language.problems.problem import Location, Problems
from stepgrid.language.problems.suggestion import nearest
from stepgrid.language.validation import fields, sentence
from stepgrid.language.yaml.nodes import Map, Text, key_place, place, width
from stepgrid.model import units
from stepgrid.model.canonical_json import encode
from stepgrid.model.plan import CLIENT, FILES
from stepgrid.plugins.driver import Placeholders
from stepgrid.plugins.drivers import client, driver, with_inputs
from stepgrid.plugins.quantity import Quantity

if TYPE_CHECKING:
    from pydantic import BaseModel

FAULTY = object()  # a value of which is said already what is wrong
_STEP_KEYS = (
    "use", "name", "as", "kind", "when", "times", "for", "warmup", "measured", "mutates", "params", "options",
    "checkpoint",
)  # fmt: skip


def resolve(
    item: StepEntry, scope: Scope, problems: Problems, meant: Container[str] = (), server: Sequence[str] = ()
) -> Settings | None:
    """`meant`: settings that are there under nearly their names, which is said. `server`: placeholders of it."""
    given, places = _given(item, scope, problems)
    _check_placeholders(item, given, server, problems)
    found = _validated(item, given, problems, meant)
    if found is None or any(value is FAULTY for value, _ in given.values()):
        return None
    kind, complete = driver(item.kind), PlacedValues(found.model_dump(mode="json"), places)
    return Settings(complete, identity_text(item.kind, found), kind.seed_key(complete), kind.estimate(complete))


def identity_text(kind: str, settings: BaseModel) -> str:
    """What identity has of settings: those that are not the driver's defaults."""
    named = {CLIENT} if client(kind) else set()  # a label: its build is what decides
    named |= {FILES} if with_inputs(kind) else set()  # names: what is in the files decides
    return encode(settings.model_dump(mode="json", exclude_defaults=True, exclude=named))


def mentioned(item: StepEntry) -> Iterator[dependencies.Name]:
    """The names that a step's settings may look at."""
    for link in item.links:
        yield from dependencies.mentioned(link.params, link.model_extra or {})
    for name in driver(item.kind).settings_model().model_fields:
        yield dependencies.PARAMS, name


def _given(item: StepEntry, scope: Scope, problems: Problems) -> tuple[dict[str, tuple[Any, Location]], dict[str, str]]:
    """Values with their places; and the places alone, also of what is left to the driver in so many words."""
    model = driver(item.kind).settings_model()
    own = _own(item, model.model_fields, problems)
    found: dict[str, tuple[Any, Location]] = {}
    places: dict[str, str] = {}
    for name, field in model.model_fields.items():
        try:
            value, said = _setting(name, own.get(name, ()), get_origin(field.annotation) is tuple, scope)
        except AlreadyReported:
            value, said = FAULTY, None
        where = said or item.where
        if value is not UNSET:
            found[name] = _typed(name, value, field.metadata, where, problems), where
        if said is not None:
            places[name] = str(said)
    return found, places


def _own(item: StepEntry, known: Mapping[str, Any], problems: Problems) -> dict[str, list[Entry]]:
    """What the step says itself, nearest last."""
    own: dict[str, list[Entry]] = {}
    for link in item.links:
        at: Mapping[str, Location] = getattr(link.params, "at", {})
        params = [(name, node, at.get(name, item.where)) for name, node in link.params.items()]
        extra = [(name, node, link.key(name, item.where)) for name, node in (link.model_extra or {}).items()]
        for name, node, where in (*params, *extra):
            own.setdefault(name, []).append(Entry(node, place(node, where)))
    for name in own:
        if name not in known and not any(name in link.params for link in item.links):
            where = key_place(own[name][-1].node, item.links[-1].key(name, item.where))
            message = f"`{name}` is no setting of {item.kind} (step `{item.base}`)"
            problems.add("unknown-setting", where, message, nearest(name, [*known, *_STEP_KEYS]), len(name))
    return own


def _check_placeholders(
    item: StepEntry, given: Mapping[str, tuple[Any, Location]], server: Sequence[str], problems: Problems
) -> None:
    kind = driver(item.kind)
    if isinstance(kind, Placeholders):
        searched = (item.search.param,) if item.search else ()
        for name, taken in kind.placeholders(server).items():
            known = (*taken, *searched)
            words, where = given.get(name, ((), item.where))
            if isinstance(words, list | tuple):
                placeholders.check(f"step `{item.base}`: `{name}`", words, where, known, problems)


def _setting(name: str, own: Sequence[Entry], listed: bool, scope: Scope) -> tuple[Any, Location | None]:
    for entry in reversed(own):
        value = scope.items(entry.node) if listed else scope.value(entry.node)
        if value is not NOTHING:
            return value, entry.where
    value, found = scope.param(name)
    return value, found.where if found else None


def _typed(name: str, value: Any, metadata: Sequence[Any], where: Location, problems: Problems) -> Any:
    if isinstance(value, dict):
        typed = {key: _typed(name, inner, (), where, problems) for key, inner in value.items()}
        return Map(typed, value.where, value.at) if isinstance(value, Map) else typed
    if not isinstance(value, str):
        return value
    kind = next((m.kind for m in metadata if isinstance(m, Quantity)), None)
    if kind is None:
        return option_scalars.param_value(value, value.quoted) if isinstance(value, Text) else str(value)
    try:
        return units.quantity(value, kind)
    except units.UnitError as error:
        problems.add("wrong-unit", where, f"{name}: {error}", width=width(value))
        return FAULTY


def _validated(
    item: StepEntry, given: Mapping[str, tuple[Any, Location]], problems: Problems, meant: Container[str]
) -> Any:
    from pydantic import ValidationError

    try:
        return driver(item.kind).settings_model().model_validate({k: v for k, (v, _) in given.items()})
    except ValidationError as error:
        for found in error.errors(include_url=False):
            name = str(found["loc"][0])
            if name not in given:
                if name in meant:
                    continue
                message = f"step `{item.base}` needs `{name}`: give it to the step or in `params`"
                problems.add("missing-setting", item.where, message, width=len(item.base))
            elif given[name][0] is not FAULTY:
                _report(item, name, given[name], found, problems)
    return None


def _report(item: StepEntry, name: str, given: tuple[Any, Location], found: Any, problems: Problems) -> None:
    inside = found["loc"][1:]
    if found["type"] == "extra_forbidden" and inside:
        key, (above, where) = str(inside[-1]), _part(*given, inside[:-1])
        at = above.at.get(key, where) if isinstance(above, Map) else where
        hint = nearest(key, fields(driver(item.kind).settings_model(), found["loc"][:-1]))
        problems.add("unknown-key", at, f"`{key}` is not a key here", hint, len(key), step=item.base)
        return
    value, where = _part(*given, inside)
    message = sentence(name, found, option_scalars.described(value))
    problems.add("wrong-setting", where, message, width=width(value), step=item.base)


def _part(value: Any, where: Location, path: Sequence[Any]) -> tuple[Any, Location]:
    """What is wrong within a list or a map, and where it stands."""
    for key in path:
        inside = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, list) and isinstance(key, int) and key < len(value):
            inside = value[key]
        if inside is None:
            break
        value, where = inside, place(inside, where)
    return value, where
