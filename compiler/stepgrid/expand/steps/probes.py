"""Probes, checked: each has one form, a name of its own, steps that there are, and an engine that takes it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase

from stepgrid.expand.builds import Build
from stepgrid.expand.step_entry import StepEntry
from stepgrid.expand.steps import placeholders
from stepgrid.language.models import Probe
from stepgrid.language.problems import Problems, nearest
from stepgrid.language.spec_file import Document
from stepgrid.language.yaml import Map, Seq
from stepgrid.plugins.driver import PLACEHOLDERS
from stepgrid.plugins.registry import engine


def check(document: Document, items: Iterable[StepEntry], builds: Collection[Build], problems: Problems) -> None:
    items = list(items)
    known = {name for item in items for name in (item.name, item.base)}
    listed = document.nodes.get("probes")
    for probe, node in zip(document.spec.probes, listed if isinstance(listed, Seq) else (), strict=True):
        given = node.at if isinstance(node, Map) else {}  # also what is of a wrong type, which is said
        if {"sql", "command"} <= given.keys() or not given.keys() & {"sql", "command"}:
            _complain(probe, "needs `sql` or `command`, one of them", problems)
        if not given.keys() & {"before", "after"}:
            _complain(probe, "needs `before` or `after`, with the steps that it is timed at", problems)
        for name in (*probe.before, *probe.after):
            if not any(_is(each, name) for each in known):
                message = f"probe `{probe.name}`: there is no step `{name}`"
                problems.add("undefined-name", name.where, message, nearest(name, known), len(name))
        if "command" not in given:
            _check_taken(probe, builds, problems)
        words, said = probe.command or (), f"probe `{probe.name}`: `command`"
        placeholders.check(said, words, probe.name.where, PLACEHOLDERS, problems)
    if document.spec.probes:
        _check_names(document.spec.probes, items, problems)


def times(item: StepEntry, patterns: Iterable[str]) -> bool:
    """Whether a probe that names its steps so is timed at this one."""
    return any(_is(name, pattern) for pattern in patterns for name in (item.name, item.base))


def _is(name: str, pattern: str) -> bool:
    """A name may have brackets in it."""
    return name == pattern or fnmatchcase(name, pattern)


def takes(build: Build, probe: Probe) -> bool:
    """SQL is for servers."""
    return probe.sql is None or engine(build.engine).server


def _complain(probe: Probe, message: str, problems: Problems) -> None:
    problems.add("probe-form", probe.name.where, f"probe `{probe.name}` {message}", width=len(probe.name))


def _check_taken(probe: Probe, builds: Collection[Build], problems: Problems) -> None:
    if builds and not any(takes(build, probe) for build in builds):
        engines = " or ".join(sorted({build.engine for build in builds}))
        message = f"no cell takes the probe `{probe.name}`: {engines} has no SQL"
        problems.add("unused-probe", probe.name.where, message, "`command` takes any program", len(probe.name))


def _check_names(listed: Sequence[Probe], items: Sequence[StepEntry], problems: Problems) -> None:
    """A step has one figure of each name."""
    from stepgrid.plugins.metrics import METRICS

    seen: set[tuple[str, str]] = set()
    for probe in listed:
        if probe.name in METRICS:
            message = f"`{probe.name}` is a metric already: a probe needs another name"
            problems.add("reserved-name", probe.name.where, message, width=len(probe.name))
        for pattern in (*probe.before, *probe.after):
            found = {item.name for item in items if times(item, (pattern,))}
            for name in sorted(found & {step for each, step in seen if each == probe.name}):
                message = f"step `{name}` has the probe `{probe.name}` already"
                problems.add("defined-twice", pattern.where, message, "each figure needs its name", len(pattern))
            seen |= {(probe.name, name) for name in found}
