"""The spec's builds: `extends` and `versions` written out, each a member of its family."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from stepgrid.expand.definitions import ResolvedDefinitions, place_of_build
from stepgrid.expand.inheritance import chain
from stepgrid.language import models
from stepgrid.language.flags import flag_faults
from stepgrid.language.models import Service
from stepgrid.language.problems import Location, Problems, close_names, nearest
from stepgrid.language.sources import SOURCES, extension_faults
from stepgrid.language.spec_file import Document
from stepgrid.language.yaml import Text, key_location, node_location
from stepgrid.plugins.driver import SERVER_PLACEHOLDERS, SERVICE_PLACEHOLDERS
from stepgrid.plugins.engine import DeclaredBuilds
from stepgrid.plugins.registry import ENGINES, build_systems
from stepgrid.plugins.registry import engine as engine_named


@dataclass(frozen=True, slots=True, eq=False)
class Build:
    """One build of the spec; its source may still depend on the version."""

    name: str
    family: str
    engine: str
    version: str
    source: Mapping[str, Any]
    options: tuple[Any, ...]
    params: tuple[Mapping[str, Any], ...]  # nearest last
    where: Location
    patches: tuple[Text, ...] = ()
    recipe: Mapping[str, Any] = field(default_factory=dict)  # flags, extensions
    service: Service | None = None  # of a server program that no engine here knows

    @property
    def reached(self) -> tuple[str, ...]:
        """The placeholders by which a command finds the server of its stage."""
        if engine_named(self.engine).server:
            return SERVER_PLACEHOLDERS
        return () if self.service is None else SERVICE_PLACEHOLDERS


def resolve(document: Document, defined: ResolvedDefinitions, problems: Problems) -> list[Build]:
    builds: list[Build] = []
    for family, definition in document.spec.builds.items():
        if not definition.abstract:
            builds += members(family, document, defined, problems)
    return _unique(builds, problems)


def members(family: str, document: Document, defined: ResolvedDefinitions, problems: Problems) -> list[Build]:
    """What one definition comes to, the spec's own or an include's: a build for each of its versions."""
    links = _links(family, document, defined, problems)
    return _members(family, links, _known(document, defined), place_of_build(document, family), problems)


def outline(family: str, document: Document, defined: ResolvedDefinitions) -> tuple[str | None, list[str]]:
    """Its engine, and the names of its builds. What is wrong with it is said where it is used."""
    links = _links(family, document, defined, Problems())
    return _last(links, "engine"), [name for name, _ in _versions(family, links)]


def _known(document: Document, defined: ResolvedDefinitions) -> Iterator[str]:
    """For hints: as each of thousands of builds may need one, nothing is made of them before."""
    yield from document.spec.builds
    yield from defined.builds


def _links(family: str, document: Document, defined: ResolvedDefinitions, problems: Problems) -> list[models.Build]:
    own = document.spec.builds

    def parent(child: str, name: str) -> models.Build | None:
        return (own.get(name) if name != child else None) or defined.builds.get(name)

    first = own.get(family) or defined.builds[family]
    return chain(family, first, parent, _known(document, defined), problems)


def _members(
    family: str, links: Sequence[models.Build], known: Iterable[str], where: Location, problems: Problems
) -> list[Build]:
    engine = _last(links, "engine")
    versions = _once(family, _versions(family, links), where, problems)
    source = _source(links)
    if engine is None and links[0].extends is not None:
        return []  # what it extends is not there, which is said
    if not _check(family, engine, known, where, problems):
        engine = next(iter(get_close_matches(str(engine), ENGINES.names(), n=1)), None)  # what is probably meant
    if engine is None:
        return []
    options = tuple(layer for link in links for layer in link.options)
    params = tuple(link.params for link in links)
    patches = tuple(patch for link in links for patch in link.patches)
    recipe = {kind: said for kind in ("flags", "extensions") if (said := _joined(links, kind))}
    for fault in extension_faults(recipe.get("extensions", {}), str(engine), engine_named(str(engine)).extensions):
        problems.add(fault.code, where, f"build `{family}`: {fault.message}", fault.hint, len(family))
    flags, known_systems = recipe.get("flags", {}), build_systems(str(engine))
    of_systems, found = flag_faults(flags, known_systems) if known_systems else (), engine_named(str(engine))
    for fault in found.flag_faults(flags) if isinstance(found, DeclaredBuilds) else of_systems:
        key = str(fault.key)
        named = [link.flags[key] for link in links if key in link.flags]
        message = f"build `{family}`: {fault.message}"
        problems.add(fault.code, key_location(named[-1], where), message, fault.hint, len(key))
    service = _service(family, links, str(engine), problems)
    return [
        Build(name, family, str(engine), str(version), source, options, params, where, patches, recipe, service)
        for name, version in versions
    ]


def _service(family: str, links: Sequence[models.Build], engine: str, problems: Problems) -> Service | None:
    """The nearest, as a whole."""
    found: Service | None = _last(links, "service")
    if found is None or isinstance(engine_named(engine), DeclaredBuilds):
        return found
    where = node_location(found.argv[0], Location("", 1, 1))
    others = "` or `".join(name for name in ENGINES.names() if isinstance(engine_named(name), DeclaredBuilds))
    message = f"build `{family}`: `service` is for the engine `{others}`, found `{engine}`"
    hint = f"{engine} is started by stepgrid itself" if engine_named(engine).server else "leave `service` out"
    problems.add("wrong-source", where, message, hint)
    return None


def _joined(links: Sequence[models.Build], kind: str) -> dict[str, str]:
    return {name: str(value) for link in links for name, value in getattr(link, kind).items()}


def _versions(family: str, links: Sequence[models.Build]) -> list[tuple[str, str]]:
    for link in reversed(links):
        if link.versions is not None:
            return [(f"{family}-{version}", version) for version in link.versions]
        if link.version is not None:
            return [(family, link.version)]
    return [(family, "")]


def _once(
    family: str, versions: Iterable[tuple[str, str]], where: Location, problems: Problems
) -> list[tuple[str, str]]:
    found: dict[str, str] = {}
    for name, version in versions:
        if name in found:
            second = node_location(version, where)
            problems.add("defined-twice", second, f"two builds are named `{name}`", width=len(version))
        found[name] = version
    return list(found.items())


def _source(links: Sequence[models.Build]) -> dict[str, Any]:
    """A source of another kind replaces; one of the same kind, or of no kind, adds to what is there."""
    source: dict[str, Any] = {}
    for link in links:
        given = link.source or {}
        kind = next((key for key in given if key in SOURCES), None)
        source = dict(given) if kind is not None and kind not in source else {**source, **given}
    return source


def _check(family: str, engine: Text | None, known: Iterable[str], where: Location, problems: Problems) -> bool:
    if engine is None and problems.unread:
        return False
    if engine is None:
        hint = f"add `engine:`, or `extends:` a build that has one; {nearest('', ENGINES.names())}"
        others = [each for each in known if each != family]
        if close_names(family, others):
            hint = nearest(family, others)
        problems.add("missing-key", where, f"build `{family}` has no engine", hint, len(family))
        return False
    if engine not in ENGINES.names():
        problems.add("undefined-name", engine.where, *ENGINES.unknown(engine))
        return False
    return True


def _last(links: Sequence[models.Build], field: str) -> Any:
    return next((value for link in reversed(links) if (value := getattr(link, field)) is not None), None)


def _unique(builds: list[Build], problems: Problems) -> list[Build]:
    seen: dict[str, Build] = {}
    for build in builds:
        if build.name in seen:
            problems.add("defined-twice", build.where, f"two builds are named `{build.name}`", width=len(build.family))
        seen[build.name] = build
    return list(seen.values())
