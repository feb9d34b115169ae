"""stepgrid claims: figures that somebody published, their files, exit statuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.errors import CLAIM_FAILED, FAILED

SPEC = """spec: 1
title: two builds
builds:
  a: {engine: rocksdb, version: 9.9.3, source: {system: db_bench}}
  b: {engine: rocksdb, version: 9.9.4, source: {system: db_bench}}
steps: [{name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}]
params: {keys: 1M}
claims: [{claim: b is faster, expect: "qps(build='b') / qps(build='a') > 1.1"}]
"""
FIGURES = """published: 1
tables:
  - from: github somebody/results
    file: qps.tsv
    metric: qps
    rows: step
    columns: build
    labels: [a, b]
    figures:
      fillseq: [100, 120]
"""


@pytest.fixture
def figures(folder: Path) -> Path:
    (folder / "published").mkdir()
    file = folder / "published" / "a.yaml"
    file.write_text(FIGURES)
    return file


def test_claims_are_judged_by_kept_figures(figures: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "a.yaml"]) == 0
    assert "as published: holds: b is faster: 1.20× (claimed > 1.1×)" in capsys.readouterr().out
    figures.write_text(FIGURES.replace("120", "105"))
    assert main(["claims", "a.yaml", "--format", "json"]) == CLAIM_FAILED
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["result"], row["numbers"]) == ("refuted", "1.05× (claimed > 1.1×)")


def test_figures_are_read_again(figures: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("there").mkdir()
    Path("there/qps.tsv").write_text("col-1 : a\ncol-2 : b\n\ncol-1 col-2\n100 101 fillseq\n")
    assert main(["claims", "a.yaml", "--results", "there"]) == CLAIM_FAILED
    assert "qps.tsv: fillseq: (100.0, 101.0) there, (100.0, 120.0) kept" in capsys.readouterr().err
    assert figures.read_text() == FIGURES
    main(["claims", "a.yaml", "--results", "there", "--update"])
    assert figures.read_text() == FIGURES.replace("120", "101")


def test_what_cannot_be_judged_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "a.yaml"]) == 1
    assert "there is no file `published/a.yaml`" in capsys.readouterr().err
    (folder / "published").mkdir()
    (folder / "published" / "a.yaml").write_text(FIGURES)
    assert main(["claims", "a.yaml", "--results", "there"]) == 3
    assert "qps.tsv: there is no such file below there" in capsys.readouterr().err


def test_a_file_elsewhere_is_not_read(figures: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither by its name nor by a link."""
    Path("there").mkdir()
    Path("secret.tsv").write_text("x\ta\tb\nfillseq\t1\t2\n")
    Path("there/qps.tsv").symlink_to(Path("secret.tsv").resolve())
    assert main(["claims", "a.yaml", "--results", "there"]) == FAILED
    figures.write_text(figures.read_text().replace("file: qps.tsv", "file: ../secret.tsv"))
    assert main(["claims", "a.yaml", "--results", "there"]) == FAILED
    assert capsys.readouterr().err.count("there is no such file below there") == 2


def test_no_figures_are_written_through_a_link(figures: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("there").mkdir()
    Path("there/qps.tsv").write_text("x\ta\tb\nfillseq\t1\t2\n")
    target = figures.rename("mine.yaml").resolve()
    text = target.read_text()
    figures.symlink_to(target)
    assert main(["claims", "a.yaml", "--results", "there", "--update"]) == FAILED
    assert "is a link" in capsys.readouterr().err
    assert target.read_text() == text
