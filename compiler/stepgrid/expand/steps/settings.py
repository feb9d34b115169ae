"""A step's settings: its own word on each, else the param of that name, as its driver's model takes them."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, get_origin

from stepgrid.expand.axes import dependencies
from stepgrid.expand.expression_scope import NOTHING, UNSET, AlreadyReported, Entry, Scope
from stepgrid.expand.step_entry import StepEntry
from stepgrid.expand.steps import placeholders
from stepgrid.expand.steps.resolved_step import PlacedValues, Settings
from stepgrid.language import scalars
from stepgrid.language.problems import Location, Problem, Problems, nearest
from stepgrid.language.validation import fault_sentence, fields
from stepgrid.language.yaml import Map, Text, key_location, node_location, width
from stepgrid.model import units
from stepgrid.model.plan import CLIENT, FILES, encode
from stepgrid.plugins.driver import Placeholders
from stepgrid.plugins.registry import client_engine, driver, input_files, reading_names
from stepgrid.plugins.settings import Quantity

if TYPE_CHECKING:
    from pydantic import BaseModel

FAULTY = object()  # a value of which is said already what is wrong
_STEP_KEYS = (
    "use", "name", "as", "kind", "when", "times", "for", "warmup", "measured", "mutates", "params", "options",
    "checkpoint",
)  # fmt: skip


class StepSettings:
    """The settings of a step under one build; what no choice changes is worked out once."""

    def __init__(
        self, item: StepEntry, problems: Problems, meant: Container[str] = (), server: Sequence[str] = ()
    ) -> None:
        """`meant`: settings that are there under nearly their names, which is said. `server`: placeholders of it."""
        self._item, self._problems, self._meant, self._server = item, problems, meant, server
        self._driver = driver(item.kind)
        self._model = self._driver.settings_model()

    def resolve(self, scope: Scope) -> Settings | None:
        item, problems = self._item, self._problems
        values, places = self._values(scope)
        for name, known in self._placeholders.items():
            words, where = values.get(name, ((), item.where))
            if isinstance(words, list | tuple):
                placeholders.check(f"step `{item.base}`: `{name}`", words, where, known, problems)
        model = _validated(item, self._model, values, problems, self._meant)
        if model is None or any(value is FAULTY for value, _ in values.values()):
            return None
        complete = PlacedValues(model.model_dump(mode="json"), places)
        kind, text = self._driver, identity_text(item.kind, model)
        earlier_text = identity_text(item.kind, model, reading=True) if reading_names(item.kind) else text
        return Settings(complete, text, earlier_text, kind.seed_key(complete), kind.estimate(complete))

    def _values(self, scope: Scope) -> tuple[dict[str, tuple[Any, Location]], dict[str, str]]:
        """Values with their places; and the places alone, also of what is left to the driver in so many words."""
        values: dict[str, tuple[Any, Location]] = {}
        places: dict[str, str] = {}
        for field in self._fields:
            try:
                value, node_location = _setting(field, scope)
            except AlreadyReported:
                value, node_location = FAULTY, None
            where = node_location or self._item.where
            if value is not UNSET:
                values[field.name] = _typed(field.name, value, field.metadata, where, self._problems), where
            if node_location is not None:
                places[field.name] = str(node_location)
        return values, places

    @cached_property
    def _fields(self) -> list[_Field]:
        model = self._model.model_fields
        own = _own(self._item, model, self._problems)
        return [
            _Field(name, own.get(name, ()), get_origin(field.annotation) is tuple, field.metadata)
            for name, field in model.items()
        ]

    @cached_property
    def _placeholders(self) -> Mapping[str, Sequence[str]]:
        """Setting -> the placeholders that its words may have."""
        kind, searched = self._driver, (self._item.search.param,) if self._item.search else ()
        if not isinstance(kind, Placeholders):
            return {}
        return {name: (*known, *searched) for name, known in kind.placeholders(self._server).items()}


class _Field(NamedTuple):
    """A setting of a kind, with what the step itself says of it."""

    name: str
    own: Sequence[Entry]
    is_list: bool
    metadata: Sequence[Any]


def identity_text(kind: str, settings: BaseModel, reading: bool = False) -> str:
    """Settings as identity has them: without the driver's defaults.

    `reading`: with those that decide what is read of the output, which earlier ids had.
    """
    named = {CLIENT} if client_engine(kind) else set()  # a label: its build is what decides
    named |= {FILES} if input_files(kind) else set()  # names: what is in the files decides
    named |= set() if reading else {*reading_names(kind)}
    return encode(settings.model_dump(mode="json", exclude_defaults=True, exclude=named))


def mentioned(item: StepEntry) -> Iterator[dependencies.Name]:
    """The names that a step's settings may look at."""
    for link in item.links:
        yield from dependencies.mentioned(link.params, link.model_extra or {})
    for name in driver(item.kind).settings_model().model_fields:
        yield dependencies.PARAMS, name


