from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from compiler.cli import main
from compiler.run import here
from compiler.store.lock import locked
from compiler.store.store import Store
from tests.cli.samples import LIBRARY, SPEC

Capture = pytest.CaptureFixture[str]
SCALED = SPEC + "scales: {smoke: {params: {keys: 1k}}}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outputs").mkdir()
    (tmp_path / "specs" / "library").mkdir(parents=True)
    (tmp_path / "specs" / "a.yaml").write_text(SCALED)
    (tmp_path / "specs" / "library" / "b.yaml").write_text(LIBRARY)
    return tmp_path


def put(kind: str, name: str) -> Path:
    folder = Store().root / kind / name
    folder.mkdir(parents=True)
    return folder


def test_all_scales_of_all_specs_count(capsys: Capture) -> None:
    for scale in (None, "smoke"):
        plan = here.compiled("specs/a.yaml", scale)
        put("results", plan.stages[0].id)
        put("plans", plan.digest)
    assert main(["gc"]) == 0
    assert capsys.readouterr().out == "everything under outputs/ is reached by specs/a.yaml\n"


def test_it_lists_and_removes_only_when_told(capsys: Capture) -> None:
    gone = put("results", "s-0")
    assert main(["gc"]) == 0
    assert (
        capsys.readouterr().out
        == """\
not reached by specs/a.yaml, at any scale:
  results: 1, 0 bytes
    outputs/results/s-0  0 bytes
in all 0 bytes in 1 place; `stepgrid gc --yes` removes it
"""
    )
    assert gone.is_dir()
    assert main(["gc", "--yes"]) == 0
    assert capsys.readouterr().out.endswith("in all 0 bytes in 1 place\nremoved 1 place\n")
    assert not gone.exists()


def test_builds_that_no_spec_names_are_listed_with_their_sizes(capsys: Capture) -> None:
    (put("builds", here.compiled("specs/a.yaml", None).builds[0].id) / "program").write_bytes(b"x" * 5000)
    (put("builds", "b-gone") / "program").write_bytes(b"x" * 5000)
    assert main(["gc"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:3] == ["  builds: 1, 8.0 KiB", "    outputs/builds/b-gone  8.0 KiB"]


def test_a_wrong_spec_stops_it(folder: Path, capsys: Capture) -> None:
    gone = put("results", "s-0")
    (folder / "specs" / "a.yaml").write_text(SPEC.replace("keys", "kees"))
    assert main(["gc", "--yes"]) == 1
    said = capsys.readouterr().err
    assert "specs/a.yaml:7:10: error[unknown-param]" in said
    assert said.endswith("nothing was looked at: what a wrong spec comes to cannot be told\n")
    assert gone.is_dir()


def test_no_spec_removes_nothing(folder: Path, capsys: Capture) -> None:
    (folder / "specs" / "a.yaml").unlink()
    gone = put("results", "s-0")
    assert main(["gc", "--yes"]) == 2
    assert capsys.readouterr().err == (
        "there is no spec at specs/**/*.yaml: say which specs count, else all results would go\n"
    )
    assert gone.is_dir()


def test_a_run_stops_it(capsys: Capture) -> None:
    gone = put("results", "s-0")
    with locked(Store().lock("run")):
        assert main(["gc", "--yes"]) == 3
    assert "a run is active in this checkout" in capsys.readouterr().err
    assert gone.is_dir()


def test_images_are_listed_with_their_last_use(capsys: Capture) -> None:
    folder = put("images", "s-0")
    (folder / "used").touch()
    os.utime(folder / "used", (time.time() - 7200,) * 2)
    assert main(["gc"]) == 0
    assert "\n    outputs/images/s-0  0 bytes, used 2h00m ago\n" in capsys.readouterr().out
