"""stepgrid watch and run: in a terminal multiplexer at two widths, and watch as a log."""

import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from stepgrid.store.active_run import hold_run_lock
from tests.needs import require
from tests.waiting import LONG

ROOT = Path(__file__).resolve().parents[3]
WATCH = [sys.executable, "-m", "stepgrid.cli", "watch", "a.yaml"]


@dataclass(frozen=True, slots=True)
class Screen:
    """A terminal of tmux, with a server of its own."""

    socket: str
    env: dict[str, str]

    def tmux(self, *arguments):
        argv = ["tmux", "-u", "-S", self.socket, "-f", os.devnull, *arguments]
        return subprocess.run(argv, env=self.env, capture_output=True, text=True, timeout=LONG).stdout

    def open(self, width, height=30):
        self.tmux("new-session", "-d", "-x", str(width), "-y", str(height), "env PS1='$ ' sh")

    def type(self, *keys):
        self.tmux("send-keys", *keys)

    @property
    def text(self):
        return "\n".join(line.rstrip() for line in self.tmux("capture-pane", "-p").splitlines()).rstrip()


@pytest.fixture
def screen(folder):
    require("tmux")
    env = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "TERM": "screen", "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
    made = Screen(str(folder.path / "tmux"), {name: value for name, value in env.items() if name != "TMUX"})
    yield made
    made.tmux("kill-server")


@pytest.fixture
def running(folder, until):
    """A checkout in which a stage runs."""
    folder.build()
    folder.run("run-stage", folder.stage("load"))
    folder.start("run-stage", folder.stage("slow"))
    until(lambda: list(folder.store.root.glob("attempts/*/*/steps/1-read/samples.jsonl")))
    return folder


@pytest.mark.parametrize("width", [100, 60])
def test_at_a_terminal_it_fits_and_ctrl_c_leaves_it_sane(running, screen, until, width):
    screen.open(width)
    screen.type("clear; " + shlex.join(WATCH) + "; echo left with $?", "Enter")
    until(lambda: "cpu  " in screen.text and "/30 s" in screen.text)
    lines = screen.text.splitlines()
    assert lines[0] == "a.yaml: programs that sleep"
    assert "running: python arm=slow, load 1: warm, read" in lines
    assert lines[1].endswith(" 25 %")
    assert len(lines[1]) == width - 1
    assert lines.count("ended last:") == 1
    assert max(map(len, lines)) < width
    screen.type("C-c")
    until(lambda: "left with 130" in screen.text)
    screen.type("echo still here", "Enter")
    until(lambda: "\nstill here" in screen.text)


def test_it_follows_the_windows_size(running, screen, until):
    screen.open(100)
    screen.type("clear; " + shlex.join(WATCH), "Enter")
    until(lambda: "ended last:" in screen.text)
    screen.tmux("resize-window", "-x", "60", "-y", "30")
    until(lambda: any(line.endswith(" 25 %") and len(line) == 59 for line in screen.text.splitlines()))
    assert screen.text.count("running: python arm=slow") == 1
    screen.type("C-c")


RUN = [sys.executable, "-m", "stepgrid.cli", "run", "a.yaml"]
FIRST_FAILS = """\
title: the first of two fails, the other sleeps
builds: {python: {engine: program, version: "1", source: {system: python3}}}
steps: [{name: read, kind: command, duration: 30s, argv: ["{program:python3}", "-c", "{{ params.code }}"]}]
params: {code: ""}
sweep: {arm: {one: {params: {code: "CODE"}}, two: {params: {code: "CODE "}}}}
allow: {no-repeats: this is a test, step-short: likewise}
"""
CODE = "import os, sys, time; os.path.exists('F') or (open('F', 'w'), sys.exit('no such table')); time.sleep(60)"


@pytest.mark.parametrize(("width", "height"), [(100, 30), (80, 24)])
def test_a_run_draws_one_frame_under_its_failures_and_ctrl_c_leaves_it_sane(folder, screen, until, width, height):
    (folder.path / "a.yaml").write_text(FIRST_FAILS.replace("CODE", CODE.replace("F", str(folder.path / "first"))))
    screen.open(width, height)
    screen.type("clear; " + shlex.join(RUN) + "; echo left with $?", "Enter")
    until(lambda: "1 failed" in screen.text and "/30 s" in screen.text)
    lines = screen.text.splitlines()
    frame = lines.index("a.yaml: the first of two fails, the other sleeps")
    assert any(line.startswith("failed: python arm=") for line in lines[:frame])
    assert "  | no such table" in lines[:frame]
    assert [screen.text.count(text) for text in ("a.yaml: the first", "  stages  ", "ended last:")] == [1, 1, 1]
    assert max(map(len, lines)) <= width
    screen.type("C-c")
    until(lambda: "left with 3" in screen.text)
    assert "  stages  " not in screen.text
    assert "  | no such table" in screen.text
    screen.type("echo still here", "Enter")
    until(lambda: "\nstill here" in screen.text)


def test_as_a_log_what_failed_and_the_status_at_the_end(folder, until):
    folder.build()
    env = {**os.environ, "PYTHONPATH": str(ROOT / "compiler")}
    watch = subprocess.Popen(WATCH, env=env, stdout=subprocess.PIPE, text=True)
    folder.started.append(watch)
    begin = folder.normal(watch.stdout.readline())
    with hold_run_lock(folder.store, "a.yaml"):
        folder.run("run-stage", folder.stage("load"))
        folder.run("run-stage", folder.stage("wrong"))
        lines = []
        while not any("failed" in line for line in lines):
            lines.append(folder.normal(watch.stdout.readline()))
    rest = folder.normal(watch.stdout.read())
    assert watch.wait(LONG) == 3
    assert begin.startswith("[0/4 done] ETA 1m4")
    assert lines[-1] == "failed: python arm=wrong, load 1: warm, read\n"
    assert "  | no such table\n" in rest
    assert "\nthe run has ended\n\na.yaml: programs that sleep\n  stages   1/4 done, 1 failed, 2 missing\n" in rest


def test_a_finished_sweep_is_not_waited_for(folder):
    folder.build()
    for name in ("load", "quick"):
        folder.run("run-stage", folder.stage(name))
    argv = [*WATCH, "--only", "arm == 'quick'"]
    ended = subprocess.run(
        argv, env={**os.environ, "PYTHONPATH": str(ROOT / "compiler")}, capture_output=True, text=True, timeout=60
    )
    assert ended.stderr == ""
    assert ended.returncode == 0
    assert ended.stdout.startswith("nothing is left to do\n\na.yaml: programs that sleep\n")
