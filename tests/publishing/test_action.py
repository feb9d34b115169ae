"""The GitHub Action: its scripts are run as a runner would, with a real spec."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"] if "name" in step}
RUN, COMMENT = STEPS["Run"], STEPS["Comment"]
SPEC = """\
title: a gate
builds: {python: {engine: program, source: {system: python3}, flags: {programs: python3}}}
steps:
  - {name: count, kind: command, argv: ["{program:python3}", -c, "print('rate: 100')"],
     metrics: {qps: {pattern: "rate: ([0-9.]+)", required: true}}}
repeat: 3
claims: [{claim: it is fast, expect: "qps() > LEAST"}]
"""
INPUTS = ("spec", "judge", "scale", "set", "fail-on", "smallest-effect", "strict", "name")


def test_its_inputs_have_a_description_and_a_default():
    assert all(said["description"] and ("default" in said or said["required"]) for said in ACTION["inputs"].values())
    read = {text for step in ACTION["runs"]["steps"] for text in step.get("env", {}).values()}
    assert {f"${{{{ inputs.{name} }}}}" for name in INPUTS} <= read


@pytest.mark.parametrize("step", [step for step in ACTION["runs"]["steps"] if "run" in step], ids=lambda s: s["name"])
def test_its_scripts_are_bash(step):
    assert subprocess.run(["bash", "-n"], input=step["run"], text=True, capture_output=True).returncode == 0


def run(folder, **inputs):
    """Run the first step and the main one as a runner would; inputs that are not given are empty."""
    files = {name: str(folder / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "RUNNER_TEMP")}
    (folder / "RUNNER_TEMP").mkdir(exist_ok=True)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, **dict.fromkeys(RUN["env"], ""), "STRICT": "claims", **files, "PATH": path, **inputs}
    script = ["bash", "-e", "-o", "pipefail", "-c"]
    subprocess.run([*script, STEPS["Make a folder for the reports"]["run"]], env=environment, check=True)
    (folder / "GITHUB_OUTPUT").write_text("")
    return subprocess.run([*script, RUN["run"]], cwd=folder, env=environment, text=True, capture_output=True)


def posted(folder):
    """Return the report that the step Comment would post, by a `python` that prints it."""
    (folder / "python").write_text('#!/bin/sh\n[ ! -e "$5" ] || cat "$5"\n')
    (folder / "python").chmod(0o755)
    environment = {"PATH": f"{folder}:{os.environ['PATH']}", "RUNNER_TEMP": str(folder / "RUNNER_TEMP")}
    argv = ["bash", "-e", "-o", "pipefail", "-c", COMMENT["run"]]
    return subprocess.run(argv, cwd=folder, env=environment, text=True, capture_output=True, check=True).stdout


def test_it_judges_files_of_another_tool(tmp_path):
    for load in range(1, 7):
        for arm, seconds in (("old", 1.0), ("new", 1.2)):
            results = {"results": [{"command": f"./{arm}", "times": [seconds + load / 1000]}]}
            (tmp_path / f"{arm}-{load}.json").write_text(json.dumps(results))
    done = run(tmp_path, JUDGE="old=old-*.json\nnew=new-*.json\n", FAIL_ON="undecided\nslower\n", EFFECT="\n5%")
    assert done.returncode == 4, done.stderr
    assert done.stderr == "--fail-on: all, arm=new: 1.199× [1.196, 1.202] slower\n"
    assert (tmp_path / "GITHUB_OUTPUT").read_text() == "status=4\n"
    assert "1.199×" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text()
    assert {path.suffix for path in tmp_path.glob("RUNNER_TEMP/stepgrid-report/*")} == {".md", ".html", ".xml"}
    assert "1.199×" in posted(tmp_path)
    assert run(tmp_path, JUDGE="old=old-*.json new=new-*.json", FAIL_ON="slower", EFFECT="30%").returncode == 0


@pytest.mark.parametrize(
    "inputs", [{}, {"SPEC": "a", "JUDGE": "b"}, {"SPEC": "a", "STRICT": "x"}, {"SPEC": "wrong.yaml"}]
)
def test_a_run_without_figures_says_its_status_and_posts_no_report_of_another(tmp_path, inputs):
    (tmp_path / "wrong.yaml").write_text("title: no steps\n")
    stale = tmp_path / "RUNNER_TEMP" / "stepgrid-report" / "stepgrid-report.md"
    stale.parent.mkdir(parents=True)
    for path in (stale, tmp_path / "stepgrid-report.md"):
        path.write_text("every figure is fine")
    done = run(tmp_path, **inputs)
    assert done.returncode == (1 if inputs.get("SPEC") == "wrong.yaml" else 2), done.stderr
    assert (tmp_path / "GITHUB_OUTPUT").read_text() == f"status={done.returncode}\n"
    assert posted(tmp_path) == ""


@pytest.mark.integration
@pytest.mark.parametrize(
    ("least", "strict", "status"),
    [
        pytest.param("10", "claims", 0, marks=pytest.mark.nightly),
        ("1000", "claims", 4),
        pytest.param("1000", "no", 0, marks=pytest.mark.nightly),
        ("x", "claims", 1),
    ],
)
def test_it_runs_a_spec_as_a_gate(tmp_path, least, strict, status):
    (tmp_path / "gate.yaml").write_text(SPEC.replace("LEAST", least))
    done = run(tmp_path, SPEC="gate.yaml", STRICT=strict, SET="title=a gate that is set\n")
    assert done.returncode == status, done.stderr
    if status != 1:
        assert (tmp_path / "GITHUB_OUTPUT").read_text() == f"status={status}\n"
        assert "it is fast" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text()
        assert {path.suffix for path in tmp_path.glob("RUNNER_TEMP/stepgrid-report/*")} == {".md", ".html", ".xml"}
    else:
        assert "::error file=gate.yaml,line=7" in done.stdout
