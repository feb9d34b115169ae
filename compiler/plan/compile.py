"""A spec file to its plan: the one entry for the command line and for Snakemake."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from compiler.expand.cells import expand
from compiler.language.problem import Problems
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
    """SpecError holds everything that is wrong. `pin` says what holds a build's source still; `problems` gets warnings."""
    found = problems or Problems()
    document = read(os.path.normpath(path), scale, found)
    found.stop_on_errors()
    assert document is not None, "a document that cannot be read is a problem"
    expansion = expand(document, host, found)
    pins = {build.name: pin(build.source) for build in expansion.builds}
    return assemble(document, expansion, pins, found)
