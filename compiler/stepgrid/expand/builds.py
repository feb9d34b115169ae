"""Builds of a spec: `extends` and `versions` written out, and the clients that steps name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

from msgspec import Struct

from stepgrid.errors import StepgridError
from stepgrid.expand.definitions import ResolvedDefinitions, build_location, chain
from stepgrid.expand.scope import AlreadyReported
from stepgrid.language import expressions, models, sources
from stepgrid.language.flags import flag_faults
from stepgrid.language.problems import Location, Problems, close_names, nearest
from stepgrid.language.sources import (
    SOURCES,
)
from stepgrid.language.spec_file import Document
from stepgrid.language.yaml import Text, key_location, node_location
from stepgrid.model.plan import CLIENT
from stepgrid.model.records import replace
from stepgrid.plugins.driver import SERVER_PLACEHOLDERS, SERVICE_PLACEHOLDERS
from stepgrid.plugins.engine import DeclaredBuilds
from stepgrid.plugins.registry import ENGINES, build_systems, takes_requirements
from stepgrid.plugins.registry import engine as load_engine


class Build(Struct, frozen=True, eq=False):
    """A build of the spec; its source may still depend on the version."""

    name: str
    family: str
    engine: str
    version: str
    source: Mapping[str, Any]
    options: tuple[Any, ...]
    params: tuple[Mapping[str, Any], ...]  # nearest last
    where: Location
    patches: tuple[Text, ...] = ()
    recipe: Mapping[str, Any] = {}  # flags, extensions
    service: models.Service | None = None  # of a server program that no engine here knows
    requirements: Text | tuple[Text, ...] = ()  # of its scripts: a file, or a list

    @property
    def server_placeholders(self) -> tuple[str, ...]:
        """The placeholders by which a command finds the server of its stage."""
        if load_engine(self.engine).server:
            return SERVER_PLACEHOLDERS
        return () if self.service is None else SERVICE_PLACEHOLDERS


def builds_named(name: str, builds: Sequence[Build]) -> list[Build]:
    """Select builds by name or by family."""
    return [build for build in builds if name in (build.name, build.family)]


class Families:
    """Definitions of builds, of the spec and its includes; each is one build, or one for each of its versions."""

    def __init__(self, document: Document, defined: ResolvedDefinitions, problems: Problems) -> None:
        self._document, self._defined, self.problems = document, defined, problems
        self._spec_builds = document.spec.builds

    def names(self) -> Iterator[str]:
        """List families, for hints: lazily, because thousands of builds may each need a hint."""
        yield from self._spec_builds
        yield from self._defined.builds

    def builds(self) -> list[Build]:
        """List the builds of the spec, except those of abstract families."""
        by_name: dict[str, Build] = {}
        for family, definition in self._spec_builds.items():
            for build in () if definition.abstract else self.members(family):
                if build.name in by_name:
                    message = f"two builds are named `{build.name}`"
                    self.problems.add("defined-twice", build.where, message, width=len(family))
                by_name[build.name] = build
        return list(by_name.values())

    def outline(self, family: str) -> tuple[str | None, list[str]]:
        """Find the engine of a family, and the names of its builds; faults are reported where it is used."""
        links = self._links(family, Problems())
        return _nearest_value(links, "engine"), [name for name, *_ in self._releases(family, links, Problems())]

    def members(self, family: str) -> list[Build]:
        """List the builds of one family."""
        links, where = self._links(family, self.problems), build_location(self._document, family)
        releases: dict[str, tuple[str, str]] = {}
        for name, version, suite in self._releases(family, links, self.problems):
            if name in releases:
                second = node_location(version, where)
                self.problems.add("defined-twice", second, f"two builds are named `{name}`", width=len(version))
            releases[name] = version, suite
        engine = self._engine(family, links, where)
        if engine is None:
            return []
        tables = {
            kind: {
                name: value if expressions.is_template(value) else str(value)  # a template's node tells its place
                for link in links
                for name, value in getattr(link, kind).items()
            }
            for kind in ("flags", "extensions")
        }
        recipe = {kind: table for kind, table in tables.items() if table}
        self._check_recipe(family, links, engine, recipe, where)
        template = Build(
            name=family,
            family=family,
            engine=engine,
            version="",
            source=_merge_sources(links),
            options=tuple(layer for link in links for layer in link.options),
            params=tuple(link.params for link in links),
            where=where,
            patches=tuple(patch for link in links for patch in link.patches),
            recipe=recipe,
            service=self._service(family, links, engine),
            requirements=self._requirements(family, links, engine),
        )
        merged, suites = template.source, {name: {"suite": suite} for name, (_, suite) in releases.items() if suite}
        return [
            replace(template, name=name, version=str(version), source={**merged, **suites.get(name, {})})
            for name, (version, _) in releases.items()
        ]

    def _releases(
        self, family: str, links: Sequence[models.SpecBuild], problems: Problems
    ) -> list[tuple[str, str, str]]:
        for link in reversed(links):  # name, version, and a suite that is of this version alone
            if isinstance(link.versions, models.Newest):
                return self._newest_releases(family, _merge_sources(links), link.versions, problems)
            if link.versions is not None:
                return [(f"{family}-{version}", version, "") for version in link.versions]
            if link.version is not None:
                return [(family, link.version, "")]
        return [(family, "", "")]

    def _newest_releases(
        self, family: str, source: Mapping[str, Any], newest: models.Newest, problems: Problems
    ) -> list[tuple[str, str, str]]:
        where = newest.newest.where
        releases: Mapping[str, str] = {}
        try:
            texts = sources.open_source(source, self._document.settle)
            question = sources.ReleaseQuestion(texts, int(newest.newest), newest.of, newest.from_ or "")
            hint = f"`stepgrid lock {self._document.path}` asks the registry"
            fault, hint = question.fault or (f"the lock file has no answer to `{question.key}`", hint)
            releases = {} if question.fault else self._document.find_releases(question)
        except StepgridError as error:
            fault, hint = str(error), ""
        if not releases:
            problems.add("no-newest", where, f"build `{family}`: {fault}", hint)
        return [(f"{family}-{version}", version, suite and Text(suite, where)) for version, suite in releases.items()]

    def _links(self, family: str, problems: Problems) -> list[models.SpecBuild]:
        def parent(child: str, name: str) -> models.SpecBuild | None:
            return (self._spec_builds.get(name) if name != child else None) or self._defined.builds.get(name)

        first = self._spec_builds.get(family) or self._defined.builds[family]
        return chain(family, first, parent, self.names(), problems)

    def _engine(self, family: str, links: Sequence[models.SpecBuild], where: Location) -> str | None:
        """Find the engine of a family; a misspelt one stands for the nearest, so that more faults are found."""
        name: Text | None = _nearest_value(links, "engine")
        if name is not None and name not in ENGINES.names():
            self.problems.add("undefined-name", name.where, *ENGINES.unknown(name))
            return next(iter(get_close_matches(name, ENGINES.names(), n=1)), None)
        if name is None and links[0].extends is None and not self.problems.unread:
            names = [other for other in self.names() if other != family]
            hint = f"add `engine:`, or `extends:` a build that has one; {nearest('', ENGINES.names())}"
            hint = nearest(family, names) if close_names(family, names) else hint
            self.problems.add("missing-key", where, f"build `{family}` has no engine", hint, len(family))
        return None if name is None else str(name)

    def _check_recipe(
        self, family: str, links: Sequence[models.SpecBuild], engine: str, recipe: Mapping[str, Any], where: Location
    ) -> None:
        plugin = load_engine(engine)
        for fault in sources.extension_faults(recipe.get("extensions", {}), engine, plugin.extensions):
            self.problems.add(fault.code, where, f"build `{family}`: {fault.message}", fault.hint, len(family))
        flags = {name: value for name, value in recipe.get("flags", {}).items() if not isinstance(value, Text)}
        for fault in engine_flag_faults(engine, flags):
            key = str(fault.key)
            node = next(link.flags[key] for link in reversed(links) if key in link.flags)
            message = f"build `{family}`: {fault.message}"
            self.problems.add(fault.code, key_location(node, where), message, fault.hint, len(key))

    def _service(self, family: str, links: Sequence[models.SpecBuild], engine: str) -> models.Service | None:
        """Take the nearest service as a whole."""
        service: models.Service | None = _nearest_value(links, "service")
        if service is None or isinstance(load_engine(engine), DeclaredBuilds):
            return service
        hint = f"{engine} is started by stepgrid itself" if load_engine(engine).server else "leave `service` out"
        names = (name for name in ENGINES.names() if isinstance(load_engine(name), DeclaredBuilds))
        where = node_location(service.argv[0], Location("", 1, 1))
        self._refuse_key(f"build `{family}`: `service`", names, engine, where, hint)
        return None

    def _requirements(self, family: str, links: Sequence[models.SpecBuild], engine: str) -> Text | tuple[Text, ...]:
        """Take the nearest list as a whole."""
        requirements: Text | tuple[Text, ...] = _nearest_value(links, "requirements") or ()
        if not requirements or takes_requirements(engine):
            return requirements
        first = requirements if isinstance(requirements, Text) else requirements[0]
        names, hint = filter(takes_requirements, ENGINES.names()), "leave `requirements` out"
        self._refuse_key(f"build `{family}`: `requirements`", names, engine, first.where, hint)
        return ()

    def _refuse_key(self, key: str, names: Iterable[str], engine: str, where: Location, hint: str) -> None:
        message = f"{key} is for the engine `{'` or `'.join(names)}`, found `{engine}`"
        self.problems.add("wrong-source", where, message, hint)


def engine_flag_faults(engine: str, flags: Mapping[str, Any]) -> Iterable[sources.SourceFault]:
    """Check flags by the engine, or by the build systems that its recipes know."""
    plugin, systems = load_engine(engine), build_systems(engine)
    if isinstance(plugin, DeclaredBuilds):
        return plugin.flag_faults(flags)
    return flag_faults(flags, systems) if systems else ()


def _nearest_value(links: Sequence[models.SpecBuild], field: str) -> Any:
    return next((value for link in reversed(links) if (value := getattr(link, field)) is not None), None)


def _merge_sources(links: Sequence[models.SpecBuild]) -> dict[str, Any]:
    """Merge sources: one of another kind replaces those before it, one of the same kind or of no kind adds to them."""
    source: dict[str, Any] = {}
    for patch in (link.source or {} for link in links):
        kind = next((key for key in patch if key in SOURCES), None)
        source = dict(patch) if kind is not None and kind not in source else {**source, **patch}
    return source


# Clients: builds that steps name, which are no cell's engine and on no axis of builds


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
