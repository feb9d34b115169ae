"""Clients of steps: builds that steps name, which are no cell's engine and on no axis of builds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple, NoReturn

from stepgrid.expand.builds import Build, Families
from stepgrid.expand.scope import AlreadyReported
from stepgrid.language.problems import Location, nearest
from stepgrid.model.plan import CLIENT


class ClientRequest(NamedTuple):
    name: str
    engine: str  # that it must be of
    step: str
    where: Location
    is_named: bool  # by the spec; else it is the driver's default


class Clients:
    """Clients of steps, each resolved by the first step that names it: the others are not built."""

    def __init__(self, families: Families) -> None:
        self._families, self._problems = families, families.problems
        self._builds: dict[str, Build] = {}

    @property
    def builds(self) -> list[Build]:
        """The builds that steps have named."""
        return list(self._builds.values())

    def find(self, request: ClientRequest) -> Build:
        """Find the build that a step names; AlreadyReported if there is none."""
        build = self._builds.get(request.name)
        if build is None:
            build = self._builds[request.name] = self._resolve(request)
        if build.engine != request.engine:
            self._refuse_engine(request, build.engine)
        return build

    @cached_property
    def _outlines(self) -> Mapping[str, tuple[str | None, list[str]]]:
        """Engine and names of the builds of each family."""
        return {family: self._families.outline(family) for family in dict.fromkeys(self._families.names())}

    def _resolve(self, request: ClientRequest) -> Build:
        family = self._family(request)
        engine, names = self._outlines[family]
        if engine != request.engine and engine is not None:
            self._refuse_engine(request, engine)
        name = names[0] if request.name == family and len(names) == 1 else request.name
        if name not in names:
            message = f"`{request.name}` is {len(names)} builds, and a step has one client"
            self._refuse(request, message, f"one of: {', '.join(names)}")
        build = next((member for member in self._families.members(family) if member.name == name), None)
        if build is None:
            raise AlreadyReported(f"{request.name} is no build")  # the fault of its definition is reported
        for kind, values in (("options", build.options), ("params", any(build.params))):
            if values:  # passed over in silence they would seem to be in force
                message = f"build `{build.name}` is a client, which takes no `{kind}`"
                self._problems.add("unknown-key", build.where, message, "say them in the step", len(build.family))
        return build

    def _family(self, request: ClientRequest) -> str:
        """Find the family of a name: a build of several versions is named with the version."""
        if request.name in self._outlines:
            return request.name
        for family, (_, names) in self._outlines.items():
            if request.name in names:
                return family
        if self._problems.unread:  # it may be defined there
            raise AlreadyReported(f"{request.name} is not defined")
        choices = self._names(request.engine)
        message, hint = f"there is no build `{request.name}`", nearest(request.name, choices)
        if not request.is_named:
            message = f"step `{request.step}` needs a client: there is no build `{request.name}`"
            hint = f"give `{CLIENT}: NAME`; {hint}"
        if not choices:
            hint = f"include or `define:` a build of the engine {request.engine}"
        return self._refuse(request, message, hint, undefined=True)

    def _names(self, engine: str) -> list[str]:
        return [name for owner, names in self._outlines.values() if owner == engine for name in names]

    def _refuse_engine(self, request: ClientRequest, engine: str) -> NoReturn:
        wanted = f"the client of step `{request.step}` is one of {request.engine}"
        message = f"`{request.name}` is a build of {engine}; {wanted}"
        self._refuse(request, message, nearest(request.name, self._names(request.engine)))

    def _refuse(self, request: ClientRequest, message: str, hint: str, undefined: bool = False) -> NoReturn:
        code = "undefined-name" if undefined else "wrong-setting"
        width = len(request.name if request.is_named else request.step)
        self._problems.add(code, request.where, message, hint, width)
        raise AlreadyReported(message)
