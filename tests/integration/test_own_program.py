"""Builds of a user's own scripts: each is its files alone, so that an edit measures its cells and no others."""

import re
import subprocess

import pytest

from tests.integration.conftest import Lab

SPEC = """\
title: three scripts
builds:
  script: {engine: program, versions: [a.sh, b.sh, c.sh], source: {path: bench}, flags: {programs: "{{ version }}"}}
steps:
  - {name: sort, kind: command, argv: ["{program:{{ version }}}"], metrics: {qps: {pattern: 'QPS (\\d+)'}}}
allow: {no-repeats: a test}
"""
SCRIPT = """\
#!/bin/sh
common="${0%/*}/common.sh"
if [ -f "$common" ]; then . "$common"; fi
echo QPS ${qps:-70}
"""


@pytest.fixture
def lab(tmp_path):
    lab = Lab(tmp_path)
    lab.write(SPEC)
    for name in ("a.sh", "b.sh", "c.sh"):
        write_script(lab, name, SCRIPT)
    return lab


def write_script(lab, name, text):
    path = lab.folder / "bench" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def execute(lab, *words):
    process = lab.execute(lab.argv(*words))
    assert process.returncode == 0, process.stderr
    return process.stdout + process.stderr


def to_do(lab):
    (line,) = (line for line in execute(lab, "plan", "spec.yaml").splitlines() if line.startswith("  to do "))
    return line.removeprefix("  to do    ").partition(", about")[0]


def test_an_edited_script_measures_its_cells(lab):
    write_script(lab, "common.sh", "qps=80\n")
    warning = "; b.sh mentions common.sh, which is left out: `source: {path: …, files: [common.sh]}` adds it\n"
    assert warning in execute(lab, "run", "spec.yaml")
    for litter in (".b.sh.swp", "b.sh~", "#b.sh#", "notes.txt"):
        (lab.folder / "bench" / litter).write_text("x")
    assert to_do(lab) == "nothing"
    write_script(lab, "b.sh", SCRIPT + "# slower\n")
    plan = execute(lab, "plan", "spec.yaml")
    assert to_do(lab) == "build: 1; measure: 1 stage"
    assert "\n    content of path bench b.sh: " in plan
    assert re.search(r"  \d+s  script-b\.sh, load 1: sort\n$", plan)  # what it took is an estimate
    results = lab.results()
    execute(lab, "run", "spec.yaml")
    assert len(lab.results()) == len(results) + 1


def test_a_compiled_folder_is_what_git_would_keep(lab):
    git = ["git", "-C", str(lab.folder / "bench"), "-c", "user.name=a", "-c", "user.email=a@b.example"]
    subprocess.run([*git, "init", "-q"], check=True)
    (lab.folder / "bench" / ".gitignore").write_text("*.o\nout/\n")
    lab.write(SPEC.replace('programs: "{{ version }}"', 'command: ./a.sh, programs: "{{ version }}"'))
    execute(lab, "run", "spec.yaml")
    for litter in ("a.o", "out/a.sh", "__pycache__/a.pyc", ".idea/x", "node_modules/m/a.js", "a.sh~"):
        (lab.folder / "bench" / litter).parent.mkdir(exist_ok=True, parents=True)
        (lab.folder / "bench" / litter).write_text("x")
    assert to_do(lab) == "nothing"
    subprocess.run([*git, "add", "."], check=True)
    assert to_do(lab) == "nothing"
    (lab.folder / "bench" / "a.c").write_text("int x;")  # not added yet, and a part of it
    assert to_do(lab) == "build: 3; measure: 3 stages"
