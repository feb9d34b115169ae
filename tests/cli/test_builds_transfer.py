"""stepgrid builds export and import: a build runs in another checkout, and nothing else is let in."""

import getpass
import json
import platform
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from stepgrid.build.commands import Commands
from stepgrid.build.record import programs
from stepgrid.cli import main
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan
from stepgrid_share import build_bundle
from tests.cli.bundles import rewrite

SPEC = """\
title: t
builds:
  tool: {engine: program, version: "1.0", source: {path: tree, files: .}, flags: {programs: bin/hello}}
steps: [{name: hi, kind: command, argv: ["{program:hello}"]}]
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A checkout whose build is exported."""
    home = tmp_path_factory.mktemp("one")
    (home / "tree" / "bin").mkdir(parents=True)
    script = home / "tree" / "bin" / "hello"
    script.write_text('#!/bin/sh\ncat "${0%/*}/../text"\n')
    script.chmod(0o755)
    (home / "tree" / "words").write_text("hello from the tree\n")
    (home / "tree" / "text").symlink_to("words")
    (home / "a.yaml").write_text(SPEC)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STEPGRID_SITE", "")
        patch.chdir(home)
        assert main(["builds", "a.yaml", "--yes"]) == 0
        assert main(["builds", "export", "tool", "tool.tar.gz"]) == 0
    return home


@pytest.fixture
def exported(home, tmp_path, monkeypatch):
    """The file, with an empty checkout elsewhere as the current folder."""
    file = Path(shutil.copy(home / "tool.tar.gz", tmp_path))
    there = tmp_path / "somewhere" / "two"
    there.mkdir(parents=True)
    monkeypatch.chdir(there)
    return file


def node(file):
    return build_bundle.read_build_manifest(file).id


def with_manifest(members, **fields):
    info, content = members["export.json"]
    members["export.json"] = (info, json.dumps({**json.loads(content), **fields}).encode())


def refused(file, capsys):
    assert main(["builds", "import", str(file), "--run"]) == 3
    assert not list(Store().root.glob("builds/*"))
    assert not list(Store().root.glob("attempts/*"))
    return capsys.readouterr().err.replace(str(file), "FILE")


def test_it_runs_in_another_checkout(exported, capsys):
    assert main(["builds", "import", str(exported), "--run"]) == 0
    build = Store().build(node(exported))
    assert capsys.readouterr().out == f"{build}: tool, program 1.0\n"
    assert subprocess.check_output(programs(build)["hello"], text=True) == "hello from the tree\n"
    assert Store().mark(build.name).exists()
    assert not list(Store().root.glob("attempts/*"))
    assert main(["builds", "import", str(exported), "--run"]) == 3
    assert capsys.readouterr().err == f"build {build.name} is there already: {build}; nothing was changed\n"


def test_the_spec_of_another_checkout_finds_it(home, exported):
    """The tree itself is not needed any more where the build is; another tree is another build."""
    (Path.cwd() / "a.yaml").write_text(SPEC)
    (Path.cwd() / "tree").symlink_to(home / "tree")
    assert main(["builds", "import", str(exported), "a.yaml", "--run"]) == 0
    (build,) = host_plan.compile_for_host("a.yaml", None).builds
    assert Store().has_build(build.id)


def test_a_file_that_was_changed(exported, capsys):
    def change(members):
        info, _ = members["build/tree/words"]
        members["build/tree/words"] = (info, b"hello from nowhere!\n")

    said = "FILE is not imported: its file tree/words is not what was exported: the checksum differs\n"
    assert refused(rewrite(exported, change), capsys) == said


def test_a_file_that_is_missing_and_one_too_many(exported, capsys):
    gone = rewrite(exported, lambda members: members.pop("build/tree/words") and None)
    assert "link out of its folder" not in (said := refused(gone, capsys))
    assert said == "FILE is not imported: its file tree/words is missing\n"

    def add(members):
        members["build/zz"] = (tarfile.TarInfo(), b"x")

    assert refused(rewrite(exported, add), capsys) == (
        "FILE is not imported: it holds a file that no checksum is for, zz\n"
    )


def test_another_machine(exported, capsys):
    changed = rewrite(exported, lambda members: with_manifest(members, machine="vax"))
    assert refused(changed, capsys) == f"FILE was built for vax, this machine is {platform.machine()}\n"


def test_another_id(exported, capsys):
    """What build.json declares decides which build it is."""
    other = "b-" + "0" * 20
    changed = rewrite(exported, lambda members: with_manifest(members, id=other))
    made = node(exported)
    assert refused(changed, capsys) == (
        f"FILE is not imported: it says it is {other}, and what its build.json declares is {made}\n"
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../../evil", "changed.tar.gz is not unpacked: its entry '../../evil' leads out of its folder\n"),
        ("/evil", "changed.tar.gz is not unpacked: its entry '/evil' is an absolute path\n"),
    ],
)
def test_paths_are_not_trusted(name, said, exported, capsys):
    def add(members):
        members[name] = (tarfile.TarInfo(), b"x")

    assert refused(rewrite(exported, add), capsys) == said
    assert not list(exported.parent.rglob("evil"))


def test_a_program_of_the_machine_stays(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(SPEC.replace("{path: tree, files: .}, flags: {programs: bin/hello}", "{system: sh}"))
    assert main(["builds", "a.yaml", "--yes"]) == 0
    capsys.readouterr()
    assert main(["builds", "export", "tool", "x.tar.gz"]) == 3
    assert capsys.readouterr().err.endswith(", which belongs to this machine: there is nothing to move\n")
    assert not list(tmp_path.glob("*x.tar*"))


def test_nothing_of_it_runs_until_somebody_agrees(exported, capsys, monkeypatch):
    monkeypatch.setattr(Commands, "run", lambda *_: pytest.fail("it ran"))
    user = getpass.getuser()
    assert main(["builds", "import", str(exported)]) == 3
    assert capsys.readouterr().err == (
        f"{exported} has programs (hello): importing it runs one as {user} to ask for its version\n"
        f"{exported} is not imported: `--run` lets its programs run here\n"
    )
    assert not list(Store().root.glob("builds/*"))


def test_on_a_terminal_it_asks(exported, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    for answer, status in (("", 3), ("n", 3), ("y", 0)):
        monkeypatch.setattr("builtins.input", lambda _, answer=answer: answer)
        assert main(["builds", "import", str(exported)]) == status


def test_results_bring_no_programs(exported, capsys):
    assert main(["import", str(exported)]) == 2
    said = f"{exported} holds a build, not results: `stepgrid builds import {exported}`"
    assert capsys.readouterr().err == f"{said} (it says what would run, and asks)\n"
    assert not list(Store().root.glob("builds/*"))
