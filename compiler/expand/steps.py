"""The spec's list of steps: uses joined with their definitions, checkpoints in their places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, NamedTuple

from compiler.drivers import kinds
from compiler.expand.definitions import Defined
from compiler.language.models import Step
from compiler.language.nodes import Text, width
from compiler.language.problem import Problems, Where, nearest
from compiler.language.read import Document


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
    if listed is None:
        problems.add("no-steps", document.nodes.where, "the spec has no steps", "give `workload:` or `steps:`, or both")
        return []
    by_name = {str(step.name): step for step in workload or () if step.name is not None}
    found = [_item(step, position, by_name, document, problems) for position, step in enumerate(listed)]
    return [one for item in found if item is not None for one in _repeated(item)]


def _workload(document: Document, defined: Defined, problems: Problems) -> Sequence[Step] | None:
    name = document.spec.workload
    if name is None:
        return None
    if name not in defined.workloads:
        hint = nearest(name, defined.workloads)
        problems.add("undefined-name", name.where, f"there is no workload `{name}`", hint, len(name))
        problems.stop_on_errors()
    return defined.workloads[name]


def _item(
    step: Step, position: int, workload: Mapping[str, Step], document: Document, problems: Problems
) -> Item | Checkpoint | None:
    given = [name for name in (step.use, step.name, step.checkpoint) if name is not None]
    if len(given) != 1:
        where = given[0].where if given else document.nodes.where
        problems.add("step-form", where, "a step has one of `use`, `name` and `checkpoint`")
        return None
    if step.checkpoint is not None:
        return Checkpoint(str(step.checkpoint), position, step.checkpoint.where)
    links: tuple[Step, ...] = (step,)
    if step.use is not None:
        if step.use not in workload:
            message, hint = f"the workload has no step `{step.use}`", nearest(step.use, workload)
            problems.add("undefined-name", step.use.where, message, hint, len(step.use))
            return None
        links = (workload[step.use], step)
    return _step(step, links, given[0], position, problems)


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


def _repeated(item: Item | Checkpoint) -> Iterator[Item | Checkpoint]:
    """A live grid is a step for each combination of its variables, `times: 4` is four steps, in order."""
    if isinstance(item, Checkpoint):
        yield item
        return
    grid = next((link.for_ for link in reversed(item.links) if link.for_ is not None), {})
    times = next((link.times for link in reversed(item.links) if link.times is not None), 0)
    for values in product(*grid.values()):
        one = _bound(item, dict(zip(grid, values, strict=True)))
        for ending in [f".{n + 1}" for n in range(times)] or [""]:
            yield replace(one, name=one.name + ending, shown=one.base + ending)


def _bound(item: Item, variables: Mapping[str, Text]) -> Item:
    if not variables:
        return item
    name = f"{item.name}[{','.join(f'{variable}={value}' for variable, value in variables.items())}]"
    return replace(item, name=name, variables=variables, links=(*item.links, Step.model_validate(variables)))
