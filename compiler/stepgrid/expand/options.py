"""Options and settings of a step with every layer applied."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, get_origin

from stepgrid.expand.axes import Point
from stepgrid.expand.builds import Build
from stepgrid.expand.definitions import chain
from stepgrid.expand.scope import (
    NOTHING,
    OPTIONS,
    PARAMS,
    STORAGE_ENGINE,
    UNSET,
    AlreadyReported,
    Dependencies,
    EqualValue,
    LayerEntry,
    Name,
    RenamedValue,
    Scope,
    mentioned_names,
    option_native,
    report_all,
    whole_number,
)
from stepgrid.expand.steps import StepEntry
from stepgrid.language import scalars
from stepgrid.language.models import OptionSet, Spec, SpecEqual
from stepgrid.language.problems import Location, Problem, Problems, nearest
from stepgrid.language.validation import describe, fault_sentence, fields, validate
from stepgrid.language.yaml import Map, Text, key_location, node_location, width
from stepgrid.model import units
from stepgrid.model.plan import REFUSE, Json, Option, Value
from stepgrid.plugins.driver import Placeholders, unknown_placeholders
from stepgrid.plugins.durability import plain_word
from stepgrid.plugins.engine import Equal, EqualOptions, Renaming, plain_name, renamings_of
from stepgrid.plugins.registry import ENGINES, driver
from stepgrid.plugins.registry import engine as load_engine
from stepgrid.plugins.settings import ActionSettings, Late, Quantity

if TYPE_CHECKING:
    from pydantic import BaseModel

# Layers of options: sets by name or in place, those of another engine left out

Entries: TypeAlias = tuple[tuple[str, LayerEntry], ...]  # a layer's entries by name, lowest first

_NAME = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)


class OptionSets:
    """Flattens `options:` lists for an engine; remembers which sets no engine took."""

    def __init__(self, sets: Mapping[str, OptionSet], problems: Problems) -> None:
        self._sets, self._problems = sets, problems
        self._requested: dict[str, Text] = {}
        self._used: set[str] = set()
        self._flattened: dict[tuple[int, str, str, str], Entries] = {}

    def flatten(self, layers: tuple[Any, ...], build: Build, unsupported: str = REFUSE) -> Entries:
        key = (
            id(layers),
            build.engine,
            build.version,
            unsupported,
        )  # the spec holds these tuples: their ids stay theirs
        if key not in self._flattened:
            rows = renamings_of(load_engine(build.engine), build.version)
            self._flattened[key] = tuple(
                entry
                for layer in layers
                for entry in _rename(self._layer_entries(layer, build.engine, unsupported), rows)
            )
        return self._flattened[key]

    def report_unused(self) -> None:
        for name, text in self._requested.items():
            if name not in self._used:
                engines = " or ".join(_engines(self._sets[name]))
                message = f"no cell takes the option set `{name}`: it is for {engines}"
                self._problems.add("unused-set", text.where, message, width=width(text))

    def _layer_entries(self, layer: Any, engine: str, unsupported: str) -> Sequence[tuple[str, LayerEntry]]:
        if isinstance(layer, Text):
            return self._set_entries(layer, engine, unsupported)
        if not isinstance(layer, Map):
            where = node_location(layer, Location("", 1, 1))
            message = f"expected an option set's name or a map, found {describe(layer)}"
            self._problems.add("wrong-type", where, message)
            return ()
        if not isinstance(layer.get("options"), Map):
            return [(name, self._entry(name, node, layer.at[name], (), unsupported)) for name, node in layer.items()]
        model = validate(OptionSet, layer, self._problems)[0]
        if model is None or not self._has_known_engines(model) or not _is_for(model, engine):
            return ()
        inherited = self._set_entries(model.extends, engine, unsupported) if model.extends is not None else []
        return [*inherited, *self._own_entries(model, (model.when,) if model.when is not None else (), unsupported)]

    def _set_entries(self, name: Text, engine: str, unsupported: str) -> list[tuple[str, LayerEntry]]:
        if name not in self._sets:
            self._problems.undefined("option set", name, name.where, self._sets)
            return []
        self._requested.setdefault(str(name), name)
        links = chain(name, self._sets[name], lambda _, parent: self._sets.get(parent), self._sets, self._problems)
        unknown_links = [link for link in links if not self._has_known_engines(link)]
        is_used = not unknown_links and all(_is_for(link, engine) for link in links)
        if is_used or unknown_links:  # of one for an unknown engine nobody can tell
            self._used.add(str(name))
        if not is_used:
            return []
        when = tuple(link.when for link in links if link.when is not None)  # inherited, as the engine is
        return [entry for link in links for entry in self._own_entries(link, when, unsupported)]

    def _has_known_engines(self, model: OptionSet) -> bool:
        names = model.engine if isinstance(model.engine, tuple) else (model.engine,)
        unknown_names = [name for name in names if name is not None and name not in ENGINES.names()]
        for name in unknown_names:
            self._problems.add("undefined-name", name.where, *ENGINES.unknown(name))
        return not unknown_names

    def _own_entries(self, model: OptionSet, when: tuple[Text, ...], unsupported: str) -> list[tuple[str, LayerEntry]]:
        policy = model.when_unsupported or unsupported
        at: Mapping[str, Location] = getattr(model.options, "at", {})
        return [(name, self._entry(name, node, at[name], when, policy)) for name, node in model.options.items()]

    def _entry(self, name: str, node: Any, where: Location, when: tuple[Text, ...], unsupported: str) -> LayerEntry:
        if node is None:
            hint = "the engine's own default is `unset`; in a scale null removes"
            message = f"option `{name}`: expected a value, found nothing"
            self._problems.add("wrong-type", where, message, hint, len(name))
        if not _NAME.fullmatch(name):
            plain = name.lstrip("-").partition("=")[0]
            dashed = name.startswith("-")
            hint = f"without dashes: `{plain}`" if dashed else "letters, digits and _ - . as the engine has them"
            self._problems.add("option-name", where, f"`{name}` is not the name of an option", hint, len(name))
        policy = node.get("when_unsupported") if isinstance(node, Map) else None
        return LayerEntry(node, where, when, unsupported if policy is None else str(policy))


def _rename(entries: Sequence[tuple[str, LayerEntry]], rows: Mapping[str, Renaming]) -> Entries:
    """Add what a layer sets under names of other releases, below what it sets under those of the build's release."""
    renamed, all_entries = list[tuple[str, LayerEntry]](), list[tuple[str, LayerEntry]]()
    for name, entry in entries:
        row = rows.get(name)
        # what a binary may lack needs no row that leaves it out
        if row is None or not (row.new or entry.unsupported == REFUSE):
            all_entries.append((name, entry))
            continue
        new = row.old if name == row.new and name != row.old else row.new if name == row.old else ""
        marked = entry._replace(renaming=row)
        if new:
            node = RenamedValue(entry.node, row, f"{OPTIONS}.{row.times[0]}" if row.times else "")
            renamed.append((new, marked._replace(node=node)))
        if new != name:  # expressions may still look at it
            all_entries.append((name, marked))
    return (*renamed, *all_entries)


