"""`stepgrid run --strict`: a run that measured everything ends with 4 when a claim fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.conftest import Lab

SPEC = """\
title: two figures
builds: {mine: {engine: program, version: "1.0", source: {system: sh}, flags: {programs: sh}}}
steps:
  - {name: count, kind: command, argv: ["{program:sh}", -c, "echo rows {{ params.rows }}"],
     metrics: {qps: {pattern: 'rows (\\d+)', required: true}}}
params: {rows: 10}
sweep: {rows: {param: rows, values: [10, 40]}}
claims: [{claim: as many, expect: "qps(rows=40) <= qps(rows=10)"}]
repeat: 3
"""


@pytest.mark.parametrize(("strict", "status"), [("--strict", 4), ("", 0)])
def test_a_run_that_was_asked_to_gate(tmp_path: Path, strict: str, status: int) -> None:
    lab = Lab(tmp_path)
    lab.write(SPEC)
    words = [strict] if strict else []
    for first in (True, False):
        done = lab.run(*words)
        assert done.returncode == status, done.stderr
        assert ("this claim fails: as many\n" in done.stderr) == bool(strict), first
    assert len(lab.results()) == 6
