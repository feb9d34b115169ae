"""stepgrid builds: what there is, made and listed; by real jobs, of a program that is a script."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from stepgrid.cli import main
from stepgrid.cli.builds import source_text
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan

Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).resolve().parents[2]
SPEC = """\
title: t
builds:
  good: {engine: program, version: "1.0", source: {path: tree}, flags: {programs: hello}}
  bad: {engine: program, source: {path: tree}, flags: {programs: gone}}
steps: [{name: hi, kind: command, argv: ["{program:hello}"], when: "build == 'good'"}]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tree").mkdir()
    script = tmp_path / "tree" / "hello"
    script.write_text("#!/bin/sh\necho hello\n")
    script.chmod(0o755)
    (tmp_path / "a.yaml").write_text(SPEC)
    return tmp_path


def ids() -> dict[str, str]:
    return {build.name: build.id for build in host_plan.compile_for_host("a.yaml", None).builds}


def listed(capsys: Capture, *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["builds", *arguments, "--format", "json"]) == 0
    return {each["names"][0]: each for each in json.loads(capsys.readouterr().out)}


def test_a_failure_keeps_none_of_the_others_from_being_made(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["builds", "a.yaml", "--make", "-j", "2"]) == 3
    out, err = capfd.readouterr()
    lines = out.splitlines()
    assert sorted(line.partition(" ")[2] for line in lines[:2]) == ["bad: failed", "good: built"]
    assert lines[2].startswith("a.yaml: 2 builds: 1 built in ")
    assert lines[2].endswith(", 0 there already, 1 failed: bad")
    assert "build good: path tree" in err
    assert Store().has_build(ids()["good"])
    assert Store().mark(ids()["good"]).exists()


def test_what_is_there_is_not_made_again(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["builds", "a.yaml", "--make", "good"]) == 0
    before = (Store().build(ids()["good"]) / "build.json").stat()
    capfd.readouterr()
    assert main(["builds", "a.yaml", "--make", "good"]) == 0
    assert capfd.readouterr().out == "a.yaml: 1 build: 0 built, 1 there already, 0 failed\n"
    assert (Store().build(ids()["good"]) / "build.json").stat() == before


@contextmanager
def _held_by_another(lock: Path) -> Iterator[None]:
    hold = "import sys; from pathlib import Path; from stepgrid.host.locks import locked\n"
    hold += "with locked(Path(sys.argv[1])): print(flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", hold, str(lock)], stdin=-1, stdout=-1) as other:
        assert other.stdout
        assert other.stdout.readline()
        yield
        other.kill()


def test_the_states(capsys: Capture) -> None:
    assert {name: each["state"] for name, each in listed(capsys, "a.yaml").items()} == {
        "good": "missing",
        "bad": "missing",
    }
    assert main(["builds", "a.yaml", "--make"]) == 3
    found = listed(capsys, "a.yaml")
    good, bad = found["good"], found["bad"]
    assert (good["state"], good["version"], good["why"]) == ("done", "1.0", None)
    assert good["bytes"] >= 4096
    assert good["quality"]["route"] == "source"
    assert good["specs"] == []
    assert (bad["state"], bad["bytes"]) == ("failed", None)
    assert "gone" in bad["why"]
    assert Path(bad["log"]).is_file()
    with _held_by_another(Store().lock(bad["id"])):
        assert listed(capsys, "a.yaml")["bad"]["state"] == "running"


def test_two_specs_share_a_build(folder: Path, capsys: Capture) -> None:
    (folder / "b.yaml").write_text(SPEC.replace("title: t", "title: other"))
    assert main(["builds", "a.yaml", "--make", "good"]) == 0
    assert main(["builds", "b.yaml", "--make", "bad"]) == 3
    assert listed(capsys, "b.yaml")["good"]["state"] == "done"
    assert listed(capsys, "b.yaml")["good"]["specs"] == ["a.yaml"]
    assert listed(capsys)["good"]["specs"] == ["a.yaml", "b.yaml"]
    assert list(listed(capsys)) == ["bad", "good"]


