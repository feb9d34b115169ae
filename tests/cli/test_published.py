"""stepgrid published KIND DIR: published results become results like our own, or nothing does."""

from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid_published.importer import IMPORTERS
from tests.importers.made import run, sysbench


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, rate in (("x.my56.c8.pk1", "400.00"), ("x.my80.c8.pk1", "200.00")):
        run(tmp_path / "published" / name, output=sysbench(rate))
    return tmp_path


def test_without_the_importers_it_says_what_to_install(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(IMPORTERS, "points", {})
    assert main(["published", "sysbench", "."]) == 2
    assert capsys.readouterr().err == (
        "there is no kind of published results `sysbench`\n"
        "   = there is none here; `pip install 'stepgrid[importers]'` (in a checkout `make setup`) adds some\n"
    )
