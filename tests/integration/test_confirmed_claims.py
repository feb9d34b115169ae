"""A gate whose claims are confirmed by fresh loads, over real runs: one arm is slow, one was so in its first loads."""

import re

from tests.integration.conftest import Lab

PROGRAM = """\
import sys
folder, first, later, seed, arm = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), *sys.argv[4:]
with open(f"{folder}/seeds-{arm}", "a+") as file:  # each load has a seed of its own
    file.seek(0)
    seeds = file.read().split()
    if seed not in seeds:
        file.write(seed + " ")
        seeds.append(seed)
load = seeds.index(seed)
print("rate:", 100000 * (first if load < 3 else later) * (1 + 0.002 * (-1) ** load))
"""
SPEC = """\
title: a gate
builds: {python: {engine: program, source: {system: python3}, flags: {programs: python3}}}
steps:
  - name: count
    kind: command
    argv:
      - "{program:python3}"
      - FOLDER/rate.py
      - FOLDER
      - "{{ params.first }}"
      - "{{ params.later }}"
      - "{seed}"
      - "{{ params.arm }}"
    metrics: {qps: {pattern: "rate: ([0-9.]+)", required: true}}
sweep:
  arm:
    points:
      base: {params: {first: 1, later: 1, arm: a}}
      same: {params: {first: 1, later: 1.0001, arm: b}}
      slow: {params: {first: 0.8, later: 0.8, arm: c}}
      early: {params: {first: 0.8, later: 1, arm: d}}
repeat: 3
claims:
  - {claim: same is no slower, expect: "qps(arm='same') >= 0.95 * qps(arm='base')", confirm: 3}
  - {claim: slow is no slower, expect: "qps(arm='slow') >= 0.95 * qps(arm='base')", confirm: 3}
  - {claim: early is no slower, expect: "qps(arm='early') >= 0.95 * qps(arm='base')", confirm: 3}
"""


def test_only_what_fresh_loads_fail_too_fails(tmp_path):
    (tmp_path / "rate.py").write_text(PROGRAM)
    lab = Lab(tmp_path)
    lab.write(SPEC.replace("FOLDER", str(tmp_path)))
    done = lab.run()
    assert done.returncode == 0, done.stderr
    assert "claim `slow is no slower` is to be confirmed; and 1 more\n9 stages more\n" in done.stderr
    words = " ".join(lab.execute(lab.argv("report", "spec.yaml", "--all")).stdout.split())
    suspected = r"loads 1 to 3: 0\.800?× \[0\.79\d?, 0\.8[01]\d?\] \(claimed ≥ 0\.95×\); "
    assert re.search(rf"{suspected}confirmed by loads 4 to 6: 0\.80× ", words), words
    assert re.search(rf"{suspected}not confirmed by loads 4 to 6: 1\.00× ", words), words
    gate = lab.execute(lab.argv("report", "spec.yaml", "--strict"))
    assert (gate.returncode, gate.stderr) == (4, "this claim fails: slow is no slower\n")
    assert "loads    3 to 6 loads of a cell so far (more to confirm a claim that fails)" in (
        lab.execute(lab.argv("status", "spec.yaml")).stdout
    )
    strict = lab.run("--strict")
    assert (strict.returncode, "this claim fails: slow is no slower\n" in strict.stderr) == (4, True)
    assert lab.run().stdout.startswith("nothing to do: 4 cells, 21 stages measured\n")
