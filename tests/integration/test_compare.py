"""Results set beside others: of another spec, of an earlier date, of a stored plan, of an exported file."""

import json
import re
import time
from datetime import UTC, datetime

from tests.integration.conftest import Lab

SPEC = """\
title: a program
builds: {mine: {engine: program, version: "1.0", source: {system: sh}, flags: {programs: sh}}}
params: {rate: 1000}
steps:
  - {name: go, kind: command, argv: ["{program:sh}", -c, "echo qps $(({{ params.rate }} + $(date +%N | cut -c3) ))"],
     metrics: {qps: {pattern: 'qps (\\d+)'}}}
repeat: 2
allow: {no-repeats: a test, step-short: a test}
"""
QPS = re.compile(r"^  go +([\d.]+k?) ± .*?(\d\.\d\d) \[.*\] (\w+)$", re.MULTILINE)


def said(lab, *arguments):
    done = lab.execute(lab.argv(*arguments))
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_results_beside_results(tmp_path):
    lab = Lab(tmp_path)
    lab.write(SPEC)
    assert lab.run().returncode == 0
    before = datetime.now(UTC).isoformat()[:19]
    time.sleep(1.1)  # the date is a whole second
    lab.write(SPEC.replace("rate: 1000", "rate: 800"))
    assert lab.run().returncode == 0
    (first, second) = [line.split() for line in said(lab, "plans", "spec.yaml").splitlines()[1:]]
    assert first[1:] == ["spec.yaml", "-", *first[3:5], "1", "2", "2", *first[-2:]]

    against_date = said(lab, "report", "spec.yaml", "--against", before)
    assert against_date.startswith(f"a program: spec against {before}\n===")
    found = QPS.search(against_date)
    assert found is not None, against_date
    assert found[2] in ("0.79", "0.80", "0.81")  # the last digit of each figure is one of chance
    assert found[3] == "slower"
    assert "\n  params.argv: [{program:sh}, -c, echo qps $((1000 + " in against_date

    of_plans = said(lab, "compare", first[0][:8], second[0])
    assert QPS.search(of_plans).groups() == found.groups()
    assert f"against {first[0][:8]}\n" in of_plans
    document = json.loads(said(lab, "compare", first[0][:8], second[0], "--format", "json"))
    assert [each["verdict"] for each in document["comparisons"]] == ["slower"]

    assert lab.execute(lab.argv("export", "spec.yaml", "now.tar.gz")).returncode == 0
    stored = sorted(lab.results())
    of_file = said(lab, "compare", "now.tar.gz", first[0])
    assert of_file.startswith(f"a program: {first[0][:8]} against now.tar\n")
    assert QPS.search(of_file)[3] == "faster"
    assert sorted(lab.results()) == stored, "a file's results do not join those that are here"


def test_what_there_is_not(tmp_path):
    lab = Lab(tmp_path)
    lab.write(SPEC)
    meant = "a spec, a plan (`stepgrid plans`), either with @DATE, or a file that `stepgrid export` wrote"
    for arguments, why in (
        (("compare", "a", "spec.yaml"), f"there is no plan, spec or file `a`: wanted: {meant}\n"),
        (("compare", "spec.yaml@monday", "spec.yaml"), "`monday` is no date: write it as 2026-11-20, or "
         "2026-11-20T18:30 (UTC)\n"),
        (("report", "spec.yaml", "--against", "2026-11-20"), "nothing of spec.yaml was measured until 2026-11-20\n"),
        (("compare", "spec.yaml", "spec.yaml", "--where", "x"), "--where x: wanted AXIS=LABEL\n"),
    ):  # fmt: skip
        done = lab.execute(lab.argv(*arguments))
        assert (done.returncode, done.stderr) == (2, why)
    assert said(lab, "plans", "other.yaml") == "no plan of other.yaml is stored\n"
