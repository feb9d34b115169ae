"""Scope of expressions in one step of one cell: values looked up when needed, once, and never in a circle."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

from stepgrid.language import expressions, scalars
from stepgrid.language.expressions import CycleError, ExpressionError, mentions
from stepgrid.language.problems import Location, Problems, nearest
from stepgrid.language.yaml import Map, Seq, Text, node_location, width
from stepgrid.model import units
from stepgrid.model.plan import REFUSE, Value, inner_texts
from stepgrid.plugins.engine import Renaming

PARAMS, OPTIONS = "params", "options"
STORAGE_ENGINE = "storage_engine"  # as a name of its own it is the param, or the engine's default
_REFERENCE = re.compile(r"\{\{ *(params|options)\.([A-Za-z]\w*) *\}\}", re.ASCII)
CONDITIONAL = {"when", "value", "when_unsupported"}  # the keys of a value that depends on something


class AlreadyReported(ExpressionError):
    """A fault that is among the problems already."""


class NoMatch:
    """No value of a list matched: the layer below decides."""


class EngineDefault:
    """The engine's (or driver's) own default."""


NOTHING, UNSET = NoMatch(), EngineDefault()


def is_value(value: Any) -> bool:
    return value is not NOTHING and value is not UNSET


class RenamedValue(NamedTuple):
    """A value under a name that the build's release does not have, to become one of the name that it has."""

    node: Any
    renaming: Renaming
    mentioned: str  # the option that it is multiplied with, as an expression has it: it depends on that one, too

    def resolve(self, scope: Scope, where: Location) -> Any:
        value, row, factor = scope.value(self.node), self.renaming, self.renaming.factor
        if not is_value(value) or row.is_plain:
            return value
        if row.times:
            times = scope.look_up(OPTIONS, row.times[0])[0]
            factor *= (whole_number(times) or 0) if is_value(times) else row.times[1]
        if factor == 1 and not row.words:
            return value
        new: Any = None
        if row.words:
            word = str(option_native(value)).lower()
            new = row.words.get({"on": "true", "off": "false"}.get(word, word))
        elif factor and (number := whole_number(value)) is not None:
            new = f"{number * factor}{row.unit}" if row.unit else number * factor
        if new is None:
            message, hint = f"`{value}` cannot be translated: {row.describe()}", f"set `{row.new}` for these releases"
            scope.problems.add("wrong-type", node_location(value, where), message, hint, width(value))
            raise AlreadyReported(message)
        return new


class EqualValue(NamedTuple):
    """A value of `equal`, to become one of an option of an engine."""

    node: Text
    values: Mapping[str, Value | None]  # class -> value, None if it has none; empty: the node is a size
    units: Sequence[str]
    engine: str
    is_binding: bool  # no other layer may say something else

    def resolve(self, scope: Scope, where: Location) -> Any:
        value = scope.value(self.node)
        text = str(value if is_value(value) else self.node)
        try:
            new = self._class_value(text) if self.values else self._size(text)
        except units.UnitError as error:
            location = node_location(self.node, where)
            code = "not-a-choice" if self.values else "wrong-unit"
            scope.problems.add(code, location, f"`equal`: {error}", width=width(self.node))
            raise AlreadyReported(str(error)) from None
        return NOTHING if new is None else new

    def _class_value(self, text: str) -> Value | None:
        if text not in self.values:
            raise units.UnitError(f"durability of {self.engine} is {' or '.join(self.values)}, not `{text}`")
        return self.values[text]

    def _size(self, text: str) -> Value:
        size = int(units.quantity(text, "size"))
        if size <= 0 or (self.units and size % 1024):
            least = f"a whole number of {self.units[0]}" if self.units else "more than 0"
            raise units.UnitError(f"memory of {self.engine} is {least}, not `{text}`")
        power = max((at for at in range(len(self.units)) if size % 1024 ** (at + 1) == 0), default=-1)
        return f"{size // 1024 ** (power + 1)}{self.units[power]}" if self.units else size


def option_native(value: Any) -> Any:
    return scalars.option_value(value, value.quoted) if isinstance(value, Text) else value


def whole_number(value: Any) -> int | None:
    """Read it also as servers take sizes: 10G."""
    match = re.fullmatch(r"(\d+)([KMGT]?)", str(option_native(value)), re.IGNORECASE)
    return int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[match[2].upper()] if match else None


class LayerEntry(NamedTuple):
    """The value that one layer gives one option or param."""

    node: Any
    where: Location
    when: tuple[Text, ...] = ()  # of the sets that it stands in
    unsupported: str = REFUSE
    renaming: Renaming | None = None  # of an option that the build's release does not have by this name


