"""Specs that the benches write compile: a change of the library must not break a bench in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import overhead_run, verdicts_real
from stepgrid.plan.compilation import compile_spec
from tests.specs.conftest import HOST

LIBRARY = Path(__file__).resolve().parents[2] / "specs/library"
SPECS = {
    "overhead": overhead_run.SPEC.format(library=LIBRARY, keys=1000, seconds=1),
    "verdicts": verdicts_real.spec(arms=2, loads=3, seconds=1),
}


@pytest.mark.parametrize("name", SPECS)
def test_it_compiles(name: str, tmp_path: Path) -> None:
    spec = tmp_path / f"{name}.yaml"
    spec.write_text(SPECS[name])
    assert compile_spec(str(spec), None, HOST).stages
