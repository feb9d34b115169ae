"""A checkout that a stranger wrote may bring modules and settings that our own programs would take for theirs."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests import waiting

STEPGRID = Path(sys.executable).with_name("stepgrid")
SPEC = """\
title: t
builds:
  b: {engine: program, version: 1.0.0, source: {path: tree}, flags: {programs: say.sh, command: "chmod +x say.sh"}}
steps: [{name: say, kind: command, argv: [echo, "1"]}]
"""
MODULES = ("json", "logging", "re", "selectors", "signal", "stepgrid/__init__", "subprocess", "yaml")


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "checkout"
    for name in ("stepgrid", "tree"):
        (folder / name).mkdir(parents=True)
    (folder / "a.yaml").write_text(SPEC)
    (folder / "tree/say.sh").write_text("#!/bin/sh\necho 1\n")
    for name in MODULES:
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'PWN')!r}, 'a').write(__name__ + chr(10))\n")
    return folder


def say(checkout, *words):
    argv = [str(STEPGRID), *words]
    done = subprocess.run(argv, cwd=checkout, capture_output=True, text=True, timeout=waiting.LONG, check=False)
    assert not checkout.with_name("PWN").exists(), checkout.with_name("PWN").read_text()
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_no_module_of_a_checkout_is_ours(checkout):
    for words in (["check"], ["plan"], ["builds", "--yes"], ["run"]):
        said = say(checkout, words[0], "a.yaml", *words[1:])
    assert "[1/1 done]" in said


def test_no_profile_of_a_checkout_is_ours(checkout):
    """Snakemake evaluates expressions of resources."""
    expression = f"open({str(checkout.with_name('PWN'))!r}, 'w').write('profile') and 1"
    for name in ("default", "profiles/default"):
        (checkout / name).mkdir(parents=True)
        (checkout / name / "config.yaml").write_text(f'default-resources: ["mem_mb={expression}"]\n')
    assert "[1/1 done]" in say(checkout, "run", "a.yaml", "--cores", "1")