def _is_for(model: OptionSet, engine: str) -> bool:
    return model.engine is None or engine in _engines(model)


def _engines(model: OptionSet) -> tuple[str, ...]:
    engine = model.engine
    return () if engine is None else (str(engine),) if isinstance(engine, str) else tuple(map(str, engine))


def param_entries(params: Mapping[str, object], where: Location) -> Entries:
    at: Mapping[str, Location] = getattr(params, "at", {})
    return tuple((name, LayerEntry(node, node_location(node, at.get(name, where)))) for name, node in params.items())


def stack_entries(
    base: Mapping[str, tuple[LayerEntry, ...]], layers: Iterable[Entries]
) -> dict[str, tuple[LayerEntry, ...]]:
    """Group entries by name, lowest layer first, above those of the base."""
    table = dict(base)
    for layer in layers:
        for name, entry in layer:
            table[name] = (*table.get(name, ()), entry)
    return table


def _equal_entries(equal: SpecEqual, build: Build, step_names: Collection[str]) -> Iterator[tuple[str, LayerEntry]]:
    """List the options of `equal`; those of `step_names` may have another value."""
    for row in equal_rows(build):
        values = dict[str, tuple[Text, Mapping[str, Value | None]]]()
        if equal.memory is not None and row.memory:
            values[row.memory] = equal.memory, {}
        if equal.durability is not None:
            for name in {name for options in row.durability.values() for name in options}:
                values[name] = equal.durability, {word: row.durability[word].get(name) for word in row.durability}
        for name, (node, classes) in sorted(values.items()):
            where = key_location(node, node.where)
            when = (Text(f"{STORAGE_ENGINE} == '{row.storage_engine}'", where),) if row.storage_engine else ()
            value = EqualValue(node, classes, row.units, build.engine, name not in step_names)
            yield name, LayerEntry(value, where, when)