class Label(str):
    """A point's label; equal to its own text, to the number that the text means, and to its other names.

    Axes in expressions are labels: `fanout == 32`, `cache == 'lru'`, `build == 'rocksdb'` (label, value, family)."""

    also: frozenset[str]

    def __new__(cls, text: str, also: frozenset[str] = frozenset()) -> Label:
        self = super().__new__(cls, text)
        self.also = also
        return self

    @cached_property
    def number(self) -> int | float | None:
        return units.number(str(self))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, bool):
            return str(self) == str(other).lower()
        if isinstance(other, int | float):
            return self.number == other
        return isinstance(other, str) and (str(self) == str(other) or str(other) in self.also)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __lt__(self, other: object) -> bool:
        return self._difference(other) < 0

    def __gt__(self, other: object) -> bool:
        return self._difference(other) > 0

    def __le__(self, other: object) -> bool:
        return self._difference(other) <= 0

    def __ge__(self, other: object) -> bool:
        return self._difference(other) >= 0

    def _difference(self, other: object) -> float:
        value = units.number(other) if isinstance(other, str) else other
        if self.number is None or not isinstance(value, int | float):
            raise ValueError(f"`{self}` and `{other}` have no order")
        return self.number - value


class View:
    """`params` or `options` in an expression."""

    __slots__ = ("_kind", "_scope", "_type")

    def __init__(self, scope: Scope, kind: str, to_type: Callable[[str, bool], Any]) -> None:
        self._scope, self._kind, self._type = scope, kind, to_type

    def __getitem__(self, name: str) -> Any:
        value, _ = self._scope.look_up(self._kind, name)
        if value is UNSET:
            raise KeyError(name)
        return self._type(value, value.quoted) if isinstance(value, Text) else value


Layers: TypeAlias = Mapping[str, Sequence[LayerEntry]]  # name -> entries, lowest first


