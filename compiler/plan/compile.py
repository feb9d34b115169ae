"""A spec file to its plan: the one entry for the command line and for Snakemake."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from compiler import lint
from compiler.expand.builds import Build
from compiler.expand.cells import expand
from compiler.language import lock
from compiler.language.problem import Problems, SpecError
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
    own_hardware: bool = False,
) -> Plan:
    """SpecError holds all that is wrong. `pin` says what holds a build's source still; `problems` gets the warnings.

    `only`: the cells for which an expression holds; `sets`: PATH=VALUE, other values than the spec's;
    `own_hardware`: whatever the spec describes, it is measured as this host's.
    """
    found = problems or Problems()
    with uncollected():
        document = read(os.path.normpath(path), scale, found, sets)
        if document is None:
            raise SpecError(found.found)
        expansion = expand(document, host, found, only, own_hardware)
        lint.check(document, expansion, found)
        pins = _pins(document.path, expansion.builds, pin, found)
        return assemble(document, expansion, pins, found)


def _pins(
    spec: str, builds: Sequence[Build], pin: Callable[[Mapping[str, Any]], str], problems: Problems
) -> dict[str, str]:
    """What the machine, the lock file and the patches say of each build."""
    locked = lock.read(spec, [build.name for build in builds], problems)
    parts = {b.name: [pin(b.source), locked.get(b.name, ""), lock.patches(b.patches, problems)] for b in builds}
    return {name: " ".join(part for part in said if part) for name, said in parts.items()}
