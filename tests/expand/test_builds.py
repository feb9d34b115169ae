"""Faults of a build's own lines."""

from __future__ import annotations

import pytest

from tests.expand.samples import Complaints

STEPS = "steps: [{name: fillseq, kind: db_bench, benchmarks: [fillseq], keys: 1k}]\n"
SOURCE = "source: {system: db_bench}"


@pytest.mark.parametrize(
    ("builds", "said"),
    [
        (
            f"rocks: {{engine: rocksbd, version: 9.10.0, {SOURCE}}}",
            "a.yaml:2:26: error[undefined-name]: there is no engine `rocksbd`",
        ),
        (
            f"rocks: {{version: 9.10.0, {SOURCE}}}",
            "a.yaml:2:10: error[missing-key]: build `rocks` has no engine",
        ),
        (
            f"a: {{engine: rocksdb, versions: [9.10.0, 9.10.0], {SOURCE}}}",
            "error[defined-twice]: two builds are named `a-9.10.0`",
        ),
    ],
)
def test_it_is_said(complaints: Complaints, builds: str, said: str) -> None:
    found = complaints(f"title: t\nbuilds: {{{builds}}}\n{STEPS}")
    assert said in found
    assert found.count(": error[") == 1
