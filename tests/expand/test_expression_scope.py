"""What an expression sees where it stands."""

from __future__ import annotations

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