def equal_rows(build: Build) -> Sequence[EqualOptions]:
    plugin = load_engine(build.engine)
    return plugin.equal if isinstance(plugin, Equal) else ()


class StepLayers:
    """Layers of params and options of a step under one build, in their order: spec, build, points, the step itself."""

    def __init__(self, entry: StepEntry, build: Build, spec: Spec, sets: OptionSets, where: Location) -> None:
        self._build, self._sets, self._where = build, sets, where
        flatten = sets.flatten
        self._params = [param_entries(params, where) for params in (spec.params, *build.params)]
        self._step_options = flatten(entry.options, build)
        step_names = {name for name, _ in self._step_options} if not entry.flag("measured", True) else set()
        equal = tuple(_equal_entries(spec.equal, build, step_names)) if spec.equal else ()
        self._options = [equal, flatten(spec.options, build), flatten(build.options, build)]
        self._base_params, self._base_options = stack_entries({}, self._params), stack_entries({}, self._options)

    def stacks(
        self, points: Sequence[Point]
    ) -> tuple[dict[str, tuple[LayerEntry, ...]], dict[str, tuple[LayerEntry, ...]]]:
        """Stack the layers of params and of options by name, with those of some points."""
        params = stack_entries(self._base_params, map(self._point_params, points))
        options = stack_entries(self._base_options, [*map(self._point_options, points), self._step_options])
        return params, options

    def dependencies(self, axes: Mapping[str, set[int]], points: Sequence[tuple[int, Point]]) -> Dependencies:
        dependencies = Dependencies(axes)
        for entries in (*self._options, self._step_options):
            dependencies.add(OPTIONS, entries)
        for entries in self._params:
            dependencies.add(PARAMS, entries)
        for axis, point in points:
            dependencies.add(OPTIONS, self._point_options(point), axis)
            dependencies.add(PARAMS, self._point_params(point), axis)
        return dependencies

    def _point_params(self, point: Point) -> Entries:
        return param_entries(point.params or {}, self._where)

    def _point_options(self, point: Point) -> Entries:
        return self._sets.flatten(point.options, self._build, point.unsupported)


# Options: those that depend on the same axes are resolved together


class OptionPart(NamedTuple):
    options: Mapping[str, Option]
    renamed: Mapping[str, Location] = {}  # what was done to names that the build's release does not have


def resolve_options(names: Iterable[str], reserved: Mapping[str, str], scope: Scope, problems: Problems) -> OptionPart:
    """Resolve some options of a step; `reserved` are those that the engine or the driver sets itself."""
    renamed: dict[str, Location] = {}
    pairs = report_all(names, lambda name: (name, _resolve_option(name, reserved, scope, problems, renamed)))
    options: dict[str, Option] = {name: option for name, option in pairs if option is not None}
    return OptionPart(options, renamed)


