"""Which rows of the compaction tables a report shows: those of the data's own tree."""

from __future__ import annotations

from compiler.summarize import extras


def test_other_families_and_priorities_are_left_to_the_tables() -> None:
    key = {"stage": "s-1", "position": 0}
    rows = [
        {**key, "family": "default", "level": "L0", "priority": None},
        {**key, "family": None, "level": "Sum", "priority": None},  # of an engine without families
        {**key, "family": "other", "level": "L0", "priority": None},
        {**key, "family": "default", "level": None, "priority": "High"},
    ]
    assert extras._levels(rows) == {("s-1", 0): rows[:2]}
