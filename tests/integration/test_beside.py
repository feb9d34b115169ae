"""A spec with work beside work, to its report: the planted cost, and the verdict between two arms."""

import re

from tests.integration.conftest import Lab

LOAD = """\
import json, sys, time
start = time.time()
for second in range(1, 10):
    time.sleep(max(0.0, start + second - time.time()))
    try:
        share = float(open("share").read())
    except OSError:
        share = 1.0
    print(json.dumps({"report": "interval", "second": second, "interval": 1.0, "operations": 1000 * share}), flush=True)
print(json.dumps({"report": "end", "seconds": 9}))
"""
SPEC = """\
title: an index beside a load
builds: {python: {engine: program, source: {system: python3}}}
params: {share: 0.5}
sweep: {index: {param: share, values: [0.5, 0.8]}}
repeat: 2
steps:
  - name: load
    kind: command
    argv: ["{program:python3}", load.py]
    beside:
      - name: index
        kind: command
        at: 4s
        argv: [sh, -c, "cd ..; echo {{ params.share }} > 0-load/share; sleep 3; rm 0-load/share"]
claims:
  - {claim: the second costs less, expect: "main_qps_ratio(index=0.8) > 1.3 * main_qps_ratio(index=0.5)",
     where: {step: load/index}}
"""


def test_the_cost_of_work_beside_a_load_is_told(tmp_path):
    lab = Lab(tmp_path)
    lab.write(SPEC)
    (tmp_path / "load.py").write_text(LOAD)
    process = lab.execute(lab.argv("run", "spec.yaml"))
    assert process.returncode == 0, process.stderr
    text = lab.execute(lab.argv("report", "spec.yaml", "--all")).stdout
    assert re.search(r"load/index costs 50 % .* of the QPS of load for 3.\d\d s in index=0.5; 20 %", text)
    assert re.search(r"main_qps_ratio, of index=0.5: index=0.8: 1.60× \(better", text)
    assert lab.execute(lab.argv("report", "spec.yaml", "--strict")).returncode == 0, text  # the claim holds
