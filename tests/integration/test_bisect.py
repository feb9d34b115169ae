"""A search through real commits and builds, killed and continued."""

import json
import os
import signal

import pytest

from tests.build.repository import Repository
from tests.integration.conftest import Lab
from tests.waiting import until

pytestmark = pytest.mark.integration
SPEC = """\
title: scripts
builds:
  script:
    engine: program
    version: "1"
    source: {git: "URL", ref: main}
    flags: {programs: run.sh, command: sh check.sh}
steps:
  - name: run
    kind: command
    argv: ["{program:run.sh}", "{seed}"]
    metrics: {ops: {pattern: 'ops=(\\d+)', better: higher}, micros: {pattern: 'us=(\\d+)', better: lower}}
claims: [{claim: fast enough, expect: "ops() >= 900", where: {step: run}}]
"""
# the seeds of the loads differ: so does the last digit of their figures
PROGRAM = "#!/bin/sh\n# {number}\necho ops=$(({ops} + $1 % 7)) us=$(({us} + $1 % 7))\n"
COMMITS = 4
BROKEN, CHANGE = 1, 3


@pytest.fixture
def lab(tmp_path):
    repository = Repository(tmp_path / "repository")
    for number in range(COMMITS):
        ops, us = (1000, 2000) if number < CHANGE else (800, 2600)
        text = PROGRAM.format(number=number, ops=ops, us=us)
        check = "exit 1\n" if number == BROKEN else "chmod +x run.sh\n"
        repository.commit(tag=f"c{number}", run_sh=text, check_sh=check)
    found = Lab(tmp_path)
    found.write(SPEC.replace("URL", repository.url))
    return found


def searched(lab, *more):
    return lab.argv("bisect", "spec.yaml", "--good", "c0", "--bad", "c3", *more)


def decisions(lab):
    found = list(lab.folder.glob("outputs/bisect/*/search.json"))
    return max((len(json.loads(each.read_text())["decisions"]) for each in found), default=0)


def test_killed_and_continued(lab):
    first = lab.start(searched(lab, "--metric", "ops"))
    until(lambda: decisions(lab) >= 2)
    first.kill()
    first.wait()
    until(lambda: not lab.processes())
    before = lab.results()
    done = lab.execute(searched(lab, "--metric", "ops"))
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert said[0].startswith("ops of run, script ")
    assert said[0].endswith("(bad): 3 commits after the good one")
    commit = Repository.git(_repository(lab), "rev-parse", "c3^{commit}")
    assert said[1] == f"  the first bad one is {commit[:10]} (probability over 99.9 %)"
    assert f"  commit {commit}" in said
    assert "   run.sh | 4 ++--" in said
    assert {name: lab.results().get(name) for name in before} == before  # nothing was measured twice
    page = next(lab.folder.glob("outputs/bisect/*/index.html")).read_text()
    assert f"the first bad one is {commit[:10]}" in page
    assert "<svg" in page
    again = lab.execute(searched(lab, "--metric", "ops"))
    assert again.stdout == done.stdout
    assert "bisect: measure" not in again.stderr


def test_stopped_by_ctrl_c(lab):
    search = lab.start(searched(lab, "--metric", "ops"))
    until(lambda: decisions(lab) >= 1 and lab.processes("run-stage"))
    os.killpg(search.pid, signal.SIGINT)
    assert search.wait() == 3
    assert "stopped by SIGINT: nothing that was measured is lost" in lab.screen  # the run's own word
    assert lab.screen.endswith("the search is not over: stopped by SIGINT. The same command goes on\n")
    until(lambda: not lab.processes())


def _repository(lab):
    made = Repository.__new__(Repository)
    made.folder = lab.folder / "repository"
    return made
