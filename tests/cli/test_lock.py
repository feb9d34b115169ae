"""stepgrid lock, on real git repositories."""

import os
import subprocess
from pathlib import Path

import pytest

from stepgrid.build.job import make
from stepgrid.build.record import programs
from stepgrid.cli import main
from stepgrid.language import lock_file
from stepgrid.language.problems import Problems
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan
from tests.build.repository import Repository

SPEC = """\
title: t
builds: {{r: {{engine: rocksdb, versions: [1.0.1, 1.0.2], source: {{git: "{url}", ref: "v{{{{ version }}}}"}}}}}}
steps: [{{name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}}]
params: {{keys: 1M, duration: 1h}}
scales: {{small: {{builds: {{r: {{versions: [1.0.3]}}}}}}}}
"""
PROGRAM = """\
title: t
builds:
  p: {{engine: program, version: 1.0.2, source: {{git: "{url}", ref: v1.0.2}},
      flags: {{command: chmod +x say.sh, programs: say.sh}}}}
steps: [{{name: say, kind: command, argv: [say.sh]}}]
"""


@pytest.fixture
def origin(tmp_path, monkeypatch):
    made = Repository(tmp_path / "origin")
    for release in ("1.0.1", "1.0.2", "1.0.3"):
        made.commit(f"v{release}", version=release)
    folder = tmp_path / "checkout"
    (folder / "outputs").mkdir(parents=True)
    monkeypatch.chdir(folder)
    (folder / "a.yaml").write_text(SPEC.format(url=made.url))
    return made


def commit(origin, ref):
    return origin.git("rev-parse", f"{ref}^{{commit}}")


def held(spec="a.yaml"):
    return dict(lock_file.read(spec, Problems()).pins)


def locked(capsys, *arguments, spec="a.yaml"):
    status = main(["lock", spec, *arguments])
    said = capsys.readouterr()
    looked = [line for line in said.err.splitlines() if not line.endswith(" …")]
    return status, said.out, "\n".join(looked)


def test_what_is_held_is_what_is_built(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    origin = Repository(tmp_path / "origin")
    origin.commit("v1.0.2", say_sh="#!/bin/sh\necho first\n")
    Path("a.yaml").write_text(PROGRAM.format(url=origin.url))
    locked(capsys)
    origin.commit(say_sh="#!/bin/sh\necho second\n")
    origin.git("tag", "--force", "v1.0.2")
    assert _built_says() == "first"
    locked(capsys, "--update")
    assert _built_says() == "second"


def _built_says():
    build, store = host_plan.compile_for_host("a.yaml", None).builds[0], Store()
    assert make(store, build) == 0
    return subprocess.run(programs(store.build(build.id))["say.sh"], capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("target", ["../.bash_profile", ".git/config", "/proc/self/environ"])
@pytest.mark.parametrize("content", [None, "", "# mine\n", "export A=p4ss\n", "lock: 1\n"])
def test_a_link_in_its_place_is_not_followed(target, content, origin, capsys):
    if content is not None and not target.startswith("/proc"):
        Path(target).parent.mkdir(exist_ok=True)
        Path(target).write_text(content)
    Path("a.lock.yaml").symlink_to(target)
    said = f"a.yaml:1:1: error[file-outside]: the lock file `a.lock.yaml` is a link to `{os.path.realpath(target)}`"
    for words in (["lock"], ["lock", "--upgrade"], ["check"], ["outdated"], ["run"], ["explain", "build=r-1.0.1"]):
        assert main([words[0], "a.yaml", *words[1:]]) == 1
        err = capsys.readouterr().err
        assert said in err
        assert "p4ss" not in err
    assert Path("a.lock.yaml").is_symlink()
    assert target.startswith("/proc") or content == (Path(target).read_text() if Path(target).exists() else None)


@pytest.mark.parametrize("branch", ["main", "master"])  # one of them is what a new repository begins with
def test_a_commit_by_its_place_beside_another(branch, origin, capsys):
    origin.git("branch", "--move", "--force", branch)
    Path("a.yaml").write_text(SPEC.format(url=origin.url).replace('"v{{ version }}"', "v1.0.3^"))
    assert locked(capsys)[0] == 0
    assert held() == {f"git {origin.url} v1.0.3^": commit(origin, "v1.0.2")}
