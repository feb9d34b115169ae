"""A spec file to its plan: the one entry for the command line and for Snakemake."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from stepgrid.expand.builds import Build
from stepgrid.expand.cells import Expansion, expand
from stepgrid.expand.definitions import Differs, stands_in_for_none
from stepgrid.language import lock_file
from stepgrid.language.expressions import BUDGET
from stepgrid.language.problems import Location, Problem, Problems, SpecError
from stepgrid.language.spec_file import Document, read_spec
from stepgrid.language.yaml import Map, load
from stepgrid.lint import runner as lint
from stepgrid.model.plan import Plan
from stepgrid.plan import builds, pins, report_check
from stepgrid.plan.assembly import assemble
from stepgrid.plan.order import NO_RECORDS, LoadRecords
from stepgrid.plan.stage_tree import Choice, todays

Judge: TypeAlias = Callable[[Plan], Iterable[Problem]]


def compile_spec(
    path: str,
    scale: str | None,
    host: Mapping[str, Any],
    pin: pins.OfMachine = lambda source: "",
    problems: Problems | None = None,
    only: str | None = None,
    sets: Sequence[str] = (),
    differs: Differs = stands_in_for_none,
    made: builds.OfStore = lambda node: None,
    choice: Choice = todays,
    requested: LoadRecords = NO_RECORDS,
) -> Plan:
    """SpecError holds all that is wrong. `pin` says what holds a build's source still; `problems` gets the warnings.

    `only`: the cells for which an expression holds; `sets`: PATH=VALUE, other values than the spec's.
    `differs`: where this host is not a machine that it stands in for. `made`: what the store has of a build.
    `choice`: of the ids of a stage the one under which its results lie.
    `requested`: which loads the store has, and which were asked for, where `repeat` says `until`.
    """
    found = problems or Problems()
    document = read_spec(os.path.normpath(path), scale, found, sets)
    if document is None:
        raise SpecError(found.items)
    with BUDGET.of_spec():
        expansion = _expanded(document, host, found, only, differs)
    if found.errors:
        _check_declared(document, only, found)
    else:
        lint.check(document, expansion, found)
    every = (*expansion.builds, *expansion.clients)
    held = _pins(document.path, every, pin, found)
    if not (document.spec.scales or scale or only or sets or found.errors):  # else other builds may use the rest
        _warn_of_unused(document.path, (build.source for build in every), found)
    draft = Problems() if found.errors else found
    plan = assemble(document, expansion, held, draft, bool(only or found.errors), made, choice, requested)
    if found.errors:
        raise SpecError(found.items, plan)
    return plan


def check_scales(
    path: str,
    host: Mapping[str, Any],
    problems: Problems,
    differs: Differs = stands_in_for_none,
    base: Plan | None = None,
    judge: Judge = lambda plan: (),
) -> None:
    """Adds what is wrong in the scales of a spec that is not wrong without them, with the scales' names.

    `base`: the plan of the spec without a scale; with it, also what the lock file holds and no scale uses.
    `judge`: what is wrong with the plan of a scale.
    """
    known = {_key(problem) for problem in problems.items}
    found: dict[Problem, list[str]] = {}
    plans = [base]
    for scale in scales(path):
        plan, draft, errors = _compiled(path, scale, host, differs)
        plans.append(plan)
        for problem in (*errors, *(judge(draft) if draft else ())):
            if _key(problem) not in known:
                found.setdefault(problem, []).append(f"`{scale}`")
    whole = [plan for plan in plans if plan is not None]
    if len(whole) == len(plans):
        _warn_of_unused(os.path.normpath(path), (build.source for plan in whole for build in plan.builds), problems)
    for problem, names in found.items():
        several = "s" if len(names) > 1 else ""
        problems.append(problem._replace(message=f"scale{several} {', '.join(names)}: {problem.message}"))


def _expanded(
    document: Document, host: Mapping[str, Any], problems: Problems, only: str | None, differs: Differs
) -> Expansion:
    try:
        return expand(document, host, problems, only, differs)
    except SpecError:
        _check_declared(document, only, problems)
        lock_file.read(document.path, problems)
        raise SpecError(problems.items) from None


def _check_declared(document: Document, only: str | None, problems: Problems) -> None:
    """Check what needs no cells."""
    lint.check_codes(document, problems)
    if only is None:
        report_check.check_declared(document, problems)


def _key(problem: Problem) -> tuple[str, Location, str]:
    return problem.code, problem.where, problem.message


def scales(path: str) -> list[str]:
    """The names of a spec's scales. A file without the word has none, and is not read by YAML for it."""
    with suppress(OSError):
        if b"scales" not in Path(path).read_bytes():
            return []
    nodes = load(os.path.normpath(path), Problems())
    found = nodes.get("scales") if nodes is not None else None
    return list(found) if isinstance(found, Map) else []


def _compiled(
    path: str, scale: str, host: Mapping[str, Any], differs: Differs
) -> tuple[Plan | None, Plan | None, Sequence[Problem]]:
    """The plan, or the draft of a wrong one, and the errors."""
    try:
        plan = compile_spec(path, scale, host, differs=differs)
        return plan, plan, ()
    except SpecError as error:
        return None, error.draft, [problem for problem in error.problems if problem.severity == "error"]


def _pins(spec: str, every: Sequence[Build], machine: pins.OfMachine, problems: Problems) -> dict[str, pins.Pins]:
    locked = lock_file.read(spec, problems)
    return {build.name: pins.pins(build, spec, locked, machine, problems) for build in every}


def _warn_of_unused(spec: str, sources: Iterable[Mapping[str, Any]], problems: Problems) -> None:
    lock_file.warn_of_unused(lock_file.read(spec, Problems()), pins.used(sources), problems)
