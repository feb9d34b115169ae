"""What is compared with what, and whether it is repeated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stepgrid.expand.builds import Build
from stepgrid.language.sources import TREES, source_kind
from stepgrid.lint.rule import Finding, Rule
from stepgrid.lint.subject import Subject
from stepgrid.model.plan import CLIENT
from stepgrid.plugins.engine import Published
from stepgrid.plugins.registry import build_systems, engine

_QUALITY = ("suite", "server")  # of a source: another suite is another compiler, of two servers nothing is known
# of flags: what decides how fast the code is; the rest says what is in it
_OWN = ("command", "system", "cc", "cxx", "cflags", "cxxflags", "march", "assertions", "type")
_SYSTEMS = ("OPTIMIZE_LEVEL", "DEBUG_LEVEL", "PORTABLE", "CMAKE_BUILD_TYPE", "CMAKE_C_FLAGS", "CMAKE_CXX_FLAGS")
_FLAGS = frozenset((*_OWN, *_SYSTEMS))


def _no_base(subject: Subject) -> Iterator[Finding]:
    base = {axis: str(label) for axis, label in subject.spec.report.base.items()}
    if not base or not _there(subject, base):
        return  # an axis or a label that there is not is an error, and said
    if any(_agree(subject.labels(position), base) for position in range(len(subject.cells))):
        return
    said = ", ".join(f"{axis} {label}" for axis, label in base.items())
    message = f"no cell is at the base, {said}: nothing can be compared with it"
    yield Finding(subject.places.key("report", "base"), message, "`exclude` or a point's `when` leaves it out", width=4)


def _there(subject: Subject, base: Mapping[str, str]) -> bool:
    labels = {axis.name: {point.label for point in axis.points} for axis in subject.expansion.axes}
    labels["build"] = {build.name for build in subject.expansion.builds}
    return all(label in labels.get(axis, ()) for axis, label in base.items())


def _agree(labels: Mapping[str, str], base: Mapping[str, str]) -> bool:
    return all(labels.get(axis) == label for axis, label in base.items())


def _mixed(subject: Subject) -> Iterator[Finding]:
    """Builds made differently, where the report compares builds; or the clients that run one step."""
    if compares_builds(subject):
        by_engine: dict[str, list[Build]] = {}
        for build in subject.expansion.builds:
            by_engine.setdefault(build.engine, []).append(build)
        for builds in by_engine.values():
            yield from _made_differently("builds", builds)
    if compares_builds(subject, *_axes_of_clients(subject)):
        for clients in _clients(subject).values():
            yield from _made_differently("clients", clients)


def _made_differently(what: str, builds: Sequence[Build]) -> Iterator[Finding]:
    ways: dict[str, Build] = {}
    for build in builds:
        ways.setdefault(_how(build), build)
    if len(ways) > 1:
        second = list(ways.values())[1]
        listed = "; ".join(f"{build.name}: {how}" for how, build in ways.items())
        message = f"{what} of different quality are compared: {listed}"
        hint = "one route and one compiler for all; otherwise there are ratios, marked, and no verdict"
        yield Finding(second.where, message, hint, width=len(second.family))


def _clients(subject: Subject) -> dict[str, list[Build]]:
    """By step, with their sources as they are."""
    made = {build.name: build for build in subject.expansion.clients}
    found: dict[str, list[Build]] = {}
    for row in subject.table.rows:
        if (client := row.step.setup.client) is not None:
            found.setdefault(row.step.head.name, []).append(made[client.name])
    return found


def _axes_of_clients(subject: Subject) -> list[str]:
    axes = subject.expansion.axes
    return [axis.name for axis in axes if any(CLIENT in (point.params or {}) for point in axis.points)]


def compares_builds(subject: Subject, *others: str) -> bool:
    """A base of other axes is compared with cells of its own build."""
    base: Mapping[str, Any] = subject.spec.report.base
    return not base or not base.keys().isdisjoint(("build", *others))


def _how(build: Build) -> str:
    """As the finished build's quality will have it: source march native, library, debian bookworm, system …"""
    source = build.source
    kind = source_kind(source) or ""
    if kind in TREES and (kind != "pypi" or source.get("kind") == "sdist"):
        default = {"system": (*build_systems(build.engine), "")[0], "assertions": "false"}
        flags = {**default, **{name: str(said) for name, said in build.recipe.get("flags", {}).items()}}
        chosen = sorted(name for name in _FLAGS & flags.keys() if flags[name] != default.get(name))
        return ", ".join(["compiled from source", *(f"{name} {flags[name]}" for name in chosen)])
    if kind == "maven" and isinstance(engine(build.engine), Published):
        return "official library"
    return " ".join([kind, *(str(source[name]) for name in _QUALITY if name in source)])


_REPEAT = "`repeat: 3`; one load gives ratios and at most the word indicative"


def _once(subject: Subject) -> Iterator[Finding]:
    repeat = subject.spec.repeat
    if len(subject.cells) < 2 or repeat.highest > 1:
        return
    message = f"{len(subject.cells):,} cells are compared and each is loaded once: there can be no verdict"
    if repeat.runs > 1:
        message = f"{repeat.runs} runs of one load are no repeats: they share its tree, so there can be no verdict"
    yield Finding(subject.places.key("repeat"), message, _REPEAT, width=6 if "repeat" in subject.document.nodes else 5)


RULES = (
    Rule("base-without-cell", "a base that no cell is at", _no_base),
    Rule("mixed-quality", "builds of different quality in one comparison", _mixed),
    Rule("no-repeats", "a comparison without repeated loads", _once),
)
