"""Specs with HammerDB read what it prints; the sample is written after its output, which no registry has."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.cli import main

SPECS = Path(__file__).resolve().parents[2] / "specs"
SAMPLE = """\
Vuser 1:Beginning rampup time of 2 minutes
Vuser 1:Rampup complete, Taking start Transaction Count.
Vuser 1:Timing test period of 5 in minutes
Vuser 1:Test complete, Taking end Transaction Count.
Vuser 1:2 Active Virtual Users configured
Vuser 1:TEST RESULT : System achieved 48765 NOPM from 112358 PostgreSQL TPM
Vuser 1:FINISHED SUCCESS
"""


@pytest.mark.parametrize("spec", ["hammerdb.yaml", "posts/2026-06-tproc-c-postgres.yaml"])
def test_its_patterns(spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sample.txt").write_text(SAMPLE)
    assert main(["check", str(SPECS / spec), "--try", str(tmp_path / "sample.txt")]) == 0
    said = capsys.readouterr().out
    assert "nopm: 48,765 orders/min" in said
    assert "tpm: 112,358 transactions/min" in said
