"""A profile pass over real runs of a program: the function that an arm calls more, and its sleeps, with their cost."""

import json
from pathlib import Path

import pytest

from tests.needs import may_profile, needs

EXTRA = 10.0  # microseconds of each operation of the slow arm
PROGRAM = Path(__file__).with_name("burn.c").read_text(encoding="utf-8")
SPEC = f"""\
title: "a checksum that is verified too often"
builds:
  burn:
    engine: program
    version: "1"
    source: {{path: src}}
    flags: {{command: cc -O1 -g -o burn burn.c, programs: burn}}
steps:
  - {{name: fill, kind: command, measured: false, mutates: true, argv: ["true"]}}
  - checkpoint: loaded
  - name: read
    kind: command
    argv: ["{{program:burn}}", "{{{{ params.seconds }}}}", "{{{{ params.extra }}}}", "{{{{ params.sleep }}}}"]
    metrics:
      qps: {{pattern: "rate ([0-9.]+)", required: true}}
      operations: {{pattern: "operations ([0-9]+)", required: true}}
params: {{seconds: 3, extra: 0, sleep: 0}}
sweep:
  checksums: {{from: loaded, points: {{once: {{params: {{extra: 0}}}}, always: {{params: {{extra: {EXTRA:g}}}}}}}}}
repeat: 3
report:
  base: {{checksums: once}}
  tables: [functions, {{layout: counters, counters: ["events.*"]}}]
"""


@pytest.mark.nightly
@needs("perf", "cc")
def test_the_planted_function_has_its_name_and_its_cost(lab):
    _write(lab, SPEC)
    assert lab.run().returncode == 0
    measured = _results(lab.folder)
    lab.write(f"{SPEC}profile: {{where: changed, for: 30s, every: 31s, groups: [[page-faults, task-clock]]}}\n")
    profiled = lab.run()
    assert profiled.returncode == 0, profiled.stderr
    assert "profile: the steps that differ run again under a profiler\n6 stages more" in profiled.stderr
    assert measured.items() <= _results(lab.folder).items()
    shown = lab.execute(lab.argv("report", "spec.yaml", "--table", "CPU by function", "--format", "json"))
    assert shown.returncode == 0, shown.stderr
    (table,) = json.loads(shown.stdout)
    first, *_, total, measured_cpu = table["rows"]
    assert first[0]["text"] == "verify_checksum"
    assert first[3]["value"] == pytest.approx(EXTRA, rel=0.2)
    for column in (1, 2):
        assert total[column]["value"] == pytest.approx(measured_cpu[column]["value"], rel=0.05)
    counted = lab.execute(lab.argv("report", "spec.yaml", "--table", "counters", "--format", "json"))
    assert [row[0]["text"] for row in json.loads(counted.stdout)[0]["rows"]] == [
        "events.task-clock",
        "events.page-faults",
    ]


def _write(lab, spec):
    if not may_profile():
        pytest.skip("perf may not look at processes here: see kernel.perf_event_paranoid")
    source = lab.folder / "src"
    source.mkdir()
    (source / "burn.c").write_text(PROGRAM, encoding="utf-8")
    lab.write(spec)


def _results(folder):
    """The measured figures by result, as they lie in the store."""
    return {str(path): path.read_bytes() for path in folder.glob("outputs/results/*/*/result.json")}
