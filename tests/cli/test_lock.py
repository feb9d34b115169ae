"""stepgrid lock, on real git repositories."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from stepgrid.build.job import make
from stepgrid.build.pins import write_lock
from stepgrid.build.record import programs
from stepgrid.cli import main
from stepgrid.language import lock_file
from stepgrid.language.problems import Problems, SpecError
from stepgrid.model.plan import Plan
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan
from tests.build.repository import Repository
from tests.cli.test_plan import built, kept, measured

Capture = pytest.CaptureFixture[str]

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
def origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = Repository(tmp_path / "origin")
    for release in ("1.0.1", "1.0.2", "1.0.3"):
        made.commit(f"v{release}", version=release)
    folder = tmp_path / "checkout"
    (folder / "outputs").mkdir(parents=True)
    monkeypatch.chdir(folder)
    (folder / "a.yaml").write_text(SPEC.format(url=made.url))
    return made


def commit(origin: Repository, ref: str) -> str:
    return origin.git("rev-parse", f"{ref}^{{commit}}")


def moved(origin: Repository, tag: str) -> tuple[str, str]:
    """The commit that it was, and the one that it is."""
    old = commit(origin, tag)
    origin.commit(version="another")
    origin.git("tag", "--force", tag)
    return old, commit(origin, tag)


def held(spec: str = "a.yaml") -> dict[str, str]:
    return dict(lock_file.read(spec, Problems()).pins)


def locked(capsys: Capture, *arguments: str, spec: str = "a.yaml") -> tuple[int, str, str]:
    status = main(["lock", spec, *arguments])
    said = capsys.readouterr()
    looked = [line for line in said.err.splitlines() if not line.endswith(" …")]
    return status, said.out, "\n".join(looked)


def test_it_holds_the_sources_of_all_scales(origin: Repository, capsys: Capture) -> None:
    keys = [f"git {origin.url} v1.0.{n}" for n in (1, 2, 3)]
    commits = [commit(origin, f"v1.0.{n}") for n in (1, 2, 3)]
    new = "".join(f"new: {key}: {said}\n" for key, said in zip(keys, commits, strict=True))
    assert locked(capsys) == (0, f"{new}a.lock.yaml: 3 sources held, 3 changed\n", "")
    assert held() == dict(zip(keys, commits, strict=True))
    assert locked(capsys) == (0, "a.lock.yaml: 3 sources held, nothing changed\n", "")
    assert list(Path().glob(".*")) == []


def test_one_scale_alone(origin: Repository, capsys: Capture) -> None:
    assert locked(capsys, "--scale", "small")[0] == 0
    assert list(held()) == [f"git {origin.url} v1.0.3"]
    assert locked(capsys)[0] == 0
    assert len(held()) == 3


def test_a_moved_tag_is_noticed_and_held(origin: Repository, capsys: Capture) -> None:
    locked(capsys)
    old, new = moved(origin, "v1.0.2")
    said = (
        f"a.lock.yaml:5:3: git {origin.url} v1.0.2 is held to {old}, and is {new} now; `--update` takes what it is now"
    )
    assert locked(capsys) == (1, "a.lock.yaml: 3 sources held, nothing changed\n", said)
    assert held()[f"git {origin.url} v1.0.2"] == old


def test_what_is_held_is_what_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
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


def _built_says() -> str:
    build, store = host_plan.compile_for_host("a.yaml", None).builds[0], Store()
    assert make(store, build) == 0
    return subprocess.run(programs(store.build(build.id))["say.sh"], capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("named", [(), ("r",), ("r-1.0.2",)])
def test_an_update_moves_it(named: tuple[str, ...], origin: Repository, capsys: Capture) -> None:
    locked(capsys)
    old, new = moved(origin, "v1.0.2")
    said = f"moved: git {origin.url} v1.0.2: {old} -> {new}\na.lock.yaml: 3 sources held, 1 changed\n"
    assert locked(capsys, "--update", *named) == (0, said, "")
    assert held()[f"git {origin.url} v1.0.2"] == new


def test_an_update_of_another_build_leaves_it(origin: Repository, capsys: Capture) -> None:
    locked(capsys)
    old, _ = moved(origin, "v1.0.2")
    assert locked(capsys, "--update", "r-1.0.1")[0] == 1
    assert held()[f"git {origin.url} v1.0.2"] == old


def test_an_update_makes_another_build_and_only_its_stages_stale(origin: Repository, capsys: Capture) -> None:
    locked(capsys)
    old, new = moved(origin, "v1.0.2")
    before: Plan = kept()
    built(before)
    measured(before, before.stages)
    locked(capsys, "--update")
    assert main(["plan", "a.yaml", "--format", "json"]) == 0
    nodes = json.loads(capsys.readouterr().out)["nodes"]
    stale = [(node["kind"], node["title"], node["reasons"]) for node in nodes if node["action"] == "measure"]
    reason = {"field": "build.pin", "old": old, "new": new, "where": "a.yaml:2:10"}
    assert stale == [("build", "r-1.0.2", []), ("stage", "r-1.0.2, load 1: fillseq", [reason])]
    assert main(["plan", "a.yaml"]) == 0
    assert f"\n    build.pin: {old} -> {new} (a.yaml:2:10)\n" in capsys.readouterr().out


def test_what_nothing_uses_goes_with_an_update(origin: Repository, capsys: Capture) -> None:
    locked(capsys)
    Path("a.yaml").write_text(SPEC.format(url=origin.url).replace("1.0.1, ", ""))
    status, out, err = locked(capsys)
    assert (status, out) == (0, "a.lock.yaml: 3 sources held, nothing changed\n")
    assert err.startswith(f"a.lock.yaml:4:3: warning[lock-unused]: the spec has no source `git {origin.url} v1.0.1`")
    said = f"removed: git {origin.url} v1.0.1: no scale of the spec uses it\na.lock.yaml: 2 sources held, 1 changed\n"
    assert locked(capsys, "--update") == (0, said, "")


def test_a_ref_that_there_is_not(origin: Repository, capsys: Capture) -> None:
    Path("a.yaml").write_text(SPEC.format(url=origin.url).replace("1.0.1, ", "1.0.11, "))
    status, out, err = locked(capsys)
    assert (status, out.splitlines()[-1]) == (3, "a.lock.yaml: 2 sources held, 2 changed, 1 not held")
    key = f"git {origin.url} v1.0.11"
    assert err.startswith(f"{key} is not held: {origin.url} has no tag, branch or commit v1.0.11")
    assert key not in held()


def test_what_is_held_stays_without_its_repository(origin: Repository, capsys: Capture) -> None:
    locked(capsys)
    before = held()
    origin.folder.rename(origin.folder.with_name("gone"))
    status, out, err = locked(capsys)
    assert (status, out) == (3, "a.lock.yaml: 3 sources held, nothing changed\n")
    assert f"git {origin.url} v1.0.1 stays as it is held: git cannot read {origin.url}: " in err
    assert held() == before
    assert main(["check", "a.yaml"]) == 0  # asks nobody


def test_a_mirror_is_asked_in_place_of_the_url(origin: Repository, capsys: Capture) -> None:
    Path("a.yaml").write_text(SPEC.format(url="https://example.org/r.git"))
    Path("site.yaml").write_text(f"mirrors:\n  https://example.org/r.git: {origin.folder}\n")
    assert locked(capsys, "--site", "site.yaml")[0] == 0
    assert held()["git https://example.org/r.git v1.0.1"] == commit(origin, "v1.0.1")


def test_wrong_usage_and_wrong_files(origin: Repository, capsys: Capture) -> None:
    assert locked(capsys, "--update", "rr") == (2, "", "no build `rr` has a source that moves; did you mean `r`?")
    Path("a.lock.yaml").write_text("builds: {r: abc}\n")
    status, out, err = locked(capsys)
    assert (status, out) == (1, "")
    assert err.startswith("a.lock.yaml:1:1: error[unknown-key]: `builds` is not a key of a lock file")
    assert err.endswith("\na.yaml: 1 error")
    assert locked(capsys, spec="b.yaml")[0] == 1


@pytest.mark.parametrize("target", ["../.bash_profile", ".git/config", "/proc/self/environ"])
@pytest.mark.parametrize("content", [None, "", "# mine\n", "export A=p4ss\n", "lock: 1\n"])
def test_a_link_in_its_place_is_not_followed(
    target: str, content: str | None, origin: Repository, capsys: Capture
) -> None:
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


def test_a_link_to_another_lock_file_of_the_folder(origin: Repository, capsys: Capture) -> None:
    Path("a.lock.yaml").symlink_to("b.lock.yaml")
    assert locked(capsys)[0] == 0
    assert Path("a.lock.yaml").is_symlink()
    assert len(held("b.yaml")) == 3


@pytest.mark.parametrize("content", ["export A=1\n", "title: t\nsteps: []\n", "- 1\n", "lock: 9\n", "\0"])
def test_what_is_no_lock_file_is_not_replaced(content: str, origin: Repository, capsys: Capture) -> None:
    Path("a.lock.yaml").write_text(content)
    for words in (["--update"], ["--upgrade"]):
        assert locked(capsys, *words)[0] == 1
    with pytest.raises(SpecError):
        write_lock("a.yaml", {}, {})
    assert Path("a.lock.yaml").read_text() == content


@pytest.mark.parametrize(
    ("url", "ref"), [("--upload-pack=touch canary", "v1"), ("file:///x", "--upload-pack=touch canary")]
)
def test_nothing_is_taken_for_an_option(url: str, ref: str, origin: Repository, capsys: Capture) -> None:
    Path("a.yaml").write_text(SPEC.format(url=url).replace("v{{ version }}", ref))
    status, _, err = locked(capsys)
    assert status == 1
    assert "begins with `-`" in err
    assert not list(Path().rglob("canary"))


def test_a_spec_that_has_nothing_to_hold(origin: Repository, capsys: Capture) -> None:
    text = SPEC.format(url="").split("scales")[0].replace('git: "", ref: "v{{ version }}"', "system: db_bench")
    Path("a.yaml").write_text(text)
    assert locked(capsys) == (0, "a.lock.yaml: 0 sources held, nothing changed\n", "")
    assert not Path("a.lock.yaml").exists()


def test_check_takes_a_lock_file_for_its_spec(origin: Repository, capsys: Capture) -> None:
    locked(capsys)
    assert main(["check", "a.lock.yaml", "a.yaml"]) == 0
    verdict, *lacks = capsys.readouterr().out.splitlines()
    assert verdict == "a.yaml: fine; 2 cells, 2 builds, 2 stages; about 10s of measuring"
    assert all(line.startswith("build r-") and "cannot be made on this host" in line for line in lacks)  # without cc


@pytest.mark.parametrize("branch", ["main", "master"])  # one of them is what a new repository begins with
def test_a_commit_by_its_place_beside_another(branch: str, origin: Repository, capsys: Capture) -> None:
    origin.git("branch", "--move", "--force", branch)
    Path("a.yaml").write_text(SPEC.format(url=origin.url).replace('"v{{ version }}"', "v1.0.3^"))
    assert locked(capsys)[0] == 0
    assert held() == {f"git {origin.url} v1.0.3^": commit(origin, "v1.0.2")}
