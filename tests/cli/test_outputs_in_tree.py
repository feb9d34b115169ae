"""A local tree that holds its own outputs/: told before anything is built, and kept out by one line."""

import subprocess
import sys
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.workflow import run_request
from tests.needs import needs

SPEC = """\
title: a gate
builds: {mine: {engine: program, version: 1.0.0, source: SOURCE, flags: {command: 'true', programs: say.sh}}}
steps: [{name: say, kind: command, argv: [say.sh], duration: 10m}]
"""
ERROR = "spec.yaml:2:10: error[outputs-in-tree]: build `mine`: the tree `TREE` holds outputs/, so each stage changes it"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path("say.sh").write_text("#!/bin/sh\n")
    write("{path: .}")
    run_request.requested_plan.cache_clear()
    return tmp_path


def write(source):
    Path("spec.yaml").write_text(SPEC.replace("SOURCE", source))


def said(capsys, *argv):
    status = main(list(argv))
    return status, capsys.readouterr().err


def answer(monkeypatch, word):
    """Answer questions as at a terminal; None: there is none."""
    questions = []

    def ask(question):
        questions.append(question)
        assert word is not None
        return word

    monkeypatch.setattr(sys.stdin, "isatty", lambda: word is not None, raising=False)
    monkeypatch.setattr("builtins.input", ask)
    return questions


@needs("git")
def test_run_offers_to_write_the_line(monkeypatch, capsys):
    subprocess.run(["git", "init", "--quiet"], check=True)
    Path(".gitignore").write_text("*.o")
    assert answer(monkeypatch, None) == []
    status, text = said(capsys, "run", "spec.yaml")
    assert status != 0
    assert ERROR.replace("TREE", ".") in text
    questions = answer(monkeypatch, "n")
    assert said(capsys, "run", "spec.yaml")[0] != 0
    assert questions == [f"add the line `/outputs/` to {Path.cwd() / '.gitignore'}? [y/N] "]
    assert Path(".gitignore").read_text() == "*.o"
    answer(monkeypatch, "y")
    monkeypatch.setattr("stepgrid.cli.run._run_snakemake", lambda *_: 0)
    assert said(capsys, "run", "spec.yaml")[0] == 0
    assert Path(".gitignore").read_text() == "*.o\n/outputs/\n"
    assert not answer(monkeypatch, "n")
    assert said(capsys, "run", "spec.yaml")[0] == 0
