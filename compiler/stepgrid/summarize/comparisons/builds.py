"""Builds of a report: where they come from, how they were made, and which of them get no verdict against each other.

Builds that were made differently (other compiler, suite, flags) are compared as shipped. Where one has assertions or
sanitizers, or is not optimized, and the other is not so, a ratio says more of that than of the engines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from stepgrid.language.sources import REQUIREMENTS
from stepgrid.model.plan import BUILD, LINK, PlannedAxis, recipe_flags
from stepgrid.model.records import Json, recipe_patches
from stepgrid.model.table import group
from stepgrid.plan.difference import CHECKSUM_DIGITS
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Run

NO_VERDICT, AS_SHIPPED = "no verdict", "as shipped"
LIBRARY, RUNNING = "library", "server"  # routes
PUBLISHED = ("debian", "maven", "pypi", LIBRARY)  # routes whose binaries somebody made for production
NOT_RECORDED = "unknown"
Quality = Mapping[str, Json]

_RUNNING_SERVER = "which already ran: its configuration, compiler, flags, patches and other clients are not known"
_NAMES: Mapping[str, str] = MappingProxyType(
    {"route": "made as", "march": "-march", "sha256": "checksum", "optimisation": "optimization"}
)
_ROUTES: Mapping[str, str] = MappingProxyType(
    {
        "source": "compiled from source",
        LIBRARY: "an official library, with only the client compiled",
        "debian": "Debian packages",
        "maven": "published binaries (Maven)",
        "pypi": "published binaries (PyPI)",
        "requirements": "Python with its libraries",
        "cargo": "compiled by cargo",
        "go": "compiled by go",
        "npm": "installed by npm",
        "system": "a program of this machine",
        RUNNING: "a server that already ran",
    }
)
# what decides most first
_ORDER = ("route", "suite", "compiler", "optimisation", "march", "assertions", "architecture")
# of cc, meson, cmake and RocksDB's Makefile, and of the warnings of a server that says so itself
_SANITIZER = re.compile(
    r"-fsanitize=([\w,]+)|b_sanitize=([\w,]+)|WITH_([ATUM]+SAN)\W+(?:1|ON|on|true)|\((asan|tsan|ubsan|msan)\)|(valgrind)"
)


class ReportedBuild(Struct, frozen=True):
    id: str
    name: str
    version: str | None = None
    route: str | None = None
    artifacts: Sequence[Mapping[str, str]] = ()
    warnings: Sequence[str] = ()
    quality: Quality | None = None
    client: bool = False  # of steps; no cell's engine
    patches: Sequence[str] = ()
    sanitizers: str = "none"
    checksum: str = ""  # of all its files; older records have none

    @property
    def title(self) -> str:
        return f"{self.name} (client)" if self.client else self.name

    @property
    def versioned_name(self) -> str:
        version = self.version or ""
        has_version = version in (*self.title.split("-"), NOT_RECORDED)
        return self.title if has_version else f"{self.title} {version}".rstrip()

    @property
    def origin(self) -> str:
        """Describe the origin of its main program: `debian, rocksdb-tools 7.8.3-2`."""
        # of packages that a spec names the server may come last
        servers = (artifact for artifact in self.artifacts if artifact["name"].endswith("-server-core"))
        first = next(servers, self.artifacts[0] if self.artifacts else None)
        made_as = (self.quality or {}).get("route")
        name = f"{first['name']} {first['version']}".rstrip() if first else ""  # a folder has no version
        parts = (
            *(
                (f"from the folder {'of the spec' if name == '.' else name}",)
                if self.route == "path"
                else (self.route, name)
            ),
            _RUNNING_SERVER if made_as == RUNNING else None,
            "the official library; only db_bench is compiled" if made_as == LIBRARY else None,
            f"patched: {', '.join(self.patches)}" if self.patches else None,
        )
        return ", ".join(filter(None, parts)) or ("origin not recorded" if self.quality else "not built")

    @property
    def is_from_library(self) -> bool:
        """Decide if nothing of the engine was compiled: the fast way."""
        return (self.quality or {}).get("route") == LIBRARY

    @property
    def artifact_rows(self) -> list[tuple[str, ...]]:
        return [tuple(artifact[name] for name in ("name", "version", "digest")) for artifact in self.artifacts]

    @property
    def quality_text(self) -> str:
        return "; ".join(f"{name} {value}" for name, value in quality_rows(self.quality or {}))


def builds(
    facts: Mapping[str, Mapping[str, str]], runs: Iterable[Run], axes: Iterable[PlannedAxis]
) -> dict[str, ReportedBuild]:
    """Read the builds of the environment table, by id, in the order of the axis and under the names of this report."""
    labels = [label for axis in axes if axis.name == BUILD for label in axis.labels]
    runs = list(runs)
    clients = {run.client_id for run in runs}
    names = group(dict.fromkeys((run.build_id, run.build) for run in runs if run.build in labels))
    position = {node: min(map(labels.index, labels_of)) for node, labels_of in names.items()}
    nodes = sorted(facts, key=lambda node: position.get(node, len(labels)))
    return {
        node: _build(node, facts[node], sorted(names.get(node, ()), key=labels.index), node in clients)
        for node in nodes
    }


def _build(node: str, record: Mapping[str, str], names: Sequence[str], is_client: bool) -> ReportedBuild:
    def parsed(name: str, default: Any) -> Any:
        return json.loads(record[name]) if name in record else default

    warnings, quality = parsed("warnings", []), parsed("quality", None)
    recipe: Mapping[str, Json] = parsed("declared", {}).get("recipe", {})
    texts = [json.dumps(recipe_flags(recipe)), *warnings]
    sanitizers = {name.lower() for text in texts for match in _SANITIZER.findall(text) for name in match if name}
    link = f", link {recipe[LINK]}" if LINK in recipe and names else ""
    return ReportedBuild(
        node,
        ", ".join(names) + link or record.get("name", node),  # the record has the name of the spec that made it
        version_text(record.get("version"), record.get("route")),
        record.get("route"),
        parsed("artifacts", []),
        warnings,
        quality,
        is_client,
        [PurePosixPath(patch.path).name for patch in recipe_patches(recipe)],
        ", ".join(sorted(sanitizers)) or "none",
        record.get("checksum", ""),
    )


def version_text(version: str | None, route: str | None) -> str:
    """Leave out an unknown version where libraries with theirs follow."""
    return "" if version is None or (version == NOT_RECORDED and route == REQUIREMENTS) else version


# Which builds get a verdict against each other


def refusal(builds: Mapping[str, ReportedBuild], point: Point, base: Point, is_strict: bool = False) -> str | None:
    """Say why two points get no verdict for how their engines or clients were made; None where they get one."""
    return next(filter(None, (pair.refusal(is_strict) for pair in _pairs(builds, point, base))), None)


def difference(builds: Mapping[str, ReportedBuild], point: Point, base: Point) -> str | None:
    """Say how the engines or clients of two points were made differently."""
    return next(filter(None, (pair.difference for pair in _pairs(builds, point, base))), None)


def deciding_differences(builds: Iterable[ReportedBuild]) -> list[str]:
    """List what keeps some of these builds from a verdict: `assertions yes / no`."""
    checks = [_checks(build) for build in builds]
    values = {name: dict.fromkeys(check[name] for check in checks) for name in (checks[0] if checks else ())}
    return [f"{name} {' / '.join(texts)}" for name, texts in values.items() if len(texts) > 1]


class _Pair(Struct, frozen=True):
    names: str
    base: ReportedBuild | None
    arm: ReportedBuild | None

    def refusal(self, is_strict: bool) -> str | None:
        if self.base is None or self.arm is None or self.base.quality is None or self.arm.quality is None:
            return self.difference
        if RUNNING in (self.base.quality.get("route"), self.arm.quality.get("route")):
            return self.difference
        if differing := deciding_differences((self.base, self.arm)):
            return f"{self.names} were built differently: {'; '.join(differing)}"
        return self.difference if is_strict else None

    @property
    def difference(self) -> str | None:
        before, after = (build.quality if build else None for build in (self.base, self.arm))
        if before is None or after is None:
            return f"{self.names}: what one of them was built with is not recorded"
        if before == after:
            return None
        return f"{self.names} were built differently: {'; '.join(quality_differences([before, after]))}"


def _pairs(builds: Mapping[str, ReportedBuild], point: Point, base: Point) -> Iterator[_Pair]:
    """Yield the engines, then the clients, where they are not the same build."""
    before, after = base.runs[0], point.runs[0]
    if before.build_id != after.build_id:
        yield _Pair(f"{base.build} and {point.build}", builds.get(before.build_id), builds.get(after.build_id))
    if before.client_id and after.client_id and before.client_id != after.client_id:
        clients = builds.get(before.client_id), builds.get(after.client_id)
        ids = before.client_id, after.client_id
        names = [build.name if build else node for build, node in zip(clients, ids, strict=True)]
        yield _Pair(f"the clients {names[0]} and {names[1]}", *clients)


def _checks(build: ReportedBuild) -> dict[str, str]:
    """List what two builds must have in common for a verdict."""
    quality = build.quality or {}
    return {
        "assertions": value_text(quality.get("assertions")),
        "sanitizers": build.sanitizers,
        "optimization": _optimization(quality),
    }


def _optimization(quality: Quality) -> str:
    levels = str(quality.get("optimisation") or NOT_RECORDED)
    if "command" in quality:  # a program of the spec's own: the last level of its command line counts
        options = re.findall(r"(?<!\w)-O\w*", f"{quality['command']} {json.dumps(quality.get('environment', {}))}")
        levels = options[-1] if options else NOT_RECORDED
    if levels == NOT_RECORDED:
        return "yes" if quality.get("route") in PUBLISHED else NOT_RECORDED
    return "no" if set(levels.split(" + ")) == {"-O0"} else "yes"


# How builds were made, in words


def quality_rows(quality: Quality) -> list[tuple[str, str]]:
    return [(_NAMES.get(name, name), _quality_text(name, quality[name])) for name in _ordered(quality)]


def quality_differences(qualities: Iterable[Quality]) -> list[str]:
    """List what is not the same in all, what decides most first: `suite bullseye / bookworm`."""
    qualities = list(qualities)
    names = _ordered(name for quality in qualities for name in quality)
    if len({quality.get("route") for quality in qualities}) > 1:  # what only one route records says nothing beyond it
        names = [name for name in names if all(name in quality for quality in qualities)]
    values = {name: dict.fromkeys(_quality_text(name, quality.get(name)) for quality in qualities) for name in names}
    return [f"{_NAMES.get(name, name)} {' / '.join(texts)}" for name, texts in values.items() if len(texts) > 1]


def _ordered(names: Iterable[str]) -> list[str]:
    return sorted(set(names), key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name))


def _quality_text(name: str, value: Any) -> str:
    if name == "route":
        return _ROUTES.get(str(value), value_text(value))
    if name == "sha256" and isinstance(value, Mapping):
        return ", ".join(f"{program} {str(digest)[:CHECKSUM_DIGITS]}…" for program, digest in value.items())
    return value_text(value)


def value_text(value: Any) -> str:
    if value is None:
        return NOT_RECORDED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {value_text(inner)}" for name, inner in value.items()) or "none"
    return ", ".join(map(value_text, value)) or "none" if isinstance(value, list | tuple) else str(value)
