"""Durability of writes: which failures they survive, by the options of a step and the defaults of its release.

Engines and kinds of steps bring tables of their options: this module names none, and reads
nothing of a running server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from stepgrid.model.plan import Value
from stepgrid.model.records import Json
from stepgrid.plugins.driver import WorkloadOperations
from stepgrid.plugins.engine import Release, plain_name, release_numbers
from stepgrid.plugins.registry import driver, engine
from stepgrid.plugins.work import client_count

COMMIT, BINARY_LOG, TORN_PAGES, LOG_DETAIL = "commit", "binary log", "torn pages", "log detail"
NONE, OS, SYNC, GROUP = "none", "os", "sync", "group"  # a write survives: nothing, its process, a power cut; or several

Default: TypeAlias = str | Sequence[tuple[Release, str]]  # of each release from the first one on
_WORDS = {**dict.fromkeys(("true", "on", "yes"), "1"), **dict.fromkeys(("false", "off", "no"), "0")}
WORKLOAD = "workload"  # stands for an option: the first workload of a step
OTHER = "*"  # any other value; an empty class is the value itself


class Switch(NamedTuple):
    """An option, any name of files, without which a promise is not made."""

    option: str
    default: Default
    class_without: str
    opposites: tuple[str, ...]  # options that say the contrary


class Promise(NamedTuple):
    """An option that decides how durable writes are, as a row of its engine's table."""

    name: str
    option: str
    default: Default
    classes: Mapping[str, str]  # value -> class
    switch: Switch | None = None
    storage_engine: str = ""  # empty: of any
    shared: Mapping[str, str] = {}  # class -> the one that it is where several clients write at once
    changes: Sequence[tuple[str, str, Mapping[str, str]]] = ()  # another option, its value: class -> the one that it is


@runtime_checkable
class PromisedDurability(Protocol):
    """An engine, or a kind of step, whose options decide which failures its writes survive."""

    promises: Sequence[Promise]


def step_durability(
    kind: str, settings: Mapping[str, Json], options: Mapping[str, Value], build: Any, storage_engine: str = ""
) -> Mapping[str, str]:
    """Map each promise of a step to its class; empty where nothing is known. `build` has an engine and a version."""
    for plugin in (engine(build.engine), driver(kind)):
        if isinstance(plugin, PromisedDurability):
            clients = client_count(kind, settings) or 1
            runner = driver(kind)
            names = runner.workloads(settings) if isinstance(runner, WorkloadOperations) else None
            words = {**options, WORKLOAD: names[0]} if names else options
            return promised_classes(plugin.promises, words, build.version, storage_engine, clients > 1)
    return {COMMIT: str(settings["durability"])} if settings.get("durability") else {}


def promised_classes(
    promises: Sequence[Promise],
    options: Mapping[str, Value],
    version: str,
    storage_engine: str,
    is_shared: bool = False,
) -> Mapping[str, str]:
    words = {plain_name(name): plain_word(value) for name, value in options.items()}
    release = release_numbers(version)
    classes: dict[str, str] = {}
    for promise in promises:
        if promise.storage_engine in ("", storage_engine):
            text = _class(promise, words, release)
            classes[promise.name] = promise.shared.get(text, text) if is_shared else text
    return classes


def running_durability(
    promises: Sequence[Promise], values: Mapping[str, str], version: str, storage_engine: str
) -> Mapping[str, str]:
    """Map promises to classes by all variables of a running server, in which `off` is no name of files."""
    switches = [row.switch for row in promises if row.switch]
    off = {switch.opposites[0]: "1" for switch in switches if plain_word(values.get(switch.option, "")) == "0"}
    return promised_classes(promises, {**values, **off}, version, storage_engine)


def differing(first: Mapping[str, str], second: Mapping[str, str]) -> list[str]:
    """Name the promises that two steps make in unlike ways. A commit of a group survives what a single one does."""
    pairs = ((name, {first[name], second[name]}) for name in first if name in second)
    return [name for name, classes in pairs if len(classes) > 1 and (name, classes) != (COMMIT, {SYNC, GROUP})]


def _class(promise: Promise, words: Mapping[str, str], release: Release) -> str:
    switch = promise.switch
    if switch is not None and not _is_on(switch, words, release):
        return switch.class_without
    value = words.get(promise.option) or _default(promise.default, release)
    text = promise.classes.get(value, promise.classes.get(OTHER)) or value
    for option, word, classes in promise.changes:
        text = classes.get(text, text) if words.get(option) == word else text
    return text


def _is_on(switch: Switch, words: Mapping[str, str], release: Release) -> bool:
    if any(words.get(name) == "1" for name in switch.opposites):
        return False
    return switch.option in words or _default(switch.default, release) == "1"


def _default(default: Default, release: Release) -> str:
    if isinstance(default, str):
        return default
    return next((value for first, value in reversed(default) if release >= first), default[0][1])


def plain_word(value: Any) -> str:
    """Write on and off, yes and no, true and false as 1 and 0."""
    text = str(value).lower()
    return _WORDS.get(text, text)