def _own(item: StepEntry, known: Mapping[str, Any], problems: Problems) -> dict[str, list[Entry]]:
    """What the step says itself, nearest last."""
    own: dict[str, list[Entry]] = {}
    for link in item.links:
        at: Mapping[str, Location] = getattr(link.params, "at", {})
        params = [(name, node, at.get(name, item.where)) for name, node in link.params.items()]
        extra = [(name, node, link.key_location(name, item.where)) for name, node in (link.model_extra or {}).items()]
        for name, node, where in (*params, *extra):
            own.setdefault(name, []).append(Entry(node, node_location(node, where)))
    for name in own:
        if name not in known and not any(name in link.params for link in item.links):
            where = key_location(own[name][-1].node, item.links[-1].key_location(name, item.where))
            message = f"`{name}` is no setting of {item.kind} (step `{item.base}`)"
            problems.add("unknown-setting", where, message, nearest(name, [*known, *_STEP_KEYS]), len(name))
    return own


def _setting(field: _Field, scope: Scope) -> tuple[Any, Location | None]:
    for entry in reversed(field.own):
        value = scope.items(entry.node) if field.is_list else scope.value(entry.node)
        if value is not NOTHING:
            return value, entry.where
    value, found = scope.param(field.name)
    return value, found.where if found else None


def _typed(name: str, value: Any, metadata: Sequence[Any], where: Location, problems: Problems) -> Any:
    if isinstance(value, dict):
        typed = {key: _typed(name, inner, (), where, problems) for key, inner in value.items()}
        return Map(typed, value.where, value.at) if isinstance(value, Map) else typed
    if not isinstance(value, str):
        return value
    kind = next((m.kind for m in metadata if isinstance(m, Quantity)), None)
    if kind is None:
        return scalars.param_value(value, value.quoted) if isinstance(value, Text) else str(value)
    try:
        return units.quantity(value, kind)
    except units.UnitError as error:
        problems.add("wrong-unit", where, f"{name}: {error}", width=width(value))
        return FAULTY


def _validated(
    item: StepEntry,
    model: type[BaseModel],
    given: Mapping[str, tuple[Any, Location]],
    problems: Problems,
    meant: Container[str],
) -> BaseModel | None:
    from pydantic import ValidationError

    try:
        return model.model_validate({k: v for k, (v, _) in given.items()})
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
        problem = Problem("unknown-key", at, f"`{key}` is not a key here", hint, width=len(key))
        problems.append(problem, item.base)
        return
    value, where = _part(*given, inside)
    message = fault_sentence(name, found, scalars.describe_value(value))
    problems.append(Problem("wrong-setting", where, message, width=width(value)), item.base)


def _part(value: Any, where: Location, path: Sequence[Any]) -> tuple[Any, Location]:
    """What is wrong within a list or a map, and where it stands."""
    for key in path:
        inside = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, list) and isinstance(key, int) and key < len(value):
            inside = value[key]
        if inside is None:
            break
        value, where = inside, node_location(inside, where)
    return value, where
