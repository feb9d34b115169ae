"""The spec's list of steps: uses joined with their definitions, checkpoints in their places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import product
from math import prod
from typing import Any, NamedTuple

from compiler.drivers import kinds
from compiler.expand.definitions import Defined
from compiler.expand.points import RESERVED
from compiler.language.models import Step
from compiler.language.nodes import Text, width
from compiler.language.problem import Problems, Where, nearest
from compiler.language.read import Document

FORMS = ("use", "name", "checkpoint")
UNKNOWN = ""  # the name of what could not be read
MOST_STEPS = 1000  # that one may stand for


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of the list: a step, from its definition and its use (nearest last)."""

    name: str
    kind: str
    position: int
    where: Where
    links: tuple[Step, ...]
    options: tuple[Any, ...]  # of all links, nearest last
    base: str = ""  # the name without what `times` and `for` add to it
    shown: str = ""  # the name in tables, where the variables of a live grid have columns of their own
    variables: Mapping[str, Text] = field(default_factory=dict)  # of a live grid

    @property
    def whens(self) -> tuple[Text, ...]:
        return tuple(link.when for link in self.links if link.when is not None)

    def flag(self, field: str, default: bool) -> bool:
        given = [value for link in self.links if (value := getattr(link, field)) is not None]
        return bool(given[-1]) if given else default


class Checkpoint(NamedTuple):
    name: str
    position: int
    where: Where


def resolve(document: Document, defined: Defined, problems: Problems) -> list[Item | Checkpoint]:
    workload = _workload(document, defined, problems)
    listed = document.spec.steps if document.spec.steps is not None else workload
    if not listed:
        if listed is not None or document.spec.workload is None:
            _none(document, problems)
        return []
    by_name = {str(step.name): step for step in workload or () if step.name is not None}
    known = None if workload is None and document.spec.workload is not None else by_name
    found = [_item(step, position, known, document, problems) for position, step in enumerate(listed)]
    _check_checkpoints([item for item in found if isinstance(item, Checkpoint)], problems)
    return [one for item in found for one in _repeated(item, problems)]


def _none(document: Document, problems: Problems) -> None:
    nodes = document.nodes
    if "steps" in nodes:
        problems.add("no-steps", nodes.at["steps"], "`steps` is empty", "without the key it is the whole workload", 5)
    elif "steps" not in nodes.at:  # else they were of a wrong type, which is said
        problems.add("no-steps", nodes.where, "the spec has no steps", "give `workload:` or `steps:`, or both")


def _check_checkpoints(found: Sequence[Checkpoint], problems: Problems) -> None:
    seen: dict[str, Where] = {}
    for checkpoint in found:
        name = checkpoint.name
        if name in seen:
            message, hint = f"two checkpoints are named `{name}`", f"first at {seen[name]}"
            problems.add("defined-twice", checkpoint.where, message, hint, len(name))
        elif name:
            seen[name] = checkpoint.where


def _workload(document: Document, defined: Defined, problems: Problems) -> Sequence[Step] | None:
    name = document.spec.workload
    if name is None:
        return None
    if name not in defined.workloads:
        problems.undefined("workload", name, name.where, defined.workloads)
    return defined.workloads.get(name)


def _item(
    step: Step, position: int, workload: Mapping[str, Step] | None, document: Document, problems: Problems
) -> Item | Checkpoint:
    """`workload`: None where it is not defined, and nobody can say what its steps are."""
    where = step.where or document.nodes.where
    given = {key: name for key in FORMS if (name := getattr(step, key)) is not None}
    if len(given) != 1:
        _no_form(step, given, where, problems)
        return Checkpoint(UNKNOWN, position, where)
    named = next(iter(given.values()))
    if step.checkpoint is not None:
        return _checkpoint(step, step.checkpoint, position, problems)
    if step.use is not None and step.use not in (workload or {}):
        if workload is not None:
            message, hint = f"the workload has no step `{step.use}`", nearest(step.use, workload)
            if document.spec.workload is None:
                message, hint = f"there is no workload to take the step `{step.use}` from", "give `workload: NAME`"
            problems.add("undefined-name", step.use.where, message, hint, len(step.use))
        return Checkpoint(UNKNOWN, position, where)
    links = (workload[step.use], step) if step.use is not None and workload is not None else (step,)
    return _step(step, links, named, position, problems) or Checkpoint(UNKNOWN, position, where)


