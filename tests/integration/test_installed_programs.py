"""Programs and libraries of published packages, by the clients of their registries."""

import subprocess
from pathlib import Path
from subprocess import PIPE, STDOUT

import pytest

from stepgrid.build import record
from stepgrid.build.job import make
from stepgrid.cli import main
from stepgrid.language import lock_file
from stepgrid.language.problems import Problems
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan
from tests.needs import needs

SPEC = """\
title: t
builds: {{p: {{engine: program, {build}}}}}
steps: [{{name: say, kind: command, argv: ["{{program:{program}}}"]}}]
"""
TITLECASE, BBOLT = "source: {cargo: titlecase, version: 3.6.0}", "source: {go: go.etcd.io/bbolt/cmd/bbolt@v1.3.10}"
SEMVER = "source: {npm: semver, version: 7.6.0}"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def planned(build, program):
    Path("a.yaml").write_text(SPEC.format(build=build, program=program))
    return host_plan.compile_for_host("a.yaml", None).builds[0]


def answer(build, program, *words, text=""):
    """Make a build, and start its program where it was published."""
    assert make(Store(), build) == 0
    argv = record.programs(Store().build(build.id))[program]
    command = [*argv, *words]
    return subprocess.run(command, input=text, stdout=PIPE, stderr=STDOUT, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("build", "program", "words", "output"),
    [
        pytest.param(TITLECASE, "titlecase", (), "A Tale of Two", marks=needs("cargo")),
        pytest.param(BBOLT, "bbolt", ("bench", "-count", "1000"), "# Write", marks=needs("go-modules")),
        pytest.param(SEMVER, "semver", ("-i", "minor", "1.2.3"), "1.3.0", marks=needs("npm")),
    ],
)
def test_a_program_is_installed_and_held(build, program, words, output):
    before = planned(build, program)
    assert output in answer(before, program, *words, text="a tale of two")
    assert main(["lock", "a.yaml"]) == 0
    (pin,) = lock_file.read("a.yaml", Problems()).pins.values()
    after = planned(build, program)
    assert (after.id, [*after.pins.values()]) == (before.id, [pin.removeprefix("sha256:")])
