"""A flame graph of two arms, by a real perf and a real db_bench: where an arm decompresses, the graph says so."""

from __future__ import annotations

import json
import re

import pytest

from tests.integration.conftest import BUILD, Lab
from tests.needs import may_profile, needs

SPEC = f"""\
title: "reads of compressed blocks, and of plain ones"
builds: {{rocksdb: {BUILD}}}
options: [{{write_buffer_size: 1MiB, cache_size: 1MiB, block_size: 64KiB}}]
steps:
  - {{name: fillseq, kind: db_bench, benchmarks: [fillseq, flush], fresh: true, duration: null, threads: 1}}
  - name: readrandom
    kind: db_bench
    benchmarks: [readrandom]
    threads: 1
collectors: [{{collector: perf_record, frequency: 499, steps: readrandom}}]
params: {{keys: 50k, duration: 2s}}
sweep: {{compression: {{option: compression_type, values: [none, zlib]}}}}
repeat: 1
allow: {{no-repeats: a test, step-short: a test}}
"""
MORE = re.compile(r"<title>[^<]*(?:inflate|libz)[^<]*: 0 to [\d.]+ µs of CPU per operation \(\+[\d.]+\)</title>")


@needs("perf")
def test_a_box_of_what_one_arm_does_more(lab: Lab) -> None:
    if not may_profile():
        pytest.skip("perf may not look at processes here: see kernel.perf_event_paranoid")
    lab.write(SPEC)
    done = lab.run()
    assert done.returncode == 0, done.stderr
    argv = lab.argv("flame", "spec.yaml", "compression=zlib", "compression=none", "-o", "a.svg")
    drawn = lab.execute(argv)
    assert drawn.returncode == 0, drawn.stderr
    text = (lab.folder / "a.svg").read_text(encoding="utf-8")
    assert "readrandom, compression=zlib against compression=none: " in text
    assert MORE.search(text), re.findall("<title>(.*?)</title>", text)[:40]
    _check_functions(lab)


def _check_functions(lab: Lab) -> None:
    """The rows of the table add up to the CPU that was measured without perf's samples."""
    shown = lab.execute(lab.argv("report", "spec.yaml", "--table", "CPU by function: readrandom", "--format", "json"))
    assert shown.returncode == 0, shown.stderr
    (table,) = json.loads(shown.stdout)
    for column in (1, 2):
        *parts, total, measured = (row[column]["value"] for row in table["rows"])
        assert [row[0]["text"] for row in table["rows"][-2:]] == ["sum", "measured CPU"]
        assert sum(parts) == pytest.approx(total)
        assert total == pytest.approx(measured, rel=0.05)
