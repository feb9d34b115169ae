"""Params that nothing takes: a misspelt one must not pass in silence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stepgrid.expand.axes.axis import Axis
from stepgrid.expand.axes.dependencies import STORAGE_ENGINE
from stepgrid.expand.step_entry import StepEntry
from stepgrid.language.expressions import references
from stepgrid.language.models import OptionSet, Spec
from stepgrid.language.problems import MOST_SHOWN, Location, Problems, close_names, nearest
from stepgrid.language.yaml import Text, node_location
from stepgrid.plugins.registry import driver

_COMMA = "a number has no comma, which begins another entry: 20000, 20_000 or 20k"


class UnknownParams(NamedTuple):
    params: Sequence[tuple[str, Location]]
    known: frozenset[str]
    undefined: Mapping[str, int]  # params that expressions take and nothing gives -> how many do

    @property
    def meant(self) -> frozenset[str]:
        """The settings that they probably are: those are not missing as well."""
        return frozenset(close for name, _ in self.params[:MOST_SHOWN] for close in self._close(name))

    def report(self, problems: Problems) -> None:
        """Not where the one expression that takes it, under another name, is reported: `params` is right then."""
        said = {problem.message for problem in problems.errors}
        for name, where in self.params:
            if not problems.many and any(f"`params.{close}` is not defined" in said for close in self._close(name)):
                continue
            hint = _COMMA if name.isdigit() else "" if problems.many else nearest(name, self.known)
            problems.add("unknown-param", where, f"no step takes the param `{name}`", hint, len(name))

    @property
    def misspelt(self) -> frozenset[str]:
        """Several expressions take it under another name than `params` gives it: the one is wrong, and is reported."""
        return frozenset(name for name in self.meant if self.undefined.get(name, 0) > 1)

    def _close(self, name: str) -> list[str]:
        return close_names(name, sorted(self.known))


def unknown_params(
    spec: Spec, axes: Sequence[Axis], steps: Iterable[StepEntry], sets: Mapping[str, OptionSet], nowhere: Location
) -> UnknownParams:
    """`sets`: all that there are; those of an include count where the spec names them."""
    listed = list(steps)
    texts = list(_texts([spec, listed]))
    texts += _texts(_named(texts, sets))
    known = {name for step in listed for name in driver(step.kind).settings_model().model_fields} | {STORAGE_ENGINE}
    everything = [*_given(spec, axes, nowhere)]
    taken = {(name, node_location(text, nowhere)) for text in texts for name in _params_of(text)}
    there = known | {name for name, _ in everything}
    undefined = Counter(name for name, _ in taken if name not in there)
    known |= {name for name, _ in taken}
    given = [(name, where) for name, where in everything if name not in known]
    return UnknownParams(given, frozenset(known), undefined)


def _params_of(text: str) -> set[str]:
    return {attribute for name, attribute in references(text) if name == "params"}


def _given(spec: Spec, axes: Sequence[Axis], nowhere: Location) -> Iterator[tuple[str, Location]]:
    for given in (spec.params, *(build.params for build in spec.builds.values())):
        at: Mapping[str, Location] = getattr(given, "at", {})
        yield from ((name, at.get(name, nowhere)) for name in given)
    for axis in axes:
        for point in axis.points:  # a value of a list has no key of its own: the axis speaks for it
            at = getattr(point.params, "at", {})
            yield from ((name, at.get(name, axis.where)) for name in point.params or ())


def _named(texts: Iterable[str], sets: Mapping[str, OptionSet]) -> list[OptionSet]:
    """With the sets that they extend."""
    found: dict[str, OptionSet] = {}
    waiting = [str(text) for text in texts if text in sets]
    while waiting:
        name = waiting.pop()
        if name in sets and name not in found:
            found[name] = sets[name]
            waiting.append(str(sets[name].extends))
    return list(found.values())


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
    elif isinstance(value, StepEntry):
        yield from _texts(value.links)
    elif hasattr(value, "__dict__"):
        yield from _texts({**value.__dict__, **(getattr(value, "model_extra", None) or {})})
