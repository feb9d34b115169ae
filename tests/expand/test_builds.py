"""Faults of a build's own lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from stepgrid.expand.builds import Families
from stepgrid.model.plan import Plan
from tests.expand.samples import Complaints

STEPS = "steps: [{name: fillseq, kind: db_bench, benchmarks: [fillseq], keys: 1k}]\n"
SOURCE = "source: {system: db_bench}"


@pytest.mark.parametrize(
    ("listed", "said"),
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
def test_it_is_said(complaints: Complaints, listed: str, said: str) -> None:
    found = complaints(f"title: t\nbuilds: {{{listed}}}\n{STEPS}")
    assert said in found
    assert found.count(": error[") == 1


def test_names_for_hints_are_gathered_for_faults_alone(
    compile_text: Callable[[str], Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For each of thousands of sound builds it took the names of all others: 4 of 10 s of a `check`."""
    monkeypatch.setattr(Families, "names", _names)
    listed = ", ".join(f"b{number}: {{engine: rocksdb, version: 9.10.0, {SOURCE}}}" for number in range(3))
    assert len(compile_text(f"title: t\nbuilds: {{{listed}}}\n{STEPS}").cells) == 3


def _names(*_: object) -> Iterator[str]:
    raise AssertionError("nobody needs them")
    yield