class Scope:
    def __init__(
        self, names: Mapping[str, object], params: Layers, options: Layers, problems: Problems,
        misspelt: Collection[str] = (),
    ) -> None:  # fmt: skip
        """Make a scope; `misspelt` are params that were given under similar names, which is reported."""
        self.problems, self._misspelt, self._layers = problems, misspelt, {PARAMS: params, OPTIONS: options}
        self._values: dict[tuple[str, str], tuple[Any, LayerEntry | None]] = {}
        self._faults: dict[tuple[str, str], str] = {}
        self._pending: list[tuple[str, str]] = []
        self._conditions: dict[str, bool] = {}
        self.names: dict[str, Any] = {
            **names,
            PARAMS: View(self, PARAMS, scalars.param_value),
            OPTIONS: View(self, OPTIONS, scalars.option_value),
        }

    def look_up(self, kind: str, name: str) -> tuple[Any, LayerEntry | None]:
        """Find the value that the topmost matching layer gives a param or an option, with that layer's entry."""
        key = (kind, name)
        if key in self._values:
            return self._values[key]
        if key in self._faults:
            raise AlreadyReported(self._faults[key])
        if key in self._pending:
            path = [*self._pending[self._pending.index(key) :], key]
            raise CycleError(f"values go round: {' → '.join(map('.'.join, path))}")
        self._pending.append(key)
        try:
            self._values[key] = self._topmost(self._layers[kind].get(name, ()))
        except AlreadyReported as fault:
            self._faults[key] = str(fault)  # once for all values that look at it
            raise
        finally:
            self._pending.pop()
        return self._values[key]

    def equal_value(self, option: str) -> Any:
        """Return what `equal` wants an option to be; NOTHING if it may be anything."""
        for entry in self._layers[OPTIONS].get(option, ()):
            if not isinstance(entry.node, EqualValue):
                break
            if entry.node.is_binding and all(self.holds(when) for when in entry.when):
                return entry.node.resolve(self, entry.where)
        return NOTHING

    def holds(self, when: Text | None) -> bool:
        """Evaluate a condition, once for all options of a set."""
        if when is None:
            return True
        if when not in self._conditions:
            self._conditions[when] = bool(self._report(when, lambda: expressions.evaluate(when, self.names)))
        return self._conditions[when]

    def value(self, node: Any, several: bool = False) -> Any:
        """Resolve a node to Text, a native value, NOTHING or UNSET. `several`: a list of plain values is one value."""
        if isinstance(node, Text):
            if expressions.is_template(node):
                return self._report(node, lambda: self._render(node))
            return UNSET if node == "unset" and not node.quoted else node
        if isinstance(node, Seq):
            if several and not any(isinstance(item, Map | Seq) for item in node):
                return report_all(node, lambda item: None if item is None else self.value(item))
            self._check_reached(node)
            return next((value for item in node if (value := self.value(item, several)) is not NOTHING), NOTHING)
        if isinstance(node, Map):
            if CONDITIONAL & node.keys():
                return self._conditional(node, several)
            parts = report_all(node.values(), lambda part: self.value(part, isinstance(part, Seq) and len(part) > 1))
            values = dict(zip(node, parts, strict=True))
            return Map({key: value for key, value in values.items() if is_value(value)}, node.where, node.at)
        return UNSET if node is None else node

    def values(self, nodes: Mapping[str, Any], lists: Collection[str]) -> dict[str, Any]:
        """Resolve the values of a source, and of sources within it. `lists`: keys that take several names."""

        def resolve(key: str, node: Any) -> Any:
            if isinstance(node, Map) and not CONDITIONAL & node.keys():
                return {name: value for name, value in self.values(node, lists).items() if is_value(value)}
            return self.value(node, key in lists)

        return {key: resolve(key, node) for key, node in nodes.items()}

    def items(self, node: Any) -> list[Any]:
        """Resolve the elements that hold here of a list, or of what is a list by nature."""
        return list(filter(is_value, report_all(node if isinstance(node, Seq) else [node], self.value)))

    def _render(self, node: Text) -> Any:
        """Render a text; most are one param or option, for which Jinja2 is not needed."""
        match = _REFERENCE.fullmatch(node)
        value = self.look_up(match[1], match[2])[0] if match else UNSET
        if isinstance(value, Text):
            value = self.names[match[1]][match[2]] if match else value
        return value if isinstance(value, int) else expressions.render(node, self.names)

    def _topmost(self, layers: Sequence[LayerEntry]) -> tuple[Any, LayerEntry | None]:
        for entry in reversed(layers):
            if all(self.holds(when) for when in entry.when):
                node = entry.node
                is_plain = not isinstance(node, RenamedValue | EqualValue)
                value = self.value(node) if is_plain else node.resolve(self, entry.where)
                if value is not NOTHING:
                    return value, self._with_policy(entry)
        return UNSET, None

    def _with_policy(self, entry: LayerEntry) -> LayerEntry:
        """Take `when_unsupported` from the one of several values that holds."""
        node = entry.node.node if isinstance(entry.node, RenamedValue) else entry.node
        if not isinstance(node, Seq):
            return entry
        if not any(isinstance(item, Map) and "when_unsupported" in item for item in node):
            return entry
        chosen = next((item for item in node if self.value(item) is not NOTHING), None)
        policy = chosen.get("when_unsupported") if isinstance(chosen, Map) else None
        return entry if policy is None else entry._replace(unsupported=str(policy))

    def _conditional(self, node: Map, several: bool) -> Any:
        setting_names = [key for key in node if key not in CONDITIONAL]
        for key in setting_names if "value" in node else ():
            hint = "a value is plain, or `{when: …, value: …}`"
            self.problems.add("unknown-key", node.at[key], f"`{key}` is not a key of a value", hint, len(key))
        if "value" not in node:
            hint = "add `value: …`; a step, a set or a point may have a `when` of its own"
            if setting_names:
                hint = f"put the rest under `value:`: `{{when: …, value: {{{setting_names[0]}: …}}}}`"
            self.problems.add("missing-key", node.where, "this has a condition, but no value", hint)
        policy = node.get("when_unsupported")
        if policy is not None and policy != "drop":
            text = f"`{policy}`" if isinstance(policy, str) else "a list or a map"
            message = f"`when_unsupported`: expected `drop`, found {text}"
            hint = "without it an option that the binary lacks is an error"
            where = node_location(policy, Location("", 1, 1))
            self.problems.add("not-a-choice", where, message, hint, width(policy))
        when = node.get("when")
        if isinstance(when, Text) and not self.holds(when):
            return NOTHING
        return self.value(node.get("value"), several)

    def _check_reached(self, values: Seq) -> None:
        for item, following in pairwise(values):
            if not (isinstance(item, Map) and "when" in item):
                where = node_location(following, values.where)
                hint = "the value before it has no `when`, so it always holds; the first that holds wins"
                self.problems.add("never-reached", where, "this value is never reached", hint, width(following))
                return

    def _report(self, node: Text, evaluate: Callable[[], Any]) -> Any:
        try:
            return evaluate()
        except AlreadyReported:
            raise
        except ExpressionError as error:
            if error.name in self._misspelt:
                raise AlreadyReported(str(error)) from None
            code = "value-cycle" if isinstance(error, CycleError) else "undefined-name" if error.name else "expression"
            hint = self._hint(node, error.name) if error.name else error.hint
            self.problems.add(code, node.where, str(error), hint, len(node))
            raise AlreadyReported(str(error)) from None

    def _hint(self, expression: str, name: str) -> str:
        """Suggest a name; after `params.` a param."""
        if name == "version" and "build" in self.names:
            return "the build has none: give it a `version:` or `versions:`"
        machine = getattr(self.names.get("hardware"), "facts", {})
        facts = [*(machine.keys() - {"declared", "real"}), *(machine.get("storage") or {})]
        groups = {
            group: [f"{group}.{key}" for key in parts] for group, parts in self.names.items() if isinstance(parts, dict)
        }
        groups |= {PARAMS: [*self._layers[PARAMS]], OPTIONS: [*self._layers[OPTIONS]], "hardware": facts}
        prefixes = {group for group, attribute in expressions.references(expression) if attribute == name}
        choices = [choice for group in prefixes & groups.keys() for choice in groups[group]]
        general = [*self.names, *groups[PARAMS], *groups[OPTIONS], *(facts if "hardware" in expression else ())]
        return nearest(name, choices or general)


