"""Builds of a spec: `extends` and `versions` written out, and the sources for each version."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from msgspec import Struct

from stepgrid.errors import StepgridError
from stepgrid.expand.definitions import ResolvedDefinitions, build_location, chain
from stepgrid.expand.scope import AlreadyReported, Scope, is_value
from stepgrid.language import expressions, files, models, sources
from stepgrid.language.flags import flag_faults
from stepgrid.language.problems import Location, Problems, close_names, nearest
from stepgrid.language.requirements import (
    PYTHON,
    Requirement,
    RequirementsError,
    parse_file,
    parse_requirement,
    script_requirements,
    sorted_lines,
)
from stepgrid.language.scalars import describe_value
from stepgrid.language.site import check_may_read, may_read
from stepgrid.language.sources import (
    INSTALLED,
    LIBRARIES,
    LISTED,
    READY,
    REQUIREMENTS,
    SOURCES,
    TREES,
    scalar_text,
    source_kind,
)
from stepgrid.language.spec_file import Document
from stepgrid.language.yaml import Map, Text, key_location, node_location, width
from stepgrid.model.plan import SERVER, inner_map, recipe_flags, runs_already
from stepgrid.model.records import Json, replace
from stepgrid.plugins.driver import SERVER_PLACEHOLDERS, SERVICE_PLACEHOLDERS
from stepgrid.plugins.engine import DeclaredBuilds, PublishedLibraries
from stepgrid.plugins.registry import ENGINES, build_systems, takes_requirements
from stepgrid.plugins.registry import engine as load_engine

# which of many is fetched, or what a server must say that it is: the source says it, or the build
_VERSIONED = frozenset({"maven", "crate", "pypi", "cargo", "go", "npm", SERVER})
_RELEASES = {"maven": ":[^:]+:", "go": "@"}  # GROUP:ARTIFACT:VERSION, PATH@VERSION


class Build(Struct, frozen=True, eq=False):
    """A build of the spec; its source may still depend on the version."""

    name: str
    family: str
    engine: str
    version: str
    source: Mapping[str, Json]
    options: tuple[Any, ...]
    params: tuple[Mapping[str, Json], ...]  # nearest last
    where: Location
    patches: tuple[Text, ...] = ()
    recipe: Mapping[str, Json] = {}  # flags, extensions
    service: models.Service | None = None  # of a server program that no engine here knows
    requirements: Text | tuple[Text, ...] = ()  # of its scripts: a file, or a list
    relinks: int = 1  # links, each with an order of its object files

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
            relinks=_nearest_value(links, "relinks") or 1,
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
        self, family: str, source: Mapping[str, Json], newest: models.Newest, problems: Problems
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
        self, family: str, links: Sequence[models.SpecBuild], engine: str, recipe: Mapping[str, Json], where: Location
    ) -> None:
        plugin = load_engine(engine)
        for fault in sources.extension_faults(inner_map(recipe, "extensions"), engine, plugin.extensions):
            self.problems.add(fault.code, where, f"build `{family}`: {fault.message}", fault.hint, len(family))
        flags = {name: value for name, value in recipe_flags(recipe).items() if not isinstance(value, Text)}
        for fault in _engine_flag_faults(engine, flags):
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


def _engine_flag_faults(engine: str, flags: Mapping[str, Json]) -> Iterable[sources.SourceFault]:
    plugin, systems = load_engine(engine), build_systems(engine)
    if isinstance(plugin, DeclaredBuilds):
        return plugin.flag_faults(flags)
    return flag_faults(flags, systems) if systems else ()


def _nearest_value(links: Sequence[models.SpecBuild], field: str) -> Any:
    return next((value for link in reversed(links) if (value := getattr(link, field)) is not None), None)


def _merge_sources(links: Sequence[models.SpecBuild]) -> dict[str, Json]:
    """Merge sources: one of another kind replaces those before it, one of the same kind or of no kind adds to them."""
    source: dict[str, Json] = {}
    for patch in (link.source or {} for link in links):
        kind = next((key for key in patch if key in SOURCES), None)
        source = dict(patch) if kind is not None and kind not in source else {**source, **patch}
    return source


# Sources, for the version of each build


def resolve_sources(
    builds: Iterable[Build], names: Callable[[Build], Mapping[str, object]], spec: str, problems: Problems
) -> list[Build]:
    """Evaluate and check the sources of builds that cells use; `names` are those that expressions see of a build."""
    sound = not problems.errors  # else a missing source may be one of a wrong type, which is reported
    return [
        _SourceResolution(build, spec, problems).resolve(names(build))
        if sound or build.source or build.requirements
        else build
        for build in builds
    ]


class _SourceResolution:
    def __init__(self, build: Build, spec: str, problems: Problems) -> None:
        self._build, self._spec, self._problems = build, spec, problems

    def resolve(self, names: Mapping[str, object]) -> Build:
        scope = Scope(names, {}, {}, self._problems)
        try:
            build = self._build = self._with_flags(scope)
            values = scope.values(build.source, LISTED)
            libraries = Libraries(self._spec, self._problems).declared(build.requirements, scope)
        except AlreadyReported:
            return self._build
        if libraries and not build.source:
            return replace(build, source={REQUIREMENTS: [*libraries]}, options=(), params=())
        is_sound = self._has_values(values) and self._has_kind(values) and self._has_form(values)
        source = _locate({key: _plain(value) for key, value in values.items()}, build.source, build.where)
        if is_sound:
            plugin = load_engine(build.engine)
            published = plugin.libraries if isinstance(plugin, PublishedLibraries) else {}
            source = sources.complete_source(published, source, build.version)
            if isinstance(plugin, DeclaredBuilds):
                source = {**plugin.complete_source(source, build.recipe)}
            if not libraries and "path" in source and isinstance(plugin, DeclaredBuilds):
                programs = plugin.program_paths(build.recipe).values()
                scripts = [str(Path(str(source["path"]), path)) for path in programs]
                libraries = Libraries(self._spec, self._problems).of_scripts(scripts, build.where)
            if libraries and self._takes_libraries(source):
                source = {**source, LIBRARIES: {REQUIREMENTS: [*libraries]}}
        return replace(build, source=source, options=(), params=())

    def _takes_libraries(self, source: Mapping[str, Json]) -> bool:
        kind, build = source_kind(source), self._build
        if kind not in (*READY, *INSTALLED, SERVER) and isinstance(load_engine(build.engine), DeclaredBuilds):
            return True
        text = build.requirements if isinstance(build.requirements, Text) else build.requirements[0]
        message = f"build `{build.family}`: the program of its {kind} source cannot take `requirements`"
        hint = f"leave `source` out: then the program is `{PYTHON}`, with these libraries"
        self._problems.add("wrong-source", text.where, message, hint, len(text))
        return False

    def _with_flags(self, scope: Scope) -> Build:
        """Evaluate and check the flags that depend on the version; one that comes to nothing is not given."""
        build, flags = self._build, recipe_flags(self._build.recipe)
        if not (nodes := {name: value for name, value in flags.items() if isinstance(value, Text)}):
            return build
        plain_flags = {name: value for name, value in flags.items() if name not in nodes}
        self._build = replace(build, recipe={**build.recipe, "flags": plain_flags})  # what stays where one has a fault
        texts = {name: scalar_text(scope.value(node)) for name, node in nodes.items()}
        values = {name: texts.get(name, value) for name, value in flags.items() if texts.get(name) != ""}
        for fault in _engine_flag_faults(build.engine, values):
            if node := nodes.get(str(fault.key)):
                message = f"build `{build.name}`: {fault.message}"
                self._problems.add(fault.code, node.where, message, fault.hint, width(node))
        return replace(build, recipe={**build.recipe, "flags": values})

    def _has_values(self, values: Mapping[str, Json]) -> bool:
        missing = [key for key, value in values.items() if not is_value(value)]
        for key in missing:
            message = f"build `{self._build.name}`: no value of `{key}` holds for it"
            self._problems.add("no-value", self._value_location(key), message)
        return not missing

    def _has_kind(self, source: Mapping[str, Json]) -> bool:
        """Check that a source has one kind, and texts for values; a source within it is checked by itself."""
        kind = source_kind(source)
        if kind is None:
            self._report_kind(source)
        texts = (kind, *SOURCES[kind].required, *SOURCES[kind].optional) if kind else tuple(source)
        wrong_keys: list[str] = []
        for key in [key for key in source if key in texts]:
            value = source[key]
            parts = value if isinstance(value, list) and key in LISTED else [value]
            if parts and all(isinstance(part, str | int | float) for part in parts):
                continue
            wrong_keys.append(key)
            expected = "a name or a list of names" if key in LISTED else "text"
            message = f"`{key}`: expected {expected}, found {describe_value(source[key])}"
            self._problems.add("wrong-type", self._value_location(key), message)
        return kind is not None and not wrong_keys

    def _report_kind(self, source: Mapping[str, Json]) -> None:
        """Report a source without a kind or with two; a key that is no kind is probably meant for one."""
        family, kinds = self._build.family, [key for key in source if key in SOURCES]
        where, hint, width = self._build.where, f"one of: {', '.join(SOURCES)}", len(family)
        message = f"build `{family}` has no source"
        if kinds:
            message = f"build `{family}`: a source is of one kind, not of {' and '.join(kinds)}"
        elif source:
            key = next(iter(source))
            where, width = key_location(self._build.source[key], where), len(key)
            message, hint = f"`{key}` is no kind of source", nearest(key, SOURCES)
        self._problems.add("no-source", where, message, hint, width)

    def _has_form(self, source: Mapping[str, Json]) -> bool:
        build, plugin = self._build, load_engine(self._build.engine)
        faults = list(sources.source_faults(source, isinstance(plugin, DeclaredBuilds)))
        for fault in faults:
            node, around = self._fault_node(fault)
            where = key_location(node, around) if fault.code == "unknown-key" else node_location(node, around)
            message = fault.message if node is not None else f"build `{build.family}`: {fault.message}"
            self._problems.add(fault.code, where, message, fault.hint)
        lack = plugin.lacking(source, build.recipe) if isinstance(plugin, DeclaredBuilds) else None
        # programs of a wrong form were left out of the build: they are not missing
        if lack and not any(problem.message.startswith("`programs`: ") for problem in self._problems.items):
            where = key_location(build.source[lack.key], build.where) if lack.key else build.where
            message = f"build `{build.family}` {lack.message}"
            self._problems.add(lack.code, where, message, lack.hint, len(lack.key or build.family))
        has_server = plugin.server or not runs_already(source)
        if not has_server:
            message = f"build `{build.family}`: {build.engine} is no server that could run already"
            where = key_location(build.source[SERVER], build.where)
            self._problems.add("wrong-source", where, message, width=len(SERVER))
        kind = source_kind(source)
        if kind in INSTALLED and not isinstance(plugin, DeclaredBuilds):
            where, hint = key_location(build.source[kind], build.where), "`engine: program` runs any program"
            message = f"build `{build.family}`: a {kind} source brings nothing that is known of {build.engine}"
            self._problems.add("wrong-source", where, message, hint, len(kind))
        if build.patches and kind is not None and kind not in TREES:  # an official library's client alone is compiled
            patch = build.patches[0]
            message = f"build `{build.family}`: a {kind} source brings no tree to patch"
            hint = f"leave `patches` out, or build from source: {', '.join(TREES)}"
            self._problems.add("patch-without-tree", patch.where, message, hint, width(patch))
        open_kinds = [] if build.version else list(_kinds_without_version(source))
        for kind in open_kinds:
            message = f"build `{build.family}` has no version, and its {kind} source names none"
            hint, length = "add `version:` or `versions:`", len(build.family)
            self._problems.add("missing-key", build.where, message, hint, length)
        return has_server and not faults and not open_kinds

    def _value_location(self, key: str) -> Location:
        return node_location(self._build.source[key], self._build.where)

    def _fault_node(self, fault: sources.SourceFault) -> tuple[Any, Location]:
        """Find the value that a fault is about, and the location of what holds it."""
        holder: Mapping[str, object] = self._build.source
        around = self._build.where
        for key in fault.inside:
            node = holder.get(key)
            holder, around = node if isinstance(node, Map) else {}, node_location(node, around)
        return holder.get(fault.key) if fault.key else None, around


def _plain(value: Any) -> Json:
    """Write a list of one as that one, so that the same source has one identity."""
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list) and len(value) != 1:
        return [str(part) for part in value]
    single = value[0] if isinstance(value, list) else value
    return str(single).lower() if isinstance(single, bool) else str(single)


def _locate(source: dict[str, Json], nodes: Any, where: Location) -> dict[str, Json]:
    """Make the paths of local trees relative to the file that names them, as those of includes and patches are."""
    for key, value in source.items():
        node = nodes.get(key) if isinstance(nodes, Mapping) else None
        around = node_location(node, where)
        if isinstance(value, dict):
            source[key] = _locate(value, node, around)
        elif key == "path" and isinstance(value, str):  # any other value is reported as no text
            source[key] = os.path.normpath(Path(around.file).parent / value)
        elif key == "git" and isinstance(value, str) and sources.LOCAL_REPOSITORY.fullmatch(value):
            source[key] = (Path(around.file).parent / value).resolve().as_uri()
    return source


def _kinds_without_version(source: Any) -> Iterator[str]:
    """List the kinds of a source, and of sources within it, that do not name a release."""
    kind = source_kind(source) if isinstance(source, Mapping) else None
    if kind is None:
        return
    names_release = "version" in source or re.search(_RELEASES.get(kind, r"\Z\A"), str(source[kind]))
    if kind in _VERSIONED and not names_release:
        yield kind
    for key in SOURCES[kind].nested:
        yield from _kinds_without_version(source.get(key))


# Libraries of scripts


class Libraries:
    """Requirements of a build, from its list, from a file that it names or from its scripts, in one spelling."""

    def __init__(self, spec: str, problems: Problems) -> None:
        self._spec, self._problems = spec, problems

    def declared(self, requirements: Text | Sequence[Text], scope: Scope) -> list[str]:
        """Resolve a list, or read the file of that name; AlreadyReported where something is wrong."""
        if isinstance(requirements, Text):
            return self._read(requirements)
        lines: list[Requirement] = []
        for text in requirements:
            value = Text(str(scope.value(text)), text.where)
            with self._reporting(value, f"`{value}`"):
                lines.append(parse_requirement(value))
        if len(lines) < len(requirements):
            raise AlreadyReported("requirements")
        return [*sorted_lines(lines)]

    def of_scripts(self, paths: Iterable[str], where: Location) -> list[str]:
        """Read the blocks of PEP 723 of scripts that the spec may read; of others the build reads them."""
        lines: list[Requirement] = []
        for path in paths:
            if may_read(path, self._spec) and files.holds_data(path):
                content = files.head(path)
                files.record_file(path, content)
                with self._reporting(Text(path, where), f"`{path}`"):
                    lines += script_requirements(content.decode(errors="replace")) or []
        return [*sorted_lines(lines)]

    def _read(self, name: Text) -> list[str]:
        path = str(Path(name.where.file).parent / name)
        if not check_may_read(path, self._spec, name, self._problems):
            raise AlreadyReported(path)
        with self._reporting(name, f"`{name}`"):
            try:
                content = files.head(path)
                files.record_file(path, content)
                return [*sorted_lines(parse_file(name, content.decode()))]
            except (OSError, ValueError) as error:
                hint = f"did you mean `[{name}]`?" if "==" in name else "a file of requirements, or a list in brackets"
                message = f"`{name}` cannot be read: {getattr(error, 'strerror', None) or error}"
                self._problems.add("file-not-found", name.where, message, hint, len(name))
        raise AlreadyReported(path)

    @contextmanager
    def _reporting(self, text: Text, subject: str) -> Iterator[None]:
        try:
            yield
        except RequirementsError as error:
            self._problems.add("wrong-source", text.where, f"{subject} {error}", error.hint, len(text))