def _resolve_option(
    name: str, reserved: Mapping[str, str], scope: Scope, problems: Problems, renamed: dict[str, Location]
) -> Option | None:
    value, entry = scope.look_up(OPTIONS, name)
    if entry is not None and not isinstance(entry.node, EqualValue):
        _check_equal(name, value, entry, scope)
    if value is UNSET or entry is None:
        return None
    if entry.renaming and not isinstance(entry.node, RenamedValue):
        renamed.setdefault(entry.renaming.describe(), entry.where)
        return None
    plain = name if name in reserved else plain_name(name)
    if plain in reserved:
        setting = reserved[plain]
        hint = f"it is the setting `{setting}` of the step" if setting else "stepgrid sets it"
        where = key_location(entry.node, entry.where)
        problems.add("reserved-option", where, f"`{name}` cannot be set as an option", hint, len(name))
    native = option_native(value)
    if not isinstance(native, bool | int | float | str):
        message = f"option `{name}`: expected one value, found {scalars.describe_value(native)}"
        problems.add("wrong-type", entry.where, message, width=len(name))
        return None
    if isinstance(native, str) and "\n" in native:
        message = f"option `{name}`: a value is one line"
        problems.add("control-character", entry.where, message, width=len(name))
    return Option(str(native) if isinstance(native, str) else native, entry.unsupported, str(entry.where))


def _check_equal(name: str, value: Any, entry: LayerEntry, scope: Scope) -> None:
    """Report an option that is not what `equal` makes it."""
    wanted = scope.equal_value(name)
    # a server whose sizes have units counts others than bytes where one has none
    is_other_unit = str(wanted).endswith("B") and str(option_native(value)).isdecimal()
    if wanted is not NOTHING and (value is UNSET or is_other_unit or _amount(wanted) != _amount(value)):
        text = "unset" if value is UNSET else str(value) if is_other_unit else _value_text(option_native(value))
        message = f"`equal` wants `{name}` {_value_text(wanted)}; it is {text} here"
        scope.problems.add("equal-form", entry.where, message, "leave it out here, or in `equal`", len(name))


def _value_text(value: Any) -> str:
    is_size = isinstance(value, int) and value >= 1024
    return units.exact_size(value) if is_size else str(value).lower() if isinstance(value, bool) else str(value)


def _amount(value: Any) -> int | str:
    """Read a value in whatever way it is written: on and true are 1, 4GB is 4096M."""
    text = plain_word(option_native(value))
    number = whole_number(text.removesuffix("b"))
    return text if number is None else number


# Settings: the step's own word on each, else the param of that name, as its driver's model takes them


class PlacedValues(dict[str, Json]):
    """Values by name, with their locations; a driver's own default has none."""

    __slots__ = ("at",)

    def __init__(self, values: Mapping[str, Json], at: Mapping[str, str]) -> None:
        super().__init__(values)
        self.at = at


class ResolvedSettings(NamedTuple):
    values: PlacedValues  # complete
    model: BaseModel  # that the driver made of them
    seed_key: str
    seconds: float


def mentioned_by_settings(entry: StepEntry) -> Iterator[Name]:
    """List the names that a step's settings may look at."""
    for link in entry.links:
        yield from mentioned_names(link.params, link.model_extra or {})
    for name in _used_settings(entry):
        yield PARAMS, name


def _used_settings(entry: StepEntry) -> Collection[str]:
    """Select the settings of a step: those of its action where it says that plainly, and its own words."""
    model = driver(entry.kind).settings_model()
    own_words = [words for link in entry.links for words in (link.params, link.model_extra or {})]  # nearest last
    if not issubclass(model, ActionSettings):
        return model.model_fields
    action = next((words[model.ACTION] for words in reversed(own_words) if model.ACTION in words), None)
    if not isinstance(action, Text) or "{{" in action:
        return model.model_fields
    return {*model.used_by(action)}.union(*own_words)


FAULTY = object()  # a value whose fault is reported
_STEP_KEYS = (
    "use", "name", "as", "kind", "when", "times", "for", "warmup", "measured", "mutates", "params", "options",
    "checkpoint", "beside",
)  # fmt: skip


_BESIDE_KEYS = ("at", "after", "every", "wait", "cpus")


class _Field(NamedTuple):
    """A setting of a kind, with the entries of the step itself, nearest last."""

    name: str
    entries: Sequence[LayerEntry]
    is_list: bool
    quantity: str | None


