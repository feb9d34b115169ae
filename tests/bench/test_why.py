"""The sweeps of bench/why.py: specs without a problem or a lint, and a fork that has another default."""

import json
import re
import subprocess
from argparse import Namespace

import pytest

from bench import why, why_cases
from stepgrid.cli import main
from tests.needs import needs

NAMES = ("contention", "default", "cache", "device", "fsync", "patch")
PROGRAM = """\
#!/bin/sh
case "$1" in
*help) echo "  -compression_type (of a block) type: string"; echo '    default: "snappy"' ;;
*) echo "$@" ;;
esac
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """As a run leaves it after the build."""
    monkeypatch.chdir(tmp_path)
    build = tmp_path / "outputs/builds/b-1"
    build.mkdir(parents=True)
    (build / "db_bench").write_text(PROGRAM)
    (build / "db_bench").chmod(0o755)
    (build / "build.json").write_text(json.dumps({"programs": {"db_bench": ["env", "A=1", "db_bench"]}}))
    return tmp_path


@needs("cc")
def test_the_specs_are_fine(folder, capsys):
    why_cases.prepare(folder)
    for case in why_cases.cases(folder):
        (folder / f"{case.name}.yaml").write_text(case.spec(3, 4))
        assert main(["check", f"{case.name}.yaml"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert all(re.match("options of .* are unchecked", line) for line in lines[1:]), lines
        assert lines[0].startswith(f"{case.name}.yaml: fine; 2 cells, ")
    assert tuple(case.name for case in why_cases.cases(folder)) == NAMES


@pytest.mark.nightly
@needs("apt", "cc", "perf")
@pytest.mark.parametrize("case", ["default", "cache", "fsync", "patch"])
def test_the_planted_cause_comes_first(tmp_path, case):
    """Real engines; `patch` compiles PostgreSQL, and its function has its name and its cost in a profile."""
    assert why.measured(tmp_path, Namespace(cases=[case], loads=4, seconds=4)) == [True]


@needs("cc")
def test_the_fork_has_another_default_and_says_so(folder):
    why_cases.prepare(folder)
    fork = folder / "fork/db_bench"
    said = [subprocess.check_output([fork, word], text=True) for word in ("--help", "x")]
    assert said[0] == '  -compression_type (of a block) type: string\n    default: "zlib"\n'
    assert said[1] == "--compression_type=zlib x\n"
