"""Builds from a plan to outputs/builds: what is kept of one, and what it says when it fails."""

import json
import os
import sys
from pathlib import Path

import pytest

from stepgrid.build import job
from stepgrid.build.error import BuildError
from stepgrid.build.record import changed, programs
from stepgrid.host.processes.signals import Interrupted
from stepgrid.language.files import tree_checksum
from stepgrid.model.plan import PlannedBuild
from stepgrid.model.records import replace
from stepgrid.store.builds import build_record
from stepgrid.store.store import Store
from stepgrid_databases.engines.program import AnyProgram
from tests.build.snake import VERSION, Snake, planned

ID = planned().id


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(job, "require_builder", lambda name: {"snake": Snake()}[name])
    return Store()


def test_a_build_is_published_with_its_mark(store, capsys):
    assert job.make(store, planned()) == 0
    record = json.loads(store.mark(ID).read_text())
    assert record == json.loads((store.build(ID) / "build.json").read_text())
    assert (record["id"], record["name"], record["engine"], record["route"]) == (ID, "snake-1", "snake", "system")
    assert (record["version"], record["warnings"], record["assertions"]) == (VERSION, ["slow on purpose"], False)
    assert record["facts"]["said"] == f"Python {VERSION}"
    assert programs(store.build(ID)) == {"python": (sys.executable,)}
    begin, end = f"build snake-1: system {sys.executable}, built in ", f"s, version {VERSION}, no assertions\n"
    line = capsys.readouterr().err
    assert line.removeprefix(begin).removesuffix(end).isdigit(), line


def test_a_version_that_is_not_the_declared_one(store, capsys):
    other = planned(version="1.2.3")
    assert job.make(store, other) == 1
    assert not store.has_build(other.id)
    (attempt,) = store.attempts(other.id)
    failure = json.loads((attempt / "failure.json").read_text())
    message = (
        f"the spec declares version 1.2.3 (specs/x.yaml:4:3), the binary says {VERSION}: "
        "declare the version that it says, or name another binary"
    )
    assert (failure["node"], failure["status"], failure["message"]) == (other.id, "failed", message)
    assert failure["log"] == str(attempt / "build.log")
    assert f"Python {VERSION}" in failure["tail"]
    said = capsys.readouterr().err.splitlines()
    assert said[:2] == ["failed: build snake-1", f"  {message}"]
    assert said[-1] == f"  log: {attempt / 'build.log'}"


def test_the_beginning_of_a_version_is_enough(store):
    """A suite of packages has another 11.8 from month to month; 3.1 is no 3.11."""
    short = planned(version=VERSION.rpartition(".")[0])
    assert job.make(store, short) == 0
    assert job.make(store, planned(version=VERSION.rpartition(".")[0][:-1])) == 1


def test_a_failed_attempt_is_kept_and_the_next_starts_clean(store, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Snake, "programs", ("python", "no_sibling_of_python"))
        assert job.make(store, planned()) == 1
    assert job.make(store, planned()) == 0
    (attempt,) = store.attempts(ID)
    assert sorted(path.name for path in attempt.iterdir()) == ["failure.json"]


def test_a_binary_that_was_replaced_after_the_spec_was_compiled_is_not_the_planned_build(store, tmp_path, capsys):
    program = tmp_path / "python"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    program.chmod(0o755)
    build = planned(str(program))
    program.write_text(f'#!/bin/sh\n# another\nexec {sys.executable} "$@"\n')
    assert job.make(store, build) == 1
    assert not store.has_build(build.id)
    said = f"  {program} changed after the spec was compiled: run the same command again\n"
    assert said in capsys.readouterr().err


def test_an_interrupted_build_says_so(store, monkeypatch):
    def identify(self, run):
        raise Interrupted(15)

    monkeypatch.setattr(Snake, "identify", identify)
    assert job.make(store, planned()) == 143
    failure = json.loads((store.attempts(ID)[0] / "failure.json").read_text())
    assert (failure["status"], failure["message"]) == ("interrupted", "the build was stopped (SIGTERM)")


