"""Scope of expressions: faults are reported where they are, all at once."""

from __future__ import annotations

import pytest

from stepgrid.expand.scope import AlreadyReported, Scope
from stepgrid.language.problems import Location, Problems
from stepgrid.language.yaml import Seq, Text
from tests.expand.samples import BASE, Complaints


def test_one_fault_in_two_places_is_said_of_both(complaints: Complaints) -> None:
    options = """
options:
  - write_buffer_size: [{when: "versoin >= '9'", value: 4MiB}]
  - max_background_jobs: [{when: "versoin >= '9'", value: 2}]
"""
    said = complaints(BASE + options)
    lines = [line.split(":")[-4] for line in said.splitlines() if line.endswith("`versoin` is not defined")]
    assert lines == ["10", "11"], said


# Whatever else is wrong in a step is said with its first fault


SPEC = """\
title: t
builds: {rocksdb: {engine: rocksdb, versions: ['9.9.3'], source: {system: db_bench}}}
params:
  keys: "{{ kyes }}"
options:
  - write_buffer_size: "{{ versoin }}"
steps:
  - {name: a, kind: db_bench, benchmarks: ["{{ one }}", "{{ two }}"],
     threads: "{{ three }}", duration: 3 parsecs, valeu_size: 2}
"""


def test_settings_options_and_params(complaints: Complaints) -> None:
    said = complaints(SPEC)
    faults = [line.split(":", 2)[1:] for line in said.splitlines() if ": error[" in line]
    assert [int(line) for line, _ in faults] == [4, 6, 8, 8, 9, 9, 9], said
    assert [text.split("]: ")[1] for _, text in faults] == [
        "`kyes` is not defined",
        "`versoin` is not defined",
        "`one` is not defined",
        "`two` is not defined",
        "`three` is not defined",
        "duration: expected a duration such as 30s, 30m or 2h, found `3 parsecs`",
        "`valeu_size` is no setting of db_bench (step `a`)",
    ]


def test_entries_of_a_plain_list_within_a_choice() -> None:
    """A list of plain values is one value: both of its faults are said."""
    problems = Problems()
    where = Location("a.yaml", 1, 1)
    node = Seq([Text("{{ one }}", where), Text("{{ two }}", Location("a.yaml", 2, 1))], where)
    with pytest.raises(AlreadyReported):
        Scope({}, {}, {}, problems).value(node, several=True)
    assert [problem.message for problem in problems.items] == ["`one` is not defined", "`two` is not defined"]
