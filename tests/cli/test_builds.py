"""stepgrid builds: what there is, made and listed; by real jobs, of a program that is a script."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.store.store import Store

ROOT = Path(__file__).resolve().parents[2]
SPEC = """\
title: t
builds:
  good: {engine: program, version: "1.0", source: {path: tree}, flags: {programs: hello}}
  bad: {engine: program, source: {path: tree}, flags: {programs: gone}}
steps: [{name: hi, kind: command, argv: ["{program:hello}"], when: "build == 'good'"}]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tree").mkdir()
    script = tmp_path / "tree" / "hello"
    script.write_text("#!/bin/sh\necho hello\n")
    script.chmod(0o755)
    (tmp_path / "a.yaml").write_text(SPEC)
    return tmp_path


def listed(capsys, *arguments):
    capsys.readouterr()
    assert main(["builds", *arguments, "--format", "json"]) == 0
    return {each["names"][0]: each for each in json.loads(capsys.readouterr().out)}


@contextmanager
def _held_by_another(lock):
    hold = "import sys; from pathlib import Path; from stepgrid.host.locks import locked\n"
    hold += "with locked(Path(sys.argv[1])): print(flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", hold, str(lock)], stdin=-1, stdout=-1) as other:
        assert other.stdout
        assert other.stdout.readline()
        yield
        other.kill()


def test_the_states(capsys):
    assert {name: each["state"] for name, each in listed(capsys, "a.yaml").items()} == {
        "good": "missing",
        "bad": "missing",
    }
    assert main(["builds", "a.yaml", "--yes"]) == 3
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


def test_warnings_are_of_the_commands_that_measure(folder, capsys):
    (folder / "a.yaml").write_text(SPEC + "allow: {ref-open: nothing}\n")
    assert main(["check", "a.yaml"]) == 0
    assert "warning[allow-unused]" in capsys.readouterr().err
    assert main(["builds", "a.yaml"]) == 0
    assert capsys.readouterr().err == ""


def test_what_is_stopped_goes_on_with_the_same_command(folder):
    """Nothing is left running; the build that was being made says that it was interrupted."""
    (folder / "tree" / "make.sh").write_text("#!/bin/sh\necho > $STARTED\n[ ! -e $SLOW ] || sleep 300\n")
    (folder / "tree" / "make.sh").chmod(0o755)
    spec = SPEC.replace("{programs: hello}", "{programs: hello, command: ./make.sh}")
    (folder / "a.yaml").write_text(spec)
    started, slow = folder / "started", folder / "slow"
    slow.touch()
    env = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "STARTED": str(started), "SLOW": str(slow)}
    argv = [sys.executable, "-m", "stepgrid.cli", "builds", "a.yaml", "--yes", "good"]
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
