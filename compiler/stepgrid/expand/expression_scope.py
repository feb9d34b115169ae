"""What an expression sees in one step of one cell: values looked up when needed, once, and never in a circle."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from stepgrid.language import expressions, scalars
from stepgrid.language.expressions import CycleError, ExpressionError
from stepgrid.language.problems import Location, Problems, nearest
from stepgrid.language.yaml import Map, Seq, Text, node_location, width


class AlreadyReported(ExpressionError):
    """A fault that is among the problems already."""


class NoMatch:
    """No value of a list matched: the layer below decides."""


class EngineDefault:
    """The engine's (or driver's) own default."""


NOTHING, UNSET = NoMatch(), EngineDefault()
CONDITIONAL = {"when", "value", "when_unsupported"}  # the keys of a value that depends on something


class Entry(NamedTuple):
    """One layer's word on one option or param."""

    node: Any
    where: Location
    when: tuple[Text, ...] = ()  # of the sets that it stands in
    unsupported: str = "error"


class View:
    """`params` or `options` in an expression."""

    __slots__ = ("_look",)

    def __init__(self, look: Callable[[str], Any]) -> None:
        self._look = look

    def __getitem__(self, name: str) -> Any:
        return self._look(name)


class Scope:
    def __init__(
        self,
        fixed: Mapping[str, Any],
        params: Mapping[str, Sequence[Entry]],
        options: Mapping[str, Sequence[Entry]],
        problems: Problems,
        misspelt: Collection[str] = (),
    ) -> None:
        """`misspelt`: params that are there under nearly their names, which is said."""
        self.params, self.options, self._problems, self._misspelt = params, options, problems, misspelt
        self._known: dict[str, tuple[Any, Entry | None]] = {}
        self._faults: dict[str, str] = {}
        self._busy: list[str] = []
        self._held: dict[str, bool] = {}
        self.names: dict[str, Any] = {
            **fixed,
            "params": View(lambda name: self._seen("params", name, scalars.param_value)),
            "options": View(lambda name: self._seen("options", name, scalars.option_value)),
        }

    def option(self, name: str) -> tuple[Any, Entry | None]:
        """The value that the topmost matching layer gives, with that layer's entry."""
        return self._cached("options", name)

    def param(self, name: str) -> tuple[Any, Entry | None]:
        return self._cached("params", name)

    def holds(self, when: Text | None) -> bool:
        """Once for all options of a set, and wherever else the same is asked."""
        if when is None:
            return True
        if when not in self._held:
            self._held[when] = bool(self._at(when, lambda: expressions.evaluate(when, self.names)))
        return self._held[when]

    def value(self, node: Any, several: bool = False) -> Any:
        """A node's value here: Text, a native value, NOTHING or UNSET. `several`: a list of plain values is one."""
        if isinstance(node, Seq):
            if several and not any(isinstance(item, Map | Seq) for item in node):
                return self._each(node, lambda item: None if item is None else self.value(item))
            self._check_reached(node)
            return next((found for item in node if (found := self.value(item, several)) is not NOTHING), NOTHING)
        if isinstance(node, Map):
            return self._conditional(node, several) if CONDITIONAL & node.keys() else self._structured(node)
        if node is None or (isinstance(node, Text) and node == "unset" and not node.quoted):
            return UNSET
        if isinstance(node, Text) and expressions.is_template(node):
            return self._at(node, lambda: expressions.render(node, self.names))
        return node

    def items(self, node: Any) -> list[Any]:
        """A list's elements that hold here, for what is a list by nature."""
        listed = node if isinstance(node, Seq) else [node]
        found = self._each(listed, self.value)
        return [item for item in found if item is not NOTHING and item is not UNSET]

    def _each(self, nodes: Iterable[Any], worked_out: Callable[[Any], Any]) -> list[Any]:
        """Reported, when one of them is wrong; then all that are have been said."""
        found, faults = list[Any](), list[AlreadyReported]()
        for node in nodes:
            try:
                found.append(worked_out(node))
            except AlreadyReported as fault:
                faults.append(fault)
        if faults:
            raise faults[0]
        return found

    def _check_reached(self, values: Seq) -> None:
        for item, after in pairwise(values):
            if not (isinstance(item, Map) and "when" in item):
                where = node_location(after, values.where)
                hint = "the value before it has no `when`, so it always holds; the first that holds wins"
                self._problems.add("never-reached", where, "this value is never reached", hint, width(after))
                return

    def _structured(self, node: Map) -> Map:
        """A value that is a map by nature."""
        found = dict(zip(node, self._each(node.values(), self.value), strict=True))
        there = {key: value for key, value in found.items() if value is not NOTHING and value is not UNSET}
        return Map(there, node.where, node.at)

    def _conditional(self, node: Map, several: bool) -> Any:
        for key in node.keys() - CONDITIONAL:
            hint = "a value is plain, or `{when: …, value: …}`"
            self._problems.add("unknown-key", node.at[key], f"`{key}` is not a key of a value", hint, len(key))
        if "value" not in node:
            hint = "add `value: …`; a step, a set or a point may have a `when` of its own"
            self._problems.add("missing-key", node.where, "this has a condition, but no value", hint)
        self._check_policy(node.get("when_unsupported"))
        when = node.get("when")
        if isinstance(when, Text) and not self.holds(when):
            return NOTHING
        return self.value(node.get("value"), several)

    def _check_policy(self, said: Any) -> None:
        if said is not None and said != "drop":
            where = node_location(said, Location("", 1, 1))
            found = f"`{said}`" if isinstance(said, str) else "a list or a map"
            message = f"`when_unsupported`: expected `drop`, found {found}"
            hint = "without it an option that the binary lacks is an error"
            self._problems.add("not-a-choice", where, message, hint, width(said))

    def _cached(self, kind: str, name: str) -> tuple[Any, Entry | None]:
        key = f"{kind}.{name}"
        if key in self._known:
            return self._known[key]
        if key in self._faults:
            raise AlreadyReported(self._faults[key])
        if key in self._busy:
            circle = " → ".join([*self._busy[self._busy.index(key) :], key])
            raise CycleError(f"values go round: {circle}")
        self._busy.append(key)
        try:
            self._known[key] = self._top(getattr(self, kind).get(name, ()))
        except AlreadyReported as fault:
            self._faults[key] = str(fault)  # once for all values that look at it
            raise
        finally:
            self._busy.pop()
        return self._known[key]

    def _top(self, layers: Sequence[Entry]) -> tuple[Any, Entry | None]:
        for entry in reversed(layers):
            if all(self.holds(when) for when in entry.when):
                found = self.value(entry.node)
                if found is not NOTHING:
                    return found, self._as_chosen(entry)
        return UNSET, None

    def _as_chosen(self, entry: Entry) -> Entry:
        """Of a list of values, the one that holds may say what becomes of it where the binary lacks it."""
        if not (isinstance(entry.node, Seq) and any("when_unsupported" in item for item in _maps(entry.node))):
            return entry
        chosen = next((item for item in entry.node if self.value(item) is not NOTHING), None)
        said = chosen.get("when_unsupported") if isinstance(chosen, Map) else None
        return entry if said is None else entry._replace(unsupported=str(said))

    def _seen(self, kind: str, name: str, typed: Callable[[str, bool], Any]) -> Any:
        value, _ = self._cached(kind, name)
        if value is UNSET:
            raise KeyError(name)
        return typed(value, value.quoted) if isinstance(value, Text) else value

    def _at(self, node: Text, action: Callable[[], Any]) -> Any:
        try:
            return action()
        except AlreadyReported:
            raise
        except ExpressionError as error:
            if error.name in self._misspelt:
                raise AlreadyReported(str(error)) from None
            code = "value-cycle" if isinstance(error, CycleError) else "undefined-name" if error.name else "expression"
            hint = self._hint(node, error.name) if error.name else error.hint
            self._problems.add(code, node.where, str(error), hint, len(node))
            raise AlreadyReported(str(error)) from None

    def _hint(self, expression: str, name: str) -> str:
        if name == "version" and "build" in self.names:
            return "the build has none: give it a `version:` or `versions:`"
        return nearest(name, self._known_in(expression, name))

    def _known_in(self, expression: str, name: str) -> list[str]:
        """What the name may have been meant for: after `params.` a param."""
        machine = getattr(self.names.get("hardware"), "facts", {})
        facts = [*(machine.keys() - {"declared", "real"}), *(machine.get("storage") or {})]
        parts = {each: [f"{each}.{key}" for key in said] for each, said in self.names.items() if isinstance(said, dict)}
        known = {**parts, "params": [*self.params], "options": [*self.options], "hardware": facts}
        above = {first for first, below in expressions.references(expression) if below == name} & known.keys()
        said = [each for first in above for each in known[first]]
        return said or [*self.names, *self.params, *self.options, *(facts if "hardware" in expression else ())]


def _maps(node: Seq) -> list[Map]:
    return [item for item in node if isinstance(item, Map)]
