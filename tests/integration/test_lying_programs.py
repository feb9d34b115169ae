"""Programs that lie, each in its own way: the report of a spec without expectations doubts them, and no honest one."""

from pathlib import Path

import pytest

from tests.integration.conftest import Lab

LIES = ("early", "errors", "rate", "clock", "idle", "order", "constant")
METRICS = """
      qps: {pattern: 'qps=([\\d.]+)'}
      operations: {pattern: 'operations=(\\d+)'}
      seconds: {pattern: 'seconds=([\\d.]+)'}
      errors: {pattern: 'errors=(\\d+)', unit: errors}
      p50_us: {pattern: 'p50=([\\d.]+)', unit: us}
      p99_us: {pattern: 'p99=([\\d.]+)', unit: us}
"""
SPEC = """\
title: programs that lie
builds:
  client: {engine: program, versions: [old.sh, new.sh, honest.sh], source: {path: bench},
    flags: {programs: "{{ version }}"}}
repeat: 3
steps:
"""
STEP = "  - {name: LIE, kind: command, argv: ['{program:{{ version }}}', LIE], DURATION\n     metrics: {METRICS}}\n"
HONEST = """\
#!/bin/sh
qps=9$$ operations= seconds=0.1 errors=0 p50=80 p99=130
"""
PRINT = """\
echo qps=$qps operations=${operations:-$((qps / 10))} seconds=$seconds errors=$errors p50=$p50 p99=$p99
"""
LIAR = f"""\
{HONEST}case $1 in
early) seconds=1 operations=$qps ;;
errors) operations=1000 qps=10000 errors=900 ;;
rate) operations=$((qps / 50)) ;;
clock) seconds=60 operations=$((qps * 60)) ;;
idle) operations=90000000000 seconds=1 qps=90000000000 ;;
order) p50=900 ;;
constant) qps=123456.7 operations=12346 ;;
esac
{PRINT}"""


@pytest.fixture
def summary(tmp_path: Path) -> str:
    lab = Lab(tmp_path)
    steps = [STEP.replace("METRICS", ", ".join(METRICS.strip().splitlines())).replace("LIE", lie) for lie in LIES]
    lab.write(SPEC + "".join(steps).replace("DURATION", "duration: 60s,", 1).replace("DURATION", ""))
    (lab.folder / "bench").mkdir()
    for name, text in (("old.sh", LIAR), ("new.sh", LIAR), ("honest.sh", HONEST + PRINT)):
        (lab.folder / "bench" / name).write_text(text)
        (lab.folder / "bench" / name).chmod(0o755)
    run = lab.run()
    assert run.returncode == 0, run.stderr
    (path,) = lab.folder.glob("outputs/summary/*/summary.txt")
    return " ".join(path.read_text().split())


def test_eight_lies_are_doubted_and_nothing_honest(summary: str) -> None:
    liars = "client-old.sh, client-new.sh"
    for lie in (
        f"early of {liars}, client-honest.sh: it ran for 1.00 s of the 60.0 s that the spec asks for; in 9 of 9 runs",
        f"errors of {liars}: errors is 900, of 1,000 operations; in 6 of 9 runs",
        f"rate of {liars}: qps is 9",
        f"clock of {liars}: it says that it measured for 60.0 s, but its process ran for ",
        f"idle of {liars}: 90,000,000,000 operations took ",
        f"order of {liars}: p50_us is 900, above p99_us, which is 130; in 6 of 9 runs",
        "constant: qps is the same to the last digit in all loads: 123,456.7 of client-old.sh",
        "client-old.sh and client-new.sh are the same: their programs are byte-identical, and their settings equal",
    ):
        assert lie in summary, lie
    doubts = summary.partition("read with care")[2].partition("QPS relative")[0]
    assert doubts.count("client-honest.sh") == 1, "it ends early, too"
