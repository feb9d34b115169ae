"""stepgrid gc: what it lists, moves to the trash, restores and deletes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.host.locks import locked
from stepgrid.store import plans
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan
from tests.cli.samples import LIBRARY, SPEC
from tests.cli.test_plan import built, kept, measured

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
        plan = host_plan.compile_for_host("specs/a.yaml", scale)
        put("results", plan.stages[0].id)
        plans.publish(Store(), plan)
    assert main(["gc"]) == 0
    assert capsys.readouterr().out == "no unreferenced results under outputs/ (specs/a.yaml, at all scales)\n"


def test_it_lists_moves_restores_and_deletes(capsys: Capture) -> None:
    gone = put("results", "s-0")
    assert main(["gc"]) == 0
    listed = """\
unreferenced by specs/a.yaml, at all scales:
  results: 1, 0 B
    outputs/results/s-0  0 B
0 B in 1 place"""
    assert capsys.readouterr().out == f"{listed}; `stepgrid gc --yes` moves them to the trash\n"
    assert gone.is_dir()
    (gone / "file").write_bytes(b"x" * 5000)
    assert main(["gc", "--yes"]) == 0
    said = "moved 1 place to the trash; `stepgrid gc --restore` puts them back, `stepgrid gc --empty` deletes them\n"
    assert capsys.readouterr().out == f"{listed.replace('0 B', '8 KiB')}\n{said}"
    assert not gone.exists()
    assert main(["gc"]) == 0
    said = "the trash holds 1 place, 8 KiB: `stepgrid gc --empty` deletes them\n"
    assert capsys.readouterr().out.endswith(f"(specs/a.yaml, at all scales)\n{said}")
    assert main(["gc", "--restore"]) == 0
    assert capsys.readouterr().out == "restored 1 place from the trash\n"
    assert (gone / "file").is_file()
    main(["gc", "--yes"])
    capsys.readouterr()
    assert main(["gc", "--empty"]) == 0
    assert capsys.readouterr().out == "deleted 1 place of the trash, 8 KiB\n"
    assert main(["gc", "--restore"]) == 0
    assert capsys.readouterr().out == "restored 0 places from the trash\n"
    assert not gone.exists()


def test_what_is_in_the_trash_is_not_there_for_others(folder: Path, capsys: Capture) -> None:
    (folder / "my.yaml").write_text(SPEC.replace("200k", "300k"))
    plan = kept("my.yaml")
    built(plan)
    measured(plan, plan.stages)
    assert _to_do(capsys) == "nothing"
    assert main(["gc", "--forget", "my.yaml", "--yes"]) == 0
    assert _to_do(capsys) == "measure: 6 stages, about 4h00m"
    assert main(["gc", "--restore"]) == 0
    assert _to_do(capsys) == "nothing"


def _to_do(capsys: Capture) -> str:
    capsys.readouterr()
    assert main(["plan", "my.yaml"]) == 0
    return next(line for line in capsys.readouterr().out.splitlines() if "to do" in line).split(None, 2)[2]


def test_builds_that_no_spec_names_are_listed_with_their_sizes(capsys: Capture) -> None:
    (put("builds", host_plan.compile_for_host("specs/a.yaml", None).builds[0].id) / "program").write_bytes(b"x" * 5000)
    (put("builds", "b-gone") / "program").write_bytes(b"x" * 5000)
    assert main(["gc"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:3] == ["  builds: 1, 8 KiB", "    outputs/builds/b-gone  8 KiB"]


def test_the_hint_is_the_same_command(folder: Path, capsys: Capture) -> None:
    (folder / "my.yaml").write_text(SPEC)
    (folder / "my site.yaml").write_text("tools: {}\n")
    put("results", "s-0")
    assert main(["gc", "my.yaml", "--forget", "old.yaml", "--site", "my site.yaml"]) == 0
    hint = "`stepgrid gc my.yaml --forget old.yaml --site 'my site.yaml' --yes` moves them to the trash"
    assert capsys.readouterr().out.splitlines()[-1].endswith(hint)


def test_a_wrong_spec_that_was_named_stops_it(folder: Path, capsys: Capture) -> None:
    gone = put("results", "s-0")
    (folder / "my.yaml").write_text(SPEC.replace("keys", "kees"))
    assert main(["gc", "my.yaml", "--yes"]) == 1
    said = capsys.readouterr().err
    assert "my.yaml:7:10: error[unknown-param]" in said
    assert said.endswith("nothing was moved: the results that a spec needs are known when it has no errors\n")
    assert gone.is_dir()


def test_no_spec_and_no_plan_moves_nothing(folder: Path, capsys: Capture) -> None:
    (folder / "specs" / "a.yaml").unlink()
    gone = put("results", "s-0")
    assert main(["gc", "--yes"]) == 2
    said = "no spec at specs/**/*.yaml and no stored plan: name the specs that count\n"
    assert capsys.readouterr().err == said
    assert gone.is_dir()


@pytest.mark.parametrize("action", ["--yes", "--restore"])
def test_a_run_stops_it(action: str, capsys: Capture) -> None:
    gone = put("results", "s-0")
    with locked(Store().lock("run")):
        assert main(["gc", action]) == 3
    said = f"this checkout is in use (pid {os.getpid()}): nothing was changed; try again later\n"
    assert capsys.readouterr().err == said
    assert gone.is_dir()


def test_what_a_job_uses_stays(capsys: Capture) -> None:
    put("results", "s-0")
    with locked(Store().lock("s-0")):
        assert main(["gc", "--yes"]) == 0
    assert capsys.readouterr().err == "outputs/results/s-0 stays: it is in use\n"


def test_images_are_listed_with_their_last_use(capsys: Capture) -> None:
    folder = put("images", "s-0")
    (folder / "used").touch()
    os.utime(folder / "used", (time.time() - 7200,) * 2)
    assert main(["gc"]) == 0
    assert "\n    outputs/images/s-0  0 B  used 2h00m ago\n" in capsys.readouterr().out


def test_as_a_program_it_ends_without_a_traceback() -> None:
    """The module of the command stood in the way of Python's own `gc`."""
    done = subprocess.run([sys.executable, "-m", "stepgrid.cli", "gc"], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
