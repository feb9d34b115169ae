"""The builds of clients: a step names the one that it runs, which is no cell's engine and on no axis of builds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple, NoReturn

from stepgrid.expand import builds
from stepgrid.expand.builds import Build
from stepgrid.expand.definitions import ResolvedDefinitions
from stepgrid.expand.expression_scope import AlreadyReported
from stepgrid.language.problems import Location, Problems, nearest
from stepgrid.language.spec_file import Document
from stepgrid.model.plan import CLIENT


class ClientRequest(NamedTuple):
    """What a step says of its client."""

    name: str
    engine: str  # that it must be of
    step: str
    where: Location
    said: bool  # else it is the driver's own default


class Clients:
    """Each is resolved when the first step asks for it: what no step names is not built."""

    def __init__(self, document: Document, defined: ResolvedDefinitions, problems: Problems) -> None:
        self._document, self._defined, self._problems = document, defined, problems
        self._found: dict[str, Build] = {}

    @property
    def used(self) -> list[Build]:
        return list(self._found.values())

    def named(self, asked: ClientRequest) -> Build:
        """Reported, when there is no such build."""
        if asked.name not in self._found:
            self._found[asked.name] = self._resolved(asked)
        found = self._found[asked.name]
        if found.engine != asked.engine:
            self._refuse_engine(asked, found.engine)
        return found

    def _resolved(self, asked: ClientRequest) -> Build:
        family = self._family(asked)
        engine, names = self._outlines[family]
        if engine != asked.engine and engine is not None:
            self._refuse_engine(asked, engine)
        name = names[0] if asked.name == family and len(names) == 1 else asked.name
        if name not in names:
            many = f"`{asked.name}` is {len(names)} builds, and a step has one client"
            self._refuse(asked, many, f"one of: {', '.join(names)}")
        found = builds.members(family, self._document, self._defined, self._problems)
        build = next((each for each in found if each.name == name), None)
        if build is None:
            raise AlreadyReported(f"{asked.name} is no build")  # what is wrong with its definition is said
        self._refuse_what_nobody_takes(build)
        return build

    def _family(self, asked: ClientRequest) -> str:
        """The definition that a name is of: a build of several versions is named with the version."""
        outlines = self._outlines
        if asked.name in outlines:
            return asked.name
        found = next((family for family, (_, names) in outlines.items() if asked.name in names), None)
        if found is None:
            self._refuse_unknown(asked)
        return found

    @cached_property
    def _outlines(self) -> Mapping[str, tuple[str | None, list[str]]]:
        """Of every definition: its engine, and its builds' names."""
        every = dict.fromkeys([*self._document.spec.builds, *self._defined.builds])
        return {name: builds.outline(name, self._document, self._defined) for name in every}

    def _names(self, engine: str) -> list[str]:
        return [name for of, names in self._outlines.values() if of == engine for name in names]

    def _refuse_unknown(self, asked: ClientRequest) -> NoReturn:
        if self._problems.unread:  # it may be defined there
            raise AlreadyReported(f"{asked.name} is not defined")
        known = self._names(asked.engine)
        message, hint = f"there is no build `{asked.name}`", nearest(asked.name, known)
        if not asked.said:
            message = f"step `{asked.step}` needs a client: there is no build `{asked.name}`"
            hint = f"give `{CLIENT}: NAME`; {hint}"
        if not known:
            hint = f"include or `define:` a build of the engine {asked.engine}"
        self._refuse(asked, message, hint, undefined=True)

    def _refuse_engine(self, asked: ClientRequest, engine: str) -> NoReturn:
        message = f"`{asked.name}` is a build of {engine}; the client of step `{asked.step}` is one of {asked.engine}"
        self._refuse(asked, message, nearest(asked.name, self._names(asked.engine)))

    def _refuse(self, asked: ClientRequest, message: str, hint: str, undefined: bool = False) -> NoReturn:
        code = "undefined-name" if undefined else "wrong-setting"
        width = len(asked.name) if asked.said else len(asked.step)
        self._problems.add(code, asked.where, message, hint, width)
        raise AlreadyReported(message)

    def _refuse_what_nobody_takes(self, build: Build) -> None:
        """They would be a step's: passed over in silence they seem to be in force."""
        for kind, given in (("options", build.options), ("params", any(build.params))):
            if given:
                message = f"build `{build.name}` is a client, which takes no `{kind}`"
                self._problems.add("unknown-key", build.where, message, "say them in the step", len(build.family))