def test_the_text_fits_a_page(capsys: Capture) -> None:
    main(["builds", "a.yaml", "--make"])
    capsys.readouterr()
    assert main(["builds", "a.yaml"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("a.yaml: 2 builds: 1 done, 1 failed; ")
    assert "good: done, program 1.0, " in "\n".join(lines)
    assert f"  id         {ids()['good']}" in lines
    assert "  from       path: tree, files: hello" in lines
    assert any(line.startswith("  quality ") for line in lines)
    assert "made as compiled from source" in " ".join(" ".join(lines).split())
    assert any(line.startswith("  log        outputs/attempts/b-") for line in lines)
    assert max(map(len, lines)) <= 100


def test_what_is_declared_beside_the_source(folder: Path, capsys: Capture) -> None:
    """Two builds of one source are told apart, before they are made and afterwards."""
    (folder / "a.patch").write_text("--- a/hello\n+++ b/hello\n@@ -1,2 +1,2 @@\n #!/bin/sh\n-echo hello\n+echo you\n")
    spec = SPEC.replace("{programs: hello}}", "{programs: hello, env.CFLAGS: -O1}, patches: [a.patch]}")
    (folder / "a.yaml").write_text(spec)
    said = "  with       flags: programs: hello, env.CFLAGS: -O1; patches: a.patch"
    assert main(["builds", "a.yaml"]) == 0
    assert said in capsys.readouterr().out.splitlines()
    assert main(["builds", "a.yaml", "--make", "good"]) == 0
    capsys.readouterr()
    assert main(["builds"]) == 0
    assert (
        "  with       flags: env.CFLAGS: -O1, programs: hello; patches: a.patch" in capsys.readouterr().out.splitlines()
    )


def test_the_kind_of_a_source_comes_first() -> None:
    assert source_text({"classifier": "linux64", "maven": "a:b:1", "tree": {"ref": "v1", "git": "https://host/x"}}) == (
        "maven: a:b:1, classifier: linux64, tree: (git: https://host/x, ref: v1)"
    )


def test_a_job_that_is_killed_is_told(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """By whoever killed it: it cannot say so itself."""
    (folder / "tree" / "make.sh").write_text("#!/bin/sh\nkill -9 $(cut -d' ' -f4 /proc/$PPID/stat)\nsleep 300\n")
    (folder / "tree" / "make.sh").chmod(0o755)
    (folder / "a.yaml").write_text(SPEC.replace("{programs: hello}", "{programs: hello, command: ./make.sh}"))
    assert main(["builds", "a.yaml", "--make", "good"]) == 3
    assert capfd.readouterr().out.startswith("[1/1] good: failed, killed by SIGKILL\n")


def test_warnings_are_of_the_commands_that_measure(folder: Path, capsys: Capture) -> None:
    (folder / "a.yaml").write_text(SPEC + "allow: {ref-open: nothing}\n")
    assert main(["check", "a.yaml"]) == 0
    assert "warning[allow-unused]" in capsys.readouterr().err
    assert main(["builds", "a.yaml"]) == 0
    assert capsys.readouterr().err == ""


def test_an_empty_store(capsys: Capture) -> None:
    assert main(["builds"]) == 0
    assert capsys.readouterr().out == "outputs/builds: 0 builds\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a.yaml", "--make", "goood"], "there is no build `goood`: did you mean `good`?"),
        (["a.yaml", "--make", "-j", "0"], "-j takes the number of builds that are made at once: 1 or more"),
        (["--make"], "--make needs a spec before it"),
        (["diff", "one"], "usage: stepgrid builds [SPEC] "),
        (["diff", "one", "two"], "there is no build `one`: none was made here"),
    ],
)
def test_what_cannot_be_meant(arguments: list[str], said: str, capsys: Capture) -> None:
    assert main(["builds", *arguments]) == 2
    assert any(line.startswith(said) for line in capsys.readouterr().err.splitlines())


def test_a_wrong_spec_makes_nothing(folder: Path, capsys: Capture) -> None:
    (folder / "a.yaml").write_text(SPEC.replace("engine: program", "engine: progam"))
    assert main(["builds", "a.yaml", "--make"]) == 1
    assert "error[undefined-name]" in capsys.readouterr().err
    assert not Store().build("_").parent.exists()


def test_what_is_stopped_goes_on_with_the_same_command(folder: Path) -> None:
    """Nothing is left running; the build that was being made says that it was interrupted."""
    (folder / "tree" / "make.sh").write_text("#!/bin/sh\necho > $STARTED\n[ ! -e $SLOW ] || sleep 300\n")
    (folder / "tree" / "make.sh").chmod(0o755)
    spec = SPEC.replace("{programs: hello}", "{programs: hello, command: ./make.sh}")
    (folder / "a.yaml").write_text(spec)
    started, slow = folder / "started", folder / "slow"
    slow.touch()
    env = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "STARTED": str(started), "SLOW": str(slow)}
    argv = [sys.executable, "-m", "stepgrid.cli", "builds", "a.yaml", "--make", "good"]
    with subprocess.Popen(argv, env=env, stderr=subprocess.PIPE, text=True) as making:
        for _ in range(600):
            if started.exists():
                break
            time.sleep(0.05)
        making.send_signal(signal.SIGINT)
        _, err = making.communicate(timeout=60)
    assert making.returncode == 3
    assert err.endswith("stopped by SIGINT; the same command goes on\n")
    (attempt,) = (folder / "outputs" / "attempts").glob("b-*/*")
    assert json.loads((attempt / "failure.json").read_text())["status"] == "interrupted"
    slow.unlink()
    assert subprocess.run(argv, env=env, capture_output=True, check=False).returncode == 0