def report_all(items: Iterable[Any], resolve: Callable[[Any], Any]) -> list[Any]:
    """Resolve all items, so that the faults of all of them are reported, then raise the first."""
    values, faults = list[Any](), list[AlreadyReported]()
    for item in items:
        try:
            values.append(resolve(item))
        except AlreadyReported as fault:
            faults.append(fault)
    if faults:
        raise faults[0]
    return values


# Dependencies: rather one axis too many than one too few. What is mentioned counts, evaluated in a cell or not

Name: TypeAlias = tuple[str, str]  # ("params", "keys"), ("cache", "")
_WHOLE = {(PARAMS, ""), (OPTIONS, "")}  # used as a whole
_OF_BUILD = {OPTIONS, "build", "engine", "has", "version", STORAGE_ENGINE}  # names whose values a build decides


class Dependencies:
    """Axes that values depend on: those whose points set them, and those that their expressions mention."""

    def __init__(self, axes: Mapping[str, Set[int]]) -> None:
        """Begin with the axes of names: of axes, of variables of their points, of hardware."""
        self._axes = axes
        self._setting_axes: dict[Name, set[int]] = defaultdict(set)
        self._mentioned: dict[Name, set[Name]] = defaultdict(set)

    def add(self, kind: str, entries: Iterable[tuple[str, LayerEntry]], axis: int | None = None) -> None:
        """Add one layer of params or options; `axis` if it is the layer of a point."""
        for name, entry in entries:
            key = (kind, name)
            self._mentioned[key].update(mentioned_names(entry.node, entry.when))
            if axis is not None:
                self._setting_axes[key].add(axis)

    def names(self, kind: str) -> set[str]:
        """List the params or options that any layer sets."""
        return {name for group, name in self._mentioned if group == kind}

    def axes(self, names: Iterable[Name]) -> frozenset[int]:
        """Find the positions of the axes that names depend on, directly or through params and options."""
        reached = self._reach(names)
        if not reached.isdisjoint(_WHOLE):  # it may be any of them
            return frozenset().union(*self._axes.values())
        tables = [(self._setting_axes.get(name, ()), self._axes.get(name[0], ())) for name in reached]
        return frozenset([axis for table in tables for axes in table for axis in axes])

    def are_alike(self, names: Iterable[Name], params: Iterable[str]) -> bool:
        """Tell whether names have the same values under all builds; `params` are those that the build sets."""
        reached = self._reach(names)
        params_of_build = {(PARAMS, name) for name in params}
        return reached.isdisjoint({*_WHOLE, *params_of_build}) and _OF_BUILD.isdisjoint(group for group, _ in reached)

    def _reach(self, names: Iterable[Name]) -> set[Name]:
        """List names with all that they depend on, directly or through params and options."""
        reached: set[Name] = set()
        queue = list(names)
        while queue:
            name = queue.pop()
            if name not in reached:
                reached.add(name)
                queue += self._mentioned.get(name, ())
                if name[0] == STORAGE_ENGINE:
                    queue.append((PARAMS, STORAGE_ENGINE))
        return reached


def mentioned_names(*nodes: Any) -> Iterator[Name]:
    """List every name in every text below some nodes."""
    for text in inner_texts(nodes):
        yield from mentions(text)
