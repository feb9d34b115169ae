"""The `service` of a build: the server program that is started for each stage, its words, and how it is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from stepgrid.expand.builds import Build
from stepgrid.expand.options import check_placeholders
from stepgrid.expand.scope import OPTIONS, Name, Scope, is_value, mentioned_names
from stepgrid.language.models import Readiness, Service, StopRequest
from stepgrid.language.yaml import Seq, node_location, width
from stepgrid.model.plan import TIMEOUT, Json
from stepgrid.model.records import ServiceRequest, ServiceSetup, StepSetup, replace
from stepgrid.plugins.driver import SERVICE_PLACEHOLDERS, misplaced_placeholder

LOCATIONS = ("data", "folder", *SERVICE_PLACEHOLDERS)
COMMAND_PLACEHOLDERS = (*LOCATIONS, "program:NAME")
ARGV_PLACEHOLDERS = (*LOCATIONS, "options", "program:NAME")
OPTION_PLACEHOLDERS = ("name", "value")


def mentioned_by_service(build: Build) -> Iterator[Name]:
    if (service := build.service) is not None:
        forms = (*_forms(service.ready).values(), *_forms(service.stop).values())
        yield from mentioned_names(service.argv, service.option, service.env, *forms)


def unreached_options(build: Build, names: Iterable[str], setup: StepSetup, settings: Mapping[str, Json]) -> list[str]:
    """List options for which neither the service nor the step has a word."""
    words = settings.get("argv")
    if "{options}" in (*(setup.service.argv if setup.service else ()), *(words if isinstance(words, list) else ())):
        return []
    mentioned = {name for kind, name in mentioned_by_service(build) if kind == OPTIONS}
    return [] if "" in mentioned else [name for name in names if name not in mentioned]


def _forms(model: Readiness | StopRequest) -> dict[str, Any]:
    return {name: value for name, value in model if name != TIMEOUT and value is not None}


def resolve_service(build: Build, scope: Scope) -> ServiceSetup | None:
    """Resolve the words of a build's service; their placeholders stay."""
    service = build.service
    if service is None:
        return None
    resolution = _ServiceResolution(build, service, scope)
    return ServiceSetup(
        argv=resolution.words("argv", service.argv, ARGV_PLACEHOLDERS),
        option=resolution.words("option", service.option or (), OPTION_PLACEHOLDERS),
        env=resolution.environment(),
        ready=resolution.request("ready", service.ready),
        stop=resolution.request("stop", service.stop),
    )


class _ServiceResolution:
    def __init__(self, build: Build, service: Service, scope: Scope) -> None:
        self._build, self._service, self._scope, self._problems = build, service, scope, scope.problems

    def words(self, name: str, nodes: Sequence[Any], placeholders: Sequence[str]) -> tuple[str, ...]:
        words = self._scope.items(Seq(list(nodes), self._build.where))
        self._check(name, words, placeholders)
        if (misplaced := misplaced_placeholder([str(word) for word in words])) is not None:
            node = next(word for word in words if misplaced in str(word))
            self._refuse(name, node, f"`{misplaced}` stands for several words: give it as a word of its own")
        return tuple(map(str, words))

    def environment(self) -> dict[str, str]:
        variables = {name: self._scope.value(node) for name, node in self._service.env.items()}
        variables = {name: value for name, value in variables.items() if is_value(value)}
        self._check("env", list(variables.values()), LOCATIONS)
        return {name: str(value) for name, value in variables.items()}

    def request(self, name: str, model: Readiness | StopRequest) -> ServiceRequest:
        """Resolve `ready` or `stop`: one form, and a timeout."""
        request = ServiceRequest(timeout=model.timeout)
        for form, node in _forms(model).items():
            path = f"{name}.{form}"
            if form == "command":
                request = replace(request, command=self.words(path, node, COMMAND_PLACEHOLDERS))
                continue
            value = self._scope.value(node)
            self._check(path, [value], LOCATIONS)
            text = str(value)
            request = ServiceRequest(timeout=model.timeout, **{form: text})  # type: ignore[arg-type]  # port, socket, signal
            if form == "port" and text != "{port}" and not (text.isdecimal() and 0 < int(text) < 1 << 16):
                self._refuse(path, value, f"expected `{{port}}` or 1 to 65535, found `{text}`")
        return request

    def _refuse(self, name: str, node: Any, message: str) -> None:
        where = node_location(node, self._build.where)
        self._problems.add("wrong-setting", where, f"{self._owner(name)}: {message}", width=width(node))

    def _check(self, name: str, words: Sequence[Any], placeholders: Sequence[str]) -> None:
        check_placeholders(self._owner(name), words, self._build.where, placeholders, self._problems)

    def _owner(self, name: str) -> str:
        return f"build `{self._build.family}`: service `{name}`"
