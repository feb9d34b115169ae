"""A spec file to its plan: the one entry for the command line and for Snakemake."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from compiler import lint
from compiler.expand.builds import Build
from compiler.expand.cells import expand
from compiler.language import lock
from compiler.language.load import load
from compiler.language.nodes import Map
from compiler.language.problem import Problem, Problems, SpecError, Where
from compiler.language.read import read
from compiler.plan.assemble import assemble
from compiler.plan.model import Plan
from compiler.plan.uncollected import uncollected


def compile_spec(
    path: str,
    scale: str | None,
    host: Mapping[str, Any],
    pin: Callable[[Mapping[str, Any]], str] = lambda source: "",
    problems: Problems | None = None,
    only: str | None = None,
    sets: Sequence[str] = (),
) -> Plan:
    """SpecError holds all that is wrong. `pin` says what holds a build's source still; `problems` gets the warnings.

    `only`: the cells for which an expression holds; `sets`: PATH=VALUE, other values than the spec's.
    """
    found = problems or Problems()
    with uncollected():
        document = read(os.path.normpath(path), scale, found, sets)
        if document is None:
            raise SpecError(found.found)
        expansion = expand(document, host, found, only)
        lint.check(document, expansion, found)
        pins = _pins(document.path, expansion.builds, pin, found)
        return assemble(document, expansion, pins, found)


def check_scales(path: str, host: Mapping[str, Any], problems: Problems) -> None:
    """Adds what is wrong in the scales of a spec that is not wrong without them, with the scales' names."""
    known = {_key(problem) for problem in problems.found}
    found: dict[Problem, list[str]] = {}
    for scale in _scales(path):
        for problem in _errors(path, scale, host):
            if _key(problem) not in known:
                found.setdefault(problem, []).append(f"`{scale}`")
    for problem, names in found.items():
        several = "s" if len(names) > 1 else ""
        problems.add_found(problem._replace(message=f"scale{several} {', '.join(names)}: {problem.message}"))


def _key(problem: Problem) -> tuple[str, Where, str]:
    return problem.code, problem.where, problem.message


def _scales(path: str) -> list[str]:
    nodes = load(os.path.normpath(path), Problems())
    scales = nodes.get("scales") if nodes is not None else None
    return list(scales) if isinstance(scales, Map) else []


def _errors(path: str, scale: str, host: Mapping[str, Any]) -> Sequence[Problem]:
    problems = Problems()
    try:
        compile_spec(path, scale, host, problems=problems)
    except SpecError as error:
        return [problem for problem in error.problems if problem.severity == "error"]
    return problems.errors


def _pins(
    spec: str, builds: Sequence[Build], pin: Callable[[Mapping[str, Any]], str], problems: Problems
) -> dict[str, str]:
    """What the machine, the lock file and the patches say of each build."""
    locked = lock.read(spec, [build.name for build in builds], problems)
    parts = {b.name: [pin(b.source), locked.get(b.name, ""), lock.patches(b.patches, problems)] for b in builds}
    return {name: " ".join(part for part in said if part) for name, said in parts.items()}
