"""Newest releases: what the registry of a source lists, and which of them answer a question of a spec."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

from stepgrid.build.commands import Commands
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import ListedSource, Order, source_of
from stepgrid.host.files import write_text
from stepgrid.language import lock_file
from stepgrid.language.lock_file import Releases
from stepgrid.language.problems import Problems
from stepgrid.language.scalars import Version
from stepgrid.language.sources import (
    LISTED_KINDS,
    ReleaseQuestion,
    open_source,
    release_text,
    source_faults,
    source_key,
    source_kind,
)
from stepgrid.model.plan import PlannedBuild
from stepgrid.model.site import Site
from stepgrid.plugins.engine import Built
from stepgrid.plugins.registry import engine

_EXPRESSION = re.compile(r"\{\{(.*)\}\}", re.DOTALL)
_PARTS = {"all": 0, "each major": 1, "each minor": 2}  # of a version, by which releases are grouped


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers to the questions of a spec: those of the lock file, and of registries to questions that it lacks."""

    site: Site
    spec: str = ""  # into whose lock file an answer of a registry is written at once, and told in a line
    renew: bool = False  # ask all questions again; where a registry fails, the answer of the lock file stays
    report: Callable[[str], None] = lambda key: None  # gets each question before a registry is asked
    releases: dict[str, Releases] = field(default_factory=dict)  # by question
    failed: dict[str, str] = field(default_factory=dict)

    def find(self, question: ReleaseQuestion, locked: Releases) -> Releases:
        if question.key not in self.releases:
            is_enough = locked and not self.renew
            self.releases[question.key] = locked if is_enough else self._ask(question, locked)
        return self.releases[question.key]

    def _ask(self, question: ReleaseQuestion, locked: Releases) -> Releases:
        self.report(question.key)
        try:
            releases = answer(question, self.site)
            if self.spec:
                path, lock = lock_file.path(self.spec), lock_file.read(self.spec, Problems())
                write_text(path.resolve(), lock_file.text(lock.pins, {**lock.versions, question.key: releases}))
                print(f"{path}: {question.key}: {', '.join(releases)}", file=sys.stderr)
        except (BuildError, OSError) as error:
            if not locked:
                raise BuildError(str(error)) from None
            self.failed[question.key] = str(error)
            return locked
        return releases


def answer(question: ReleaseQuestion, site: Site) -> Releases:
    """Ask the registry for the newest releases, the oldest first. A BuildError says why there are none."""
    releases = list_releases(question.source, site)
    newest = choose(releases, question)
    if not newest:
        fault = f"from {question.first} on: the newest is {max(releases, key=Version)}" if releases else ""
        raise BuildError(f"{source_key(question.source)} has no release {fault or 'whose version is numbers alone'}")
    return {version: releases[version] for version in newest}


def choose(versions: Iterable[str], question: ReleaseQuestion) -> list[str]:
    """Choose the newest, or so many of each group, in ascending order."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for version in sorted(versions, key=Version):
        if Version(version) >= question.first:
            parts = [*version.split("."), "0"]  # 2 is 2.0
            groups.setdefault(tuple(parts[: _PARTS[question.group]]), []).append(version)
    return [version for group in groups.values() for version in group[-question.number :]]


def list_releases(source: Mapping[str, Any], site: Site) -> Releases:
    """List all releases of an open source, without release candidates and the like; of Debian, series by suite."""
    prefix, suffix, separators = "", "", "."
    if match := _EXPRESSION.search(text := release_text(source)):
        prefix, suffix = text[: match.start()], text[match.end() :]
        separators = "._" if "_" in match[1] else "."  # REL_{{ version | replace('.', '_') }}
    release = re.compile(rf"{re.escape(prefix)}(\d+(?:[{separators}]\d+)*){re.escape(suffix)}", re.ASCII)
    suites = source.get("suite", "")
    releases: dict[str, str] = {}
    for suite in suites if isinstance(suites, list) else [suites]:
        for name in _names({**source, **({"suite": suite} if suite else {})}, site):
            if match := release.fullmatch(name):
                releases.setdefault(match[1].replace("_", "."), suite)
    return releases


def _names(source: Mapping[str, Any], site: Site) -> Sequence[str]:
    """Ask a registry for the names of a source's releases."""
    sample = {key: _EXPRESSION.sub("1", value) if isinstance(value, str) else value for key, value in source.items()}
    for fault in source_faults(sample):  # these words reach a command line
        raise BuildError(f"the source cannot be used: {fault.message}")
    route = source_of(source)
    assert isinstance(route, ListedSource)
    with tempfile.TemporaryDirectory(prefix="stepgrid-newest-") as name:
        folder = Path(name)
        build = PlannedBuild("", source_key(sample), "program", "", sample)
        order = Order(build, cast(Built, engine("program")), folder, Commands(folder / "log", folder), site)
        return route.list_versions(sample, order)


# Builds that a spec has, beside the newest release of their registry


class Outlook(NamedTuple):
    """Builds of one registry, the newest version that they use, and the newest that there is."""

    builds: Sequence[str]
    used: str
    newest: str  # empty: nobody lists any, or the registry failed
    registry: str
    failure: str = ""

    @property
    def is_outdated(self) -> bool:
        return bool(self.newest and self.used) and Version(self.newest) > self.used


def outlooks(builds: Iterable[PlannedBuild], site: Site, report: Callable[[str], None]) -> Iterator[Outlook]:
    """Ask the registry of each build for its newest release; `report` gets its name before."""
    groups: dict[str, list[PlannedBuild]] = {}
    for build in builds:
        groups.setdefault(source_key(_reopen(build)), []).append(build)
    for group in groups.values():
        source, newest, failure = _reopen(group[0]), "", ""
        kind, text = source_kind(source) or "", release_text(source)
        registry = source_key({key: source[key] for key in (kind, "suite") if key in source}).removesuffix(f":{text}")
        if kind in LISTED_KINDS and (not text or _EXPRESSION.search(text)):
            report(registry)
            try:
                newest = max(list_releases(source, site), key=Version, default="")
            except (BuildError, OSError) as error:
                failure = str(error)
        versions = {build.name: build.version for build in group}
        names = sorted(versions, key=lambda name: Version(versions[name]))
        used = versions[names[-1]]  # Debian's releases are series: 1.0 holds 1.0.20
        yield Outlook(names, used, used if used.startswith(f"{newest}.") else newest, registry, failure)


def _reopen(build: PlannedBuild) -> dict[str, Any]:
    """Leave the version of a resolved source open again: v{{ _ }}."""
    source, text = open_source(build.source), release_text(build.source)
    pattern = re.escape(build.version).replace(r"\.", "[._]")
    key = {"git": "ref", "maven": "maven"}.get(source_kind(source) or "", "version")
    if build.version and (match := re.search(rf"(?<!\d){pattern}(?!\d)", text)):
        opened = f"{text[: match.start()]}{{{{ _ }}}}{text[match.end() :]}"
        source[key] = f"{str(source[key]).removesuffix(text)}{opened}"
    return source
