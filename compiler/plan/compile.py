"""A spec file to its plan: the one entry for the command line and for Snakemake."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from compiler.expand.cells import expand
from compiler.language.problem import Problems, SpecError
from compiler.language.read import read
from compiler.plan.assemble import assemble
from compiler.plan.model import Plan


def compile_spec(
    path: str,
    scale: str | None,
    host: Mapping[str, Any],
    pin: Callable[[Mapping[str, Any]], str] = lambda source: "",
    problems: Problems | None = None,
) -> Plan:
    """SpecError holds all that is wrong. `pin` says what holds a build's source still; `problems` gets the warnings."""
    found = problems or Problems()
    document = read(os.path.normpath(path), scale, found)
    if document is None:
        raise SpecError(found.found)
    expansion = expand(document, host, found)
    pins = {build.name: pin(build.source) for build in expansion.builds}
    return assemble(document, expansion, pins, found)