class SettingsResolver:
    """Resolves the settings of a step under one build; what no choice changes is computed once."""

    def __init__(
        self,
        entry: StepEntry,
        problems: Problems,
        misspelt: Container[str] = (),
        server_placeholders: Sequence[str] = (),
    ) -> None:
        """Take the settings that are given under similar names, which is reported: these are not missing as well."""
        self._entry, self._problems, self._misspelt = entry, problems, misspelt
        self._server_placeholders = server_placeholders
        self._driver = driver(entry.kind)
        self._model = self._driver.settings_model()

    def resolve(self, scope: Scope) -> ResolvedSettings | None:
        entry, plugin = self._entry, self._driver
        values, locations = self._values(scope)
        for name, placeholders in self._placeholders.items():
            words, where = values.get(name, ((), entry.where))
            if isinstance(words, list | tuple):
                check_placeholders(f"step `{entry.base}`: `{name}`", words, where, placeholders, self._problems)
        model = self._validate(values)
        if model is None or any(value is FAULTY for value, _ in values.values()):
            return None
        for name in values.keys() - model.model_fields_set:  # what an action does not use has its default
            locations.pop(name, None)
        late = {
            name
            for name, field in self._model.model_fields.items()
            if getattr(model, name) is None and any(isinstance(item, Late) for item in field.metadata)
        }
        complete = PlacedValues(model.model_dump(mode="json", exclude=late), locations)
        return ResolvedSettings(complete, model, plugin.seed_key(complete), plugin.estimate(complete))

    def _values(self, scope: Scope) -> tuple[dict[str, tuple[Any, Location]], dict[str, str]]:
        """Find values with their locations, and the locations of all that is given, `unset` too."""
        values: dict[str, tuple[Any, Location]] = {}
        locations: dict[str, str] = {}
        for field in self._fields:
            try:
                value, location = _look_up(field, scope)
            except AlreadyReported:
                value, location = FAULTY, None
            where = location or self._entry.where
            if value is not UNSET:
                values[field.name] = self._native_value(field, value, where), where
            if location is not None:
                locations[field.name] = str(location)
        return values, locations

    @cached_property
    def _fields(self) -> list[_Field]:
        entries, used = self._own_entries(self._model.model_fields), _used_settings(self._entry)
        return [
            _Field(
                name,
                entries.get(name, ()),
                get_origin(field.annotation) is tuple,
                next((part.kind for part in field.metadata if isinstance(part, Quantity)), None),
            )
            for name, field in self._model.model_fields.items()
            if name in used
        ]

    def _own_entries(self, names: Mapping[str, object]) -> Mapping[str, Sequence[LayerEntry]]:
        """List what the step sets itself, nearest last; report what is no setting."""
        step, by_name = self._entry, dict[str, list[LayerEntry]]()
        for link in step.links:
            at: Mapping[str, Location] = getattr(link.params, "at", {})
            params = [(name, node, at.get(name, step.where)) for name, node in link.params.items()]
            extra = link.model_extra or {}
            keys = [(name, node, link.key_location(name, step.where)) for name, node in extra.items()]
            for name, node, where in (*params, *keys):
                by_name.setdefault(name, []).append(LayerEntry(node, node_location(node, where)))
        keys_of_step = (*_STEP_KEYS, *(_BESIDE_KEYS if step.timing else ()))
        for name, entries in by_name.items():
            if name not in names and not any(name in link.params for link in step.links):
                where = key_location(entries[-1].node, step.links[-1].key_location(name, step.where))
                message = f"`{name}` is no setting of {step.kind} (step `{step.base}`)"
                self._problems.add("unknown-setting", where, message, nearest(name, [*names, *keys_of_step]), len(name))
        self._report_unused(by_name)
        return by_name

    def _report_unused(self, own_entries: Mapping[str, Sequence[LayerEntry]]) -> None:
        """Report what a step of one definition sets and its action, unsaid, does not use."""
        model, links = self._model, self._entry.links
        if len(links) > 1 or not issubclass(model, ActionSettings) or model.ACTION in own_entries:
            return
        (link,) = links
        used = model.used_by(str(model.model_fields[model.ACTION].default))
        for name in (name for name in link.model_extra or {} if name in model.model_fields and name not in used):
            action = next((action for action, fields in model.ACTIONS.items() if name in fields.required), "")
            message = (
                f"`{name}` is no setting of {self._entry.kind} without `{model.ACTION}` (step `{self._entry.base}`)"
            )
            where = link.key_location(name, self._entry.where)
            hint = f"`{model.ACTION}: {action}`" if action else ""
            self._problems.add("unknown-setting", where, message, hint, len(name))

    @cached_property
    def _placeholders(self) -> Mapping[str, Sequence[str]]:
        """The placeholders that the words of each setting may have."""
        plugin, searched = self._driver, (self._entry.search.param,) if self._entry.search else ()
        if not isinstance(plugin, Placeholders):
            return {}
        by_setting = plugin.placeholders(self._server_placeholders)
        return {name: (*placeholders, *searched) for name, placeholders in by_setting.items()}

    def _native_value(self, field: _Field, value: Any, where: Location) -> Any:
        if not isinstance(value, str) or field.quantity is None:
            return _native(value)
        try:
            return units.quantity(value, field.quantity)
        except units.UnitError as error:
            self._problems.add("wrong-unit", where, f"{field.name}: {error}", width=width(value))
            return FAULTY

    def _validate(self, values: Mapping[str, tuple[Any, Location]]) -> BaseModel | None:
        from pydantic import ValidationError

        try:
            return self._model.model_validate({name: value for name, (value, _) in values.items()})
        except ValidationError as error:
            for fault in error.errors(include_url=False):
                name = str(fault["loc"][0])
                if name in values:
                    self._report(name, values[name], fault)
                elif name not in self._misspelt:
                    base = self._entry.base
                    message = f"step `{base}` needs `{name}`: give it to the step or in `params`"
                    self._problems.add("missing-setting", self._entry.where, message, width=len(base))
        return None

    def _report(self, name: str, setting: tuple[Any, Location], fault: Any) -> None:
        path = fault["loc"][1:]
        if setting[0] is FAULTY:
            return
        if fault["type"] == "extra_forbidden" and path:
            key, (holder, around) = str(path[-1]), _part(*setting, path[:-1])
            where = holder.at.get(key, around) if isinstance(holder, Map) else around
            hint = nearest(key, fields(self._model, fault["loc"][:-1]))
            problem = Problem("unknown-key", where, f"`{key}` is not a key here", hint, width=len(key))
        else:
            value, where = _part(*setting, path)
            message = fault_sentence(name, fault, scalars.describe_value(value))
            problem = Problem("wrong-setting", where, message, width=width(value))
        self._problems.append(problem, self._entry.base)


