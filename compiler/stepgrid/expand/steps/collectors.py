"""Collectors, checked: each has one form, settings that it takes, a name of its own and steps that there are."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from stepgrid.expand.step_entry import StepEntry
from stepgrid.expand.steps import placeholders
from stepgrid.language.models import Collector
from stepgrid.language.problems import Location, Problems, nearest
from stepgrid.language.spec_file import Document
from stepgrid.language.yaml import Map, Seq, Text, node_location
from stepgrid.model.plan import Json
from stepgrid.plugins.driver import PID_PLACEHOLDER, PLACEHOLDERS
from stepgrid.plugins.registry import COLLECTORS

FORMS = ("collector", "command")
SETTINGS = ("frequency", "call_graph", "events", "every")
_FOLDER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def check(document: Document, items: Iterable[StepEntry], problems: Problems) -> None:
    known = {name for item in items for name in (item.name, item.base)}
    listed = document.nodes.get("collectors")
    seen: set[str] = set()
    for found, node in zip(document.spec.collectors, listed if isinstance(listed, Seq) else (), strict=True):
        at = node.at if isinstance(node, Map) else {}
        if found.name is None:
            where = node_location(node, document.nodes.where)
            problems.add("collector-form", where, "a collector needs a name, which a `collector` of some kind brings")
            continue
        _check_form(found.name, found, at, problems)
        _check_settings(found.name, found, at, problems)
        _check_steps(found, known, problems)
        words, said = found.command or (), f"collector `{found.name}`: `command`"
        placeholders.check(said, words, found.name.where, (*PLACEHOLDERS, PID_PLACEHOLDER), problems)
        if found.name in seen:
            message = f"there is a collector `{found.name}` already"
            problems.add("defined-twice", found.name.where, message, "each has a folder of its name", len(found.name))
        seen.add(found.name)


def watches(found: Collector, item: StepEntry) -> bool:
    """Without `steps`: everything that is measured."""
    if not found.steps:
        return item.flag("measured", True)
    return item.name in found.steps or item.base in found.steps


def said(found: Collector) -> dict[str, Json]:
    """What the plan, and identity, have of it."""
    values = found.model_dump(mode="json", exclude_defaults=True, exclude={"steps"})
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: object) -> Json:
    if isinstance(value, list | tuple):
        return [str(each) for each in value]
    return str(value) if isinstance(value, str) else value  # type: ignore[return-value]


def _check_form(name: Text, found: Collector, at: Collection[str], problems: Problems) -> None:
    if len(set(FORMS) & set(at)) != 1:
        wrong = "needs `collector` or `command`, one of them"
    elif "command" in at and not any(found.command or ()):
        wrong = "needs a program in `command`"
    elif not _FOLDER.fullmatch(name):
        wrong = "is called what no folder can be: letters, digits and _ . -"
    else:
        return
    problems.add("collector-form", name.where, f"collector `{name}` {wrong}", width=len(name))


def _check_settings(name: Text, found: Collector, at: Mapping[str, Location], problems: Problems) -> None:
    taken: tuple[str, ...] = ()
    if found.collector is not None:
        if found.collector not in COLLECTORS.names():
            problems.add("undefined-name", found.collector.where, *COLLECTORS.unknown(found.collector))
            return
        taken = COLLECTORS.get(found.collector).settings
    hint = f"it takes: {', '.join(taken)}" if taken else ""
    for setting in SETTINGS:
        if setting in at and setting not in taken:
            message = f"`{setting}` is no setting of {found.collector or 'a command'} (collector `{name}`)"
            problems.add("unknown-setting", at[setting], message, hint, len(setting))


def _check_steps(found: Collector, known: Collection[str], problems: Problems) -> None:
    for step in found.steps:
        if step not in known:
            message = f"collector `{found.name}`: there is no step `{step}`"
            problems.add("undefined-name", step.where, message, nearest(step, known), len(step))
