"""The command of the suite: pytest with its options, of which no other test knows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stepgrid_conformance import __name__ as suite
from stepgrid_conformance.support import KINDS


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, as pytest asks its plug-ins to: those of a package's conftest.py come too late."""
    group = parser.getgroup("stepgrid", "plug-ins of stepgrid")
    for kind in KINDS:
        group.addoption(f"--{kind}", action="append", default=[], metavar="NAME", help=f"{kind} to check (repeat it)")
    group.addoption("--samples", type=Path, metavar="FOLDER", help="outputs of the programs: FOLDER/NAME/CASE/")
    group.addoption("--spec", type=Path, metavar="FILE", help="a spec that uses them: it is run")
    group.addoption("--scale", metavar="NAME", help="at which scale")
    group.addoption("--folder", type=Path, metavar="FOLDER", help="where it is run (a temporary one)")


if __name__ == "__main__":
    sys.exit(pytest.main([*sys.argv[1:], "--pyargs", suite], plugins=[sys.modules[__name__]]))
