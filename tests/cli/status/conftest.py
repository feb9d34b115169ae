"""A checkout with a plan of programs that sleep, and the real jobs, as processes of their own."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.language import problems
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan
from stepgrid.workflow.remaining_work import remaining_work
from tests import forked, waiting

ROOT = Path(__file__).resolve().parents[3]
SPEC = """\
title: programs that sleep
builds: {python: {engine: program, version: "1", source: {system: python3}}}
steps:
  - {name: load, kind: command, argv: ["{program:python3}", "-c", "open('{data}/t', 'w').write('x')"], mutates: true}
  - checkpoint: loaded
  - {name: warm, kind: command, argv: ["{program:python3}", "-c", "pass"]}
  - name: read
    kind: command
    duration: 30s
    argv: ["{program:python3}", "-c", "{{ params.code }}"]
params: {code: pass}
sweep:
  arm:
    from: loaded
    points:
      quick: {}
      slow: {params: {code: "import time; time.sleep(60)"}}
      wrong: {params: {code: "import sys; sys.exit('no such table')"}}
"""


@dataclass
class Folder:
    path: Path
    capture: pytest.CaptureFixture[str]
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def plan(self):
        return host_plan.compile_for_host("a.yaml", None)

    @property
    def store(self):
        return Store()

    def stage(self, name):
        """Its id: of the load, or of an arm."""
        load = name == "load"
        return next(s.id for s in self.plan.stages if (s.parent is None if load else f"arm={name}," in s.title))

    def publish(self):
        remaining_work(self.plan, self.store)

    def command(self, job, node):
        return [sys.executable, "-m", "stepgrid.pipeline", job, self.plan.digest, node]

    def build(self):
        self.publish()
        self.run("build", self.plan.builds[0].id)

    def run(self, job, node, **env):
        return forked.execute(self.command(job, node), self.path, _env(env), waiting.LONG, forked.STAGE).returncode

    def start(self, job, node, **env):
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(self.command(job, node), env=_env(env), stderr=quiet, stdout=quiet, text=True)
        self.started.append(process)
        return process

    def normal(self, text):
        return normal(text)

    def status(self, *arguments):
        """The exit status, and the text with its times, ids and places made the same."""
        self.capture.readouterr()
        code = main(["status", "a.yaml", *arguments])
        return code, normal(self.capture.readouterr().out)


def _env(more):
    return {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), **more}


def normal(text):
    for pattern, instead in (
        (r"\d\d\d\d-\d\d-\d\d (?=\d\d:\d\d)", ""),
        (r"\d\d:\d\d:\d\d", "HH:MM:SS"),
        (r"\(\d\d:\d\d\)", "(HH:MM)"),
        (r"\((?:\d+[smh])+\)", "(TIME)"),
        (r"since HH:MM:SS \(TIME\)", "since HH:MM:SS"),
        (r"pid \d+", "pid N"),
        (r"process \d+", "process N"),
        (r"\bs-[0-9a-f]+", "s-ID"),
        (r"\d{8}T\d{6}\.\d+Z", "WHEN"),
        (r" on \S+$", " on HOST"),
        (r"\b\d+/30 s", "N/30 s"),
        (r" in \d+s$", " in Ns"),
    ):
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    return text


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEPGRID_HOST_LOCK", str(tmp_path / "host.lock"))
    (tmp_path / "a.yaml").write_text(SPEC)
    problems._source.cache_clear()
    made = Folder(tmp_path, capsys)
    yield made
    for process in made.started:
        process.terminate()
        process.wait(timeout=waiting.LONG)


@pytest.fixture
def until():
    return waiting.until