def test_a_binary_that_changes_later_is_noticed(store, tmp_path):
    program = tmp_path / "python"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    program.chmod(0o755)
    build = planned(str(program))
    assert job.make(store, build) == 0
    record = build_record(store, build.id)
    os.utime(program)
    assert changed(record) is None
    program.write_text("#!/bin/sh\n")
    assert changed(record) == (
        f"{program} is not the binary that build snake-1 recorded: "
        "run the same command again, and the binary that is there now is measured as a build of its own"
    )


def unknown(tree, **fields):
    """A build of an engine that nobody knows."""
    recipe = {"flags": {"programs": "run"}}
    return PlannedBuild("b-1", "mine", "program", "", {"path": str(tree)}, recipe=recipe, **fields)


@pytest.fixture
def tree(tmp_path):
    made = tmp_path / "mine"
    (made / ".git").mkdir(parents=True)
    (made / "run").write_text("#!/bin/sh\ntouch started\n")
    (made / "run").chmod(0o755)
    return made


def test_a_program_that_cannot_be_asked(store, tree, monkeypatch):
    monkeypatch.setattr(job, "require_builder", lambda name: AnyProgram())
    assert job.make(store, unknown(tree)) == 0
    folder = store.build("b-1")
    assert sorted(path.name for path in folder.iterdir()) == ["build.json", "build.log", "tree"]
    record = json.loads((folder / "build.json").read_text())
    assert (record["version"], record["recipe"], record["quality"]["route"]) == ("unknown", "program", "source")
    assert programs(folder) == {"run": (str(folder.absolute() / "tree" / "run"),)}
    assert not [*folder.rglob("started")]


def test_a_tree_that_changed_after_the_spec_was_compiled(store, tree, monkeypatch, capsys):
    monkeypatch.setattr(job, "require_builder", lambda name: AnyProgram())
    build = unknown(tree, pins={f"path {tree}": tree_checksum(tree)})
    (tree / "run").write_text("#!/bin/sh\n")
    assert job.make(store, build) == 1
    said = f"  {tree} changed after the spec was compiled: run the same command again\n"
    assert said in capsys.readouterr().err


FULL = "b: No space left on device"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (f"echo '{FULL}'; exit 1", "the build's command ./run ended with exit status 1; the disk of "),
        ("exit 1", "the build's command ./run ended with exit status 1\n"),
    ],
)
def test_a_compile_that_fills_the_disk(script, said, store, tree, monkeypatch, capsys):
    monkeypatch.setattr(job, "require_builder", lambda name: AnyProgram())
    (tree / "run").write_text(f"#!/bin/sh\n{script}\n")
    recipe = {"flags": {"programs": "run", "command": "./run"}}
    assert job.make(store, replace(unknown(tree), recipe=recipe)) == 1
    told = capsys.readouterr().err
    assert f"  {said}" in told
    assert told.count("; free some, or use another disk\n") == (FULL in script)


def test_a_client_that_fills_the_disk(store, tree, monkeypatch, capsys):
    def fill(*_):
        raise BuildError(f"git cannot fetch it: {FULL}")

    monkeypatch.setattr(job, "produce", fill)
    assert job.make(store, unknown(tree)) == 1
    (attempt,) = store.attempts("b-1")
    assert f"failed: build mine\n  the disk of {attempt} is full: " in capsys.readouterr().err


def test_no_history_stays(tmp_path):
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


def test_a_folder_that_a_program_made_read_only_goes_too(tmp_path):
    """As an ordinary user; root may do anything."""
    (tmp_path / "attempt" / "cache" / "deep").mkdir(parents=True)
    (tmp_path / "attempt" / "cache" / "deep" / "file").touch()
    (tmp_path / "attempt" / "cache" / "deep").chmod(0o555)
    (tmp_path / "attempt" / "cache").chmod(0o555)
    job.clear(tmp_path / "attempt")
    assert [*(tmp_path / "attempt").iterdir()] == []


def test_what_was_killed_during_a_run_is_cleared_up_too(tmp_path):
    """The run has written its failure.json, and knows nothing of builds."""
    store = Store(tmp_path / "outputs")
    killed = store.new_attempt("b-0")
    (killed / "tree").mkdir()
    (killed / "build.log").touch()
    (killed / "failure.json").write_text("{}")
    job.sweep(store, "b-0")
    assert sorted(path.name for path in killed.iterdir()) == ["build.log", "failure.json"]
    assert (killed / "failure.json").read_text() == "{}"


ROOT = Path(__file__).resolve().parents[2]
