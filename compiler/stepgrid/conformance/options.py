"""Options of the suite. pytest loads them by an entry point: those of a package's conftest.py come too late."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

SUITE = "stepgrid.conformance"
KINDS = ("engine", "driver", "collector", "layout", "importer")


def pytest_addoption(parser: pytest.Parser) -> None:
    if not any(SUITE in word for word in sys.argv):
        return  # other tests of the same environment: the names may be theirs
    group = parser.getgroup("stepgrid", "plug-ins of stepgrid")
    for kind in KINDS:
        group.addoption(f"--{kind}", action="append", default=[], metavar="NAME", help=f"{kind} to check (repeat it)")
    group.addoption("--samples", type=Path, metavar="FOLDER", help="outputs of the programs: FOLDER/NAME/CASE/")
    group.addoption("--spec", type=Path, metavar="FILE", help="a spec that uses them: it is run")
    group.addoption("--scale", metavar="NAME", help="at which scale")
    group.addoption("--folder", type=Path, metavar="FOLDER", help="where it is run (a temporary one)")
