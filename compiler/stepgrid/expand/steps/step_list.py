"""The spec's list of steps: uses joined with their definitions, checkpoints in their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from stepgrid.expand.definitions import ResolvedDefinitions
from stepgrid.expand.step_entry import UNKNOWN, Checkpoint, StepEntry
from stepgrid.expand.steps.expansion import written_out
from stepgrid.language.models import Step
from stepgrid.language.problems import Location, Problems, nearest, nearest_name
from stepgrid.language.spec_file import Document
from stepgrid.language.yaml import Text, width
from stepgrid.plugins.registry import DRIVERS

FORMS = ("use", "name", "checkpoint")


def resolve(document: Document, defined: ResolvedDefinitions, problems: Problems) -> list[StepEntry | Checkpoint]:
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
    return [one for item in found for one in (written_out(item, problems) if isinstance(item, StepEntry) else [item])]


def _none(document: Document, problems: Problems) -> None:
    nodes = document.nodes
    if "steps" in nodes:
        problems.add("no-steps", nodes.at["steps"], "`steps` is empty", "without the key it is the whole workload", 5)
    elif "steps" not in nodes.at:  # else they were of a wrong type, which is said
        problems.add("no-steps", nodes.where, "the spec has no steps", "give `workload:` or `steps:`, or both")


def _check_checkpoints(found: Sequence[Checkpoint], problems: Problems) -> None:
    seen: dict[str, Location] = {}
    for checkpoint in found:
        name = checkpoint.name
        if name in seen:
            message, hint = f"two checkpoints are named `{name}`", f"first at {seen[name]}"
            problems.add("defined-twice", checkpoint.where, message, hint, len(name))
        elif name:
            seen[name] = checkpoint.where


def _workload(document: Document, defined: ResolvedDefinitions, problems: Problems) -> Sequence[Step] | None:
    name = document.spec.workload
    if name is None:
        return None
    if name not in defined.workloads:
        problems.undefined("workload", name, name.where, defined.workloads)
    return defined.workloads.get(name)


def _item(
    step: Step, position: int, workload: Mapping[str, Step] | None, document: Document, problems: Problems
) -> StepEntry | Checkpoint:
    """`workload`: None where it is not defined, and nobody can say what its steps are."""
    where = step.where or document.nodes.where
    given = {key: name for key in FORMS if (name := getattr(step, key)) is not None}
    if len(given) != 1:
        _no_form(step, given, where, problems)
        return Checkpoint(UNKNOWN, position, where)
    named = next(iter(given.values()))
    if step.checkpoint is not None:
        return _checkpoint(step, step.checkpoint, position, problems)
    links: tuple[Step, ...] = (step,)
    if step.use is not None:
        use = step.use if workload is None else _workload_step(step.use, workload, document, problems)
        if use is None or workload is None:
            return Checkpoint(UNKNOWN, position, where)
        links, named = (workload[use], step), Text(use, named.where)
    return _step(step, links, named, position, problems) or Checkpoint(UNKNOWN, position, where)


def _workload_step(use: Text, workload: Mapping[str, Step], document: Document, problems: Problems) -> str | None:
    """The step's name in the workload. A misspelt one stands for the nearest, so that more faults are found."""
    if use in workload:
        return str(use)
    message, hint = f"the workload has no step `{use}`", nearest(use, workload)
    if document.spec.workload is None:
        message, hint = f"there is no workload to take the step `{use}` from", "give `workload: NAME`"
    problems.add("undefined-name", use.where, message, hint, len(use))
    uses = {step.use for step in document.spec.steps or ()}
    name = nearest_name(use, sorted(workload))
    return None if name in uses else name


def _no_form(step: Step, given: Mapping[str, Text], where: Location, problems: Problems) -> None:
    message, hint = "a step has one of `use`, `name` and `checkpoint`", ""
    for key in step.model_extra or {}:
        if get_close_matches(key, FORMS, n=1):
            place, hint = step.key_location(key, where), nearest(key, FORMS)
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
        where = step.key_location(shown, name.where)
        message = f"a checkpoint takes no `{shown}`"
        problems.add("unknown-key", where, message, "it is a place between steps", len(shown))
    return Checkpoint(str(name), position, name.where)


def _step(step: Step, links: tuple[Step, ...], named: Text, position: int, problems: Problems) -> StepEntry | None:
    kind = next((link.kind for link in reversed(links) if link.kind is not None), None)
    if kind is None:
        hint = nearest("", DRIVERS.names())
        problems.add("missing-key", named.where, f"step `{named}` has no `kind`", hint, width(named))
        return None
    if kind not in DRIVERS.names():
        message, hint, length = DRIVERS.unknown(kind)
        hint = hint if hint.endswith("?") else f"`kind: command` runs any program; {hint}"
        problems.add("undefined-name", kind.where, message, hint, length)
        if not hint.endswith("?"):
            return None
        kind = Text(hint.split("`")[1], kind.where)  # the one that is meant lets more faults be found
    options = tuple(layer for link in links for layer in link.options)
    name = str(step.as_ or named)
    return StepEntry(name, str(kind), position, named.where, links, options, name, name)
