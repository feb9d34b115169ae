import os
import subprocess
import sys
from pathlib import Path

from stepgrid.build import job
from stepgrid.build.commands import COOKIE
from stepgrid.store.store import Store


def test_no_history_stays(tmp_path: Path):
    for name in ("tree/.git", "tree/lib/.git", "tree/src"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "x").touch()
    (tmp_path / "tree" / "src" / ".git").write_text("gitdir: ../.git/modules/src\n")
    (tmp_path / "tree" / ".git" / "x").chmod(0o444)
    job.remove_history(tmp_path)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        "tree",
        "tree/lib",
        "tree/src",
        "tree/src/x",
    ]


def test_a_folder_that_a_program_made_read_only_goes_too(tmp_path: Path):
    """As an ordinary user; root may do anything."""
    (tmp_path / "attempt" / "cache" / "deep").mkdir(parents=True)
    (tmp_path / "attempt" / "cache" / "deep" / "file").touch()
    (tmp_path / "attempt" / "cache" / "deep").chmod(0o555)
    (tmp_path / "attempt" / "cache").chmod(0o555)
    job.clear(tmp_path / "attempt")
    assert [*(tmp_path / "attempt").iterdir()] == []


def test_what_was_killed_during_a_run_is_cleared_up_too(tmp_path: Path):
    """The run has written its failure.json, and knows nothing of builds."""
    store = Store(tmp_path / "outputs")
    killed = store.new_attempt("b-0")
    (killed / "tree").mkdir()
    (killed / "build.log").touch()
    (killed / "failure.json").write_text("{}")
    job.sweep(store, "b-0")
    assert sorted(path.name for path in killed.iterdir()) == ["build.log", "failure.json"]
    assert (killed / "failure.json").read_text() == "{}"


def test_who_carries_the_name_of_a_killed_attempt_is_ended(tmp_path: Path):
    store = Store(tmp_path / "outputs")
    killed, other = store.new_attempt("b-0"), store.new_attempt("b-1")
    sleep = [sys.executable, "-c", "import time; print(1, flush=True); time.sleep(60)"]
    children = [
        subprocess.Popen(sleep, env={**os.environ, COOKIE: str(folder.absolute())}, stdout=subprocess.PIPE)
        for folder in (killed, other)
    ]
    try:
        for child in children:
            assert child.stdout is not None
            child.stdout.readline()
        job.sweep(store, "b-0")
        assert children[0].wait() == -9
        assert children[1].poll() is None
    finally:
        for child in children:
            child.kill()
            child.wait()
    assert sorted(path.name for path in killed.iterdir()) == ["failure.json"]
