"""The `service` of a build, as a cell has it: the server program that is started for each stage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from stepgrid.expand.axes import dependencies
from stepgrid.expand.builds import Build
from stepgrid.expand.expression_scope import NOTHING, UNSET, Scope
from stepgrid.expand.steps import placeholders
from stepgrid.language.models import Readiness, Service, StopRequest
from stepgrid.language.problems import Problems
from stepgrid.language.yaml import Seq, node_location, width
from stepgrid.model.plan import SERVICE, Json
from stepgrid.plugins.driver import SERVICE_PLACEHOLDERS, misplaced_placeholder

TIMEOUT = "timeout"  # how long somebody waits changes no figure: no part of identity
PLACES = ("data", "folder", *SERVICE_PLACEHOLDERS)
IN_COMMANDS = (*PLACES, "program:NAME")
IN_ARGV = (*PLACES, "options", "program:NAME")
OF_OPTION = ("name", "value")


def mentioned(build: Build) -> Iterator[dependencies.Name]:
    """The names that it may look at."""
    said = build.service
    if said is not None:
        values = [said.argv, said.option, said.env]
        yield from dependencies.mentioned(*values, *_forms(said.ready).values(), *_forms(said.stop).values())


def resolve(build: Build, scope: Scope, problems: Problems) -> Json:
    """None of a build that has none; else what is said of it, words with their placeholders."""
    said = build.service
    if said is None:
        return None
    found = _Found(build, scope, problems)
    return {
        "argv": found.words("argv", said.argv, IN_ARGV),
        **({"option": found.words("option", said.option, OF_OPTION)} if said.option else {}),
        **({"env": found.environment(said)} if said.env else {}),
        "ready": found.forms("ready", said.ready),
        **({"stop": found.forms("stop", said.stop)} if said.stop != StopRequest() else {}),
    }


def identity(found: Mapping[str, Json]) -> dict[str, Json]:
    return {name: _timeless(value) for name, value in found.items() if _timeless(value) != {}}


def unreached(build: Build, names: Iterable[str], *said: Mapping[str, Json]) -> list[str]:
    """Options that neither it nor the step has a word for. `said`: the step's setup and settings."""
    texts = [found.get("argv") for found in (*said, *(each.get(SERVICE) for each in said)) if isinstance(found, dict)]
    if any(isinstance(words, list) and "{options}" in words for words in texts):
        return []
    asked = {name for kind, name in mentioned(build) if kind == dependencies.OPTIONS}
    return [] if "" in asked else [name for name in names if name not in asked]


class _Found:
    def __init__(self, build: Build, scope: Scope, problems: Problems) -> None:
        self._build, self._scope, self._problems = build, scope, problems

    def words(self, name: str, given: Sequence[Any], known: Sequence[str]) -> list[Json]:
        found = self._scope.items(Seq(list(given), self._build.where))
        self._check(name, found, known)
        if (wrong := misplaced_placeholder([str(word) for word in found])) is not None:
            node = next(word for word in found if wrong in str(word))
            message = f"{self._whose(name)}: `{wrong}` stands for several words: give it as a word of its own"
            self._problems.add("wrong-setting", node_location(node, self._build.where), message, width=width(node))
        return [str(word) for word in found]

    def environment(self, said: Service) -> dict[str, Json]:
        found = {name: self._scope.value(node) for name, node in said.env.items()}
        there = {name: value for name, value in found.items() if value is not NOTHING and value is not UNSET}
        self._check("env", list(there.values()), PLACES)
        return {name: str(value) for name, value in there.items()}

    def forms(self, name: str, said: Readiness | StopRequest) -> dict[str, Json]:
        """`ready` or `stop`: one form, and a timeout."""
        found: dict[str, Json] = {TIMEOUT: said.timeout} if said.timeout is not None else {}
        for form, given in _forms(said).items():
            if form == "command":
                found[form] = self.words(f"{name}.{form}", given, IN_COMMANDS)
            else:
                value = self._scope.value(given)
                self._check(f"{name}.{form}", [value], PLACES)
                found[form] = self._port(f"{name}.{form}", value) if form == "port" else str(value)
        return found

    def _port(self, name: str, value: Any) -> str:
        text = str(value)
        if text != "{port}" and not (text.isdecimal() and 0 < int(text) < 1 << 16):
            message = f"{self._whose(name)}: expected `{{port}}` or 1 to 65535, found `{text}`"
            self._problems.add("wrong-setting", node_location(value, self._build.where), message, width=width(value))
        return text

    def _check(self, name: str, words: Sequence[Any], known: Sequence[str]) -> None:
        placeholders.check(self._whose(name), words, self._build.where, known, self._problems)

    def _whose(self, name: str) -> str:
        return f"build `{self._build.family}`: service `{name}`"


def _forms(said: Readiness | StopRequest) -> dict[str, Any]:
    return {name: value for name, value in said if name != TIMEOUT and value is not None}


def _timeless(value: Json) -> Json:
    return {key: each for key, each in value.items() if key != TIMEOUT} if isinstance(value, dict) else value