def _look_up(field: _Field, scope: Scope) -> tuple[Any, Location | None]:
    for entry in reversed(field.entries):
        value = scope.items(entry.node) if field.is_list else scope.value(entry.node)
        if value is not NOTHING:
            return value, entry.where
    value, param = scope.look_up(PARAMS, field.name)
    return value, param.where if param else None


def _native(value: Any) -> Any:
    if isinstance(value, Text):
        return scalars.param_value(value, value.quoted)
    if isinstance(value, dict):
        natives = {key: _native(part) for key, part in value.items()}
        return Map(natives, value.where, value.at) if isinstance(value, Map) else natives
    return str(value) if isinstance(value, str) else value


def _part(value: Any, where: Location, path: Sequence[Any]) -> tuple[Any, Location]:
    """Find the part of a list or a map that a fault is about, and its location."""
    for key in path:
        part = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, list) and isinstance(key, int) and key < len(value):
            part = value[key]
        if part is None:  # a tag of pydantic's, of one type of several
            continue
        value, where = part, node_location(part, where)
    return value, where


def check_placeholders(
    owner: str, words: Iterable[object], where: Location, names: Sequence[str], problems: Problems
) -> None:
    """Report unknown placeholders, which would reach the program as they are written.

    `owner` begins the sentence; `where` is the location of words that have none."""
    for word in words:
        for placeholder, hint in unknown_placeholders(word, names) if isinstance(word, str) else ():
            message = f"{owner} has no placeholder `{placeholder}`"
            problems.add("unknown-placeholder", node_location(word, where), message, hint, width(word))
