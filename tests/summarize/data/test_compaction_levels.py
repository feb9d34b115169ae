"""Which rows of the compaction tables a report shows: those of the data's own tree, read when they are asked for."""

from __future__ import annotations

from pathlib import Path

from stepgrid.collect import parquet
from stepgrid.summarize.data.compaction_levels import levels

COLUMNS = {"stage": "VARCHAR", "position": "INTEGER", "family": "VARCHAR", "level": "VARCHAR", "priority": "VARCHAR"}


def test_other_families_and_priorities_are_left_to_the_tables(tmp_path: Path) -> None:
    key = {"stage": "s-1", "position": 0}
    rows = [
        {**key, "family": "default", "level": "L0", "priority": None},
        {**key, "family": None, "level": "Sum", "priority": None},  # of an engine without families
        {**key, "family": "other", "level": "L0", "priority": None},
        {**key, "family": "default", "level": None, "priority": "High"},
        {**key, "stage": "s-2", "family": "other", "level": "L0", "priority": None},
    ]
    path = tmp_path / "levels.parquet"
    with parquet.connect() as connection:
        parquet.write_rows(connection, path, COLUMNS, rows)
        connection.execute(f"CREATE VIEW levels AS SELECT * FROM '{path}'")
        found = levels(connection, tmp_path)
    assert ("s-1", 0) in found
    assert dict(found) == {("s-1", 0): rows[:2]}
