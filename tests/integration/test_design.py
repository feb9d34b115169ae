"""A design of a program whose rate is a known function of its parameters: the report finds what they do."""

import json

from tests.integration.conftest import Lab

SPEC = """\
title: a known surface
builds: {script: {engine: program, source: {path: bench}, flags: {programs: surface.sh}}}
steps:
  - name: work
    kind: command
    argv: ["{program:surface.sh}", "{{ params.cache }}", "{{ params.level }}", "{{ params.name }}", "{seed}"]
    metrics: {qps: {pattern: 'QPS (\\d+)', better: higher}, kept_bytes: {pattern: 'bytes (\\d+)', better: lower}}
sweep: {cache: [1, 2, 4], level: [1, 2, 3], name: [a, b, c]}
design: latin
repeat: 3
report:
  base: {cache: 1, level: 1, name: a}
  best: {qps: max, where: kept_bytes < 3000}
  pareto: [qps, kept_bytes]
allow: {step-short: a test}
"""
# twice the rate for twice the cache, 10 % less and 1,000 bytes less for a level; nothing for a name
SCRIPT = """\
#!/bin/sh
level=$((11 - $2))
echo QPS $((100000 * $1 * level / 10 + $4 % 400)) bytes $((5000 - 1000 * $2))
"""


def test_a_design_finds_what_options_do(tmp_path):
    lab = Lab(tmp_path)
    lab.write(SPEC)
    script = lab.folder / "bench" / "surface.sh"
    script.parent.mkdir()
    script.write_text(SCRIPT)
    script.chmod(0o755)
    process = lab.execute(lab.argv("run", "spec.yaml"))
    assert process.returncode == 0, process.stderr
    process = lab.execute(lab.argv("report", "spec.yaml", "--format", "json"))
    report = json.loads(process.stdout)
    best, front, effects = report["grid_answers"]
    assert len(report["figures"]) == 9
    assert "1 of 3 cells is within 2 % of the best QPS (95 %): cache=4, level=3" in best["sentences"][0]
    assert "6 cells left out: `kept_bytes < 3000` is not met" in best["sentences"][-1]
    assert "6 of 9 cells are surely beaten in QPS and kept_bytes; 3 are not: " in front["sentences"][0]
    ratios = {row[0]["text"]: row[2]["value"] for row in effects["tables"][1]["rows"]}
    expected = {"cache=2": 2, "cache=4": 4, "level=2": 0.9, "level=3": 0.8, "name=b": 1, "name=c": 1}
    assert {name: round(ratio, 1) for name, ratio in ratios.items()} == expected