def _no_form(step: Step, given: Mapping[str, Text], where: Where, problems: Problems) -> None:
    message, hint = "a step has one of `use`, `name` and `checkpoint`", ""
    for key in step.model_extra or {}:
        if get_close_matches(key, FORMS, n=1):
            place, hint = step.key(key, where), nearest(key, FORMS)
            problems.add("unknown-key", place, f"`{key}` is not a key here", hint, len(key))
            return
    if not (step.model_fields_set or step.model_extra) and problems.errors:
        return  # its one key had no value, which is said
    if given:
        where, hint = next(iter(given.values())).where, f"not both: {' and '.join(f'`{key}`' for key in given)}"
    problems.add("step-form", where, message, hint)


def _checkpoint(step: Step, name: Text, position: int, problems: Problems) -> Checkpoint:
    for key in sorted({*step.model_fields_set, *(step.model_extra or {})} - {"checkpoint"}):
        shown = key.rstrip("_")
        where = step.key(shown, name.where)
        message = f"a checkpoint takes no `{shown}`"
        problems.add("unknown-key", where, message, "it is a place between steps", len(shown))
    return Checkpoint(str(name), position, name.where)


def _step(step: Step, links: tuple[Step, ...], named: Text, position: int, problems: Problems) -> Item | None:
    kind = next((link.kind for link in reversed(links) if link.kind is not None), None)
    if kind is None:
        problems.add("missing-key", named.where, f"step `{named}` has no `kind`", nearest("", kinds()), width(named))
        return None
    if kind not in kinds():
        problems.add("undefined-name", kind.where, f"there is no kind `{kind}`", nearest(kind, kinds()), len(kind))
        return None
    options = tuple(layer for link in links for layer in link.options)
    name = str(step.as_ or named)
    return Item(name, str(kind), position, named.where, links, options, name, name)


def _repeated(item: Item | Checkpoint, problems: Problems) -> Iterator[Item | Checkpoint]:
    """A live grid is a step for each combination of its variables, `times: 4` is four steps, in order."""
    if isinstance(item, Checkpoint):
        yield item
        return
    grid = next((link.for_ for link in reversed(item.links) if link.for_ is not None), {})
    times = next((link.times for link in reversed(item.links) if link.times is not None), 0)
    count = prod(len(values) for values in grid.values()) * max(times, 1)
    if count > MOST_STEPS:
        message = f"step `{item.name}` would be {count:,} steps: more than {MOST_STEPS:,}"
        problems.add("too-large", item.where, message, "`for` has a step for each combination", len(item.name))
        return
    for name in grid:
        if name in RESERVED:
            message = f"`{name}` means something else in expressions"
            problems.add("reserved-name", grid[name][0].where, message, "choose another name for the variable", 1)
    _check_twice(grid, problems)
    for values in product(*(dict.fromkeys(values) for values in grid.values())):
        one = _bound(item, dict(zip(grid, values, strict=True)))
        for ending in [f".{n + 1}" for n in range(times)] or [""]:
            yield replace(one, name=one.name + ending, shown=one.base + ending)


def _check_twice(grid: Mapping[str, Sequence[Text]], problems: Problems) -> None:
    for values in grid.values():
        for position, value in enumerate(values):
            if value in values[:position]:
                problems.add("point-twice", value.where, f"the value `{value}` is given twice", width=len(value))


def _bound(item: Item, variables: Mapping[str, Text]) -> Item:
    if not variables:
        return item
    name = f"{item.name}[{','.join(f'{variable}={value}' for variable, value in variables.items())}]"
    return replace(item, name=name, variables=variables, links=(*item.links, Step.model_validate(variables)))
