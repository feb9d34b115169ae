"""Reading, writing and sweeping files, trees of a database, and stale handles."""

import errno
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import strategies as st

from stepgrid.cli import failures
from stepgrid.host import files
from stepgrid.host.files import Tree, remove_tree, scan, write_cache, write_json, write_text
from stepgrid.model.records import parse_names
from stepgrid.store.store import Store
from stepgrid.workflow import run_request
from tests.needs import needs


def test_a_device_is_empty(tmp_path):
    (tmp_path / "attempt.json").symlink_to("/dev/zero")
    assert files.read_bytes(tmp_path / "attempt.json") == b""


def test_a_pipe_is_empty_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "result.json")
    assert files.read_bytes(tmp_path / "result.json") == b""
    assert files.read_json(tmp_path / "result.json") == {}


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=20).filter(
    lambda name: name not in (".", "..") and len(name.encode()) < 100
)


def test_names_that_are_no_text(tmp_path):
    (tmp_path / os.fsdecode(b"\xff.sst")).write_text("x")
    tree = scan(tmp_path)
    text = json.dumps(tree.files).encode()
    assert parse_names(text, dict[str, int]) == tree.files


def test_what_belongs_to_a_process_is_left_out(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert scan(tmp_path) == Tree((), {}, {})


DEAD = 2**22 + 1  # no process has that number


def test_what_a_dead_process_was_writing_goes_when_the_file_is_written_again(tmp_path):
    dead = files.temporary_suffix().replace(str(os.getpid()), str(DEAD))
    for name in (f".table.json.{dead}", f".table.json.{os.getppid()}", f".other.json.{DEAD}", ".table.json.old"):
        (tmp_path / name).touch()
    write_text(tmp_path / "table.json", "{}")
    kept = [f".other.json.{DEAD}", f".table.json.{os.getppid()}", ".table.json.old", "table.json"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)


def test_a_link_that_somebody_put_in_the_way_is_not_followed(tmp_path):
    (tmp_path / "victim").write_text("theirs")
    for write, name in ((write_text, "a.json"), (write_cache, "b.json")):
        (tmp_path / f".{name}.{files.temporary_suffix()}").symlink_to("victim")
        write(tmp_path / name, "ours")
        assert (tmp_path / name).read_text() == "ours"
        assert not (tmp_path / name).is_symlink()
    assert (tmp_path / "victim").read_text() == "theirs"


def test_a_run_sweeps_plans_and_marks_that_were_never_published(tmp_path):
    store = Store(tmp_path)
    staged = store.plan(f".p.{DEAD}~")
    staged.mkdir(parents=True)
    (staged / "plan.json").touch()
    store.mark("s-1").parent.mkdir()
    store.mark(f".s-1.{DEAD}").symlink_to("nowhere")
    requests = store.request_note("r").parent
    requests.mkdir()
    store.sweep()
    assert [*store.plan("p").parent.iterdir()] == [requests]
    assert [*store.mark("s-1").parent.iterdir()] == []


def test_a_writer_that_nobody_waits_for_is_dead(tmp_path):
    killed = subprocess.Popen(["true"])
    os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)  # its number stays until its parent asks
    (tmp_path / f".metrics.{killed.pid}.json").touch()
    (tmp_path / f".metrics.{os.getpid()}.json").touch()
    files.sweep_temporary(tmp_path)
    killed.wait()
    assert [path.name for path in tmp_path.iterdir()] == [f".metrics.{os.getpid()}.json"]


def test_a_copy_of_a_user_is_no_temporary_file(tmp_path):
    """`-o notes.txt` removed it: a process 2024 did not run."""
    copies = [tmp_path / f".notes.txt.{DEAD}", tmp_path / f".notes.txt.{DEAD}.json", tmp_path / f".notes.txt.{DEAD}~"]
    for path in copies:
        path.mkdir()
        (path / "thesis").touch()
    files.write_text(tmp_path / "notes.txt", "ours")
    assert [path for path in copies if not (path / "thesis").exists()] == []


def test_what_another_host_writes_is_left_for_a_day(tmp_path):
    """Its processes have numbers that nobody, or somebody else, has here."""
    young, old = (tmp_path / f".{name}.json.{DEAD}@0123abcd" for name in ("young", "old"))
    own = tmp_path / f".own.json.{files.temporary_suffix().replace(str(os.getpid()), str(DEAD))}"
    for path in (young, old, own):
        path.touch()
    os.utime(old, (time.time() - 2 * 86400,) * 2)
    files.sweep_temporary(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [young.name]


ROOT = Path(__file__).resolve().parents[2]
STALE = OSError(errno.ESTALE, "Stale file handle", "outputs/plans")
CODE = """\
import os, sys
from pathlib import Path
from stepgrid.host import files
from stepgrid.store.paths import subfolders
folder, wrong = Path(sys.argv[1]), 0
for _ in range(2000):
    wrong += files.read_json(folder / "a.json") != {"a": 1} or subfolders(folder) != [folder / "b"]
print(wrong)
"""


@needs("cc")
def test_records_are_read_where_handles_go_stale(tmp_path):
    """One of two thousand calls: a record that could not be read would be taken for a damaged one."""
    made, shared = tmp_path / "stale.so", tmp_path / "shared"
    (shared / "b").mkdir(parents=True)
    (shared / "a.json").write_text('{"a": 1}')
    source = str(ROOT / "bench" / "stale_handles.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-w", "-o", str(made), source, "-ldl"], check=True)
    injected = {"LD_PRELOAD": str(made), "STALE_BELOW": str(shared), "STALE_ONE_OF": "2000"}
    env = {**os.environ, **injected, "PYTHONPATH": str(ROOT / "compiler")}
    argv = [sys.executable, "-c", CODE, str(shared)]
    done = subprocess.run(argv, env=env, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_a_run_that_meets_one_says_what_to_do():
    hint = "another machine replaced it, or its file server restarted: run the same command again"
    assert failures.unexpected("run", STALE) == (
        f"`stepgrid run` stopped: outputs/plans: stale file handle\n   = {hint}"
    )
    store = Store()
    assert run_request.explain_error(store, STALE) == (
        f"{store.root.absolute()} could not be read: Stale file handle (outputs/plans); {hint}"
    )


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "a.json"
    write_json(path, {"a": 1})
    with pytest.raises(TypeError):
        write_json(path, {"a": object()})
    assert json.loads(path.read_text()) == {"a": 1}
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


def test_a_tree_is_removed_with_its_links_but_not_what_they_name(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    tree = tmp_path / "tree"
    (tree / "inner").mkdir(parents=True)
    (tree / "inner" / "link").symlink_to(kept)
    (tree / "file").touch()
    assert remove_tree(tree) is True
    assert not tree.exists()
    assert (kept / "file").exists()
    assert remove_tree(tree) is True
