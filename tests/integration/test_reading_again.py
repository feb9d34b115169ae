"""A changed metric reads kept output again and measures nothing."""

import json

import pytest

from tests.integration.conftest import Lab

SPEC = """\
title: what is read of a step
builds: {mine: {engine: program, version: "1.0", source: {path: tool}, flags: {programs: tool}}}
steps:
  - {name: put, kind: command, argv: ["{program:tool}", put]}
  - {checkpoint: loaded}
  - name: get
    kind: command
    argv: ["{program:tool}", get, "{{ params.size }}"]
    metrics: {qps: {pattern: 'QPS (\\d+)'}}
params: {size: 1}
sweep: {size: {param: size, values: [1, 2], from: loaded}}
allow: {no-repeats: a test}
hardware: {id: any}
"""
TOOL = "#!/bin/sh\necho QPS 70, 9 ms\n"
READ_AGAIN = "  read     2 metrics are read again from kept output (p99, qps; 2 results)\n"


@pytest.fixture
def lab(tmp_path):
    lab = Lab(tmp_path)
    lab.write(SPEC)
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool" / "tool").write_text(TOOL)
    (tmp_path / "tool" / "tool").chmod(0o755)
    return lab


def execute(lab, *words):
    done = lab.execute(lab.argv(*words))
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def figures(lab, metric):
    sql = f"SELECT {metric} FROM steps WHERE step = 'get'"
    rows = json.loads(execute(lab, "query", "spec.yaml", sql, "--format", "json"))
    return [row[metric] for row in rows]


def change_metric(lab):
    changed = "'(\\d+) ms', times: 1000, better: lower}, p99: {pattern: 'P99 (\\d+)'}"
    lab.write(SPEC.replace("'QPS (\\d+)'}", changed))


def test_a_changed_pattern_measures_nothing(lab):
    execute(lab, "run", "spec.yaml")
    results = lab.results()
    assert "  read " not in execute(lab, "plan", "spec.yaml")
    change_metric(lab)
    plan = execute(lab, "plan", "spec.yaml")
    assert "to do    nothing\n" in plan
    assert READ_AGAIN in plan
    report = execute(lab, "run", "spec.yaml")
    assert "get has no `p99`" in report
    assert lab.results() == results
    assert figures(lab, "qps") == [9000, 9000]
    assert "  read " not in execute(lab, "plan", "spec.yaml")
    lab.write(SPEC.replace('}}"]', '}}", more]').replace("QPS (", "qps ("))
    plan = execute(lab, "plan", "spec.yaml")
    assert "    params.argv: [{program:tool}, get, 1] -> [{program:tool}, get, 1, more]\n" in plan
    assert "metrics" not in plan


REQUIRED = """\
title: one program, whose pattern is misspelt
builds: {mine: {engine: program, version: "1.0", source: {system: sh}, flags: {programs: sh}}}
steps:
  - name: get
    kind: command
    argv: [sh, -c, "echo $0 >> LOG; echo QPS 7$0", "{{ params.size }}"]
    metrics: {qps: {pattern: 'PQS (\\d+)', required: true}}
params: {size: 1}
sweep: {size: {param: size, values: [1, 2, 3, 4]}}
allow: {no-repeats: a test}
hardware: {id: any}
"""


def test_a_misspelt_pattern_costs_two_stages_and_their_output_is_read_again(tmp_path):
    lab, log = Lab(tmp_path), tmp_path / "log"
    lab.write(REQUIRED.replace("LOG", str(log)))
    run = lab.run()
    assert run.returncode == 3, run.stderr
    assert len(log.read_text().split()) == 2, "the others are not measured"
    assert (
        "get: not measured, because 2 stages before it failed alike (metric `qps`: nothing in stdout or stderr matches "
        "PQS (\\d+)): change what the spec looks for, and the next run reads their output again"
    ) in run.stderr
    measured = set(log.read_text().split())
    lab.write(REQUIRED.replace("LOG", str(log)).replace("PQS", "QPS"))
    run = lab.run()
    assert run.returncode == 0, run.stderr
    assert run.stderr.count(": read again from kept output, not measured") == 2
    assert sorted(log.read_text().split()) == ["1", "2", "3", "4"], "each is measured once"
    assert sorted(figures(lab, "qps")) == [71, 72, 73, 74]
    assert len(lab.results()) == 4
    assert len(measured) == 2
    assert not [*(tmp_path / "outputs/results").glob("*/*/unread.json")]


def test_output_that_was_changed_is_measured_again(tmp_path):
    lab, log = Lab(tmp_path), tmp_path / "log"
    lab.write(REQUIRED.replace("LOG", str(log)).replace("[1, 2, 3, 4]", "[1, 2]"))
    assert lab.run().returncode == 3
    for path in (tmp_path / "outputs/attempts").glob("*/*/steps/*/stdout"):
        path.write_text("QPS 99\n")
    lab.write(REQUIRED.replace("LOG", str(log)).replace("[1, 2, 3, 4]", "[1, 2]").replace("PQS", "QPS"))
    run = lab.run()
    assert run.returncode == 0, run.stderr
    assert sorted(figures(lab, "qps")) == [71, 72]
    assert len(log.read_text().split()) == 4
