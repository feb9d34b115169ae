"""What goes into a table by columns is in its file, in the same order."""

import math

import numpy as np
import pytest

from stepgrid.collect.tables import parquet, parquet_columns
from stepgrid.collect.tables.parquet_columns import Point, Table

POINT = {"stage": "VARCHAR", "attempt": "VARCHAR", "position": "INTEGER", "step": "VARCHAR"}
TYPES = {**POINT, "text": "VARCHAR", "number": "DOUBLE"}
FIRST, SECOND = Point("s-1", "a-1", 0, "load's"), Point("s-1", "a-1", 1, "")


@pytest.fixture
def written(tmp_path):
    def read(types, table):
        path = tmp_path / "it's.parquet"
        with parquet.connect() as connection:
            parquet_columns.write(connection, path, types, table.arrays())
            found = connection.execute(f"SELECT * FROM {parquet.files([path])}")
            assert {name: str(kind) for name, kind, *_ in found.description} == types
            return found.fetchall()

    return read


def test_the_rows_of_a_step_begin_with_its_point(written):
    table = Table(TYPES)
    table.add(FIRST, {"text": ["a", None], "number": [1.0, 2]})
    table.add(SECOND, {"text": [""], "number": np.array([3.0])})
    rows = [("a", 1.0), (None, 2.0), ("", 3.0)]
    assert written(TYPES, table) == [(*at, *row) for at, row in zip((FIRST, FIRST, SECOND), rows, strict=True)]
    assert table.rows == 3


def test_what_is_no_number_is_missing(written):
    table = Table(TYPES)
    table.add(FIRST, {"number": [None, math.nan, math.inf]})
    table.add(FIRST, {"number": np.array([-math.inf, 0.0])})
    assert [row[-1] for row in written(TYPES, table)] == [None, None, None, None, 0.0]


def test_a_column_that_a_step_lacks_is_missing(written):
    table = Table(TYPES)
    table.add(FIRST, {"text": ["a"]})
    table.add(SECOND, {"number": [1.0]})
    assert [row[-2:] for row in written(TYPES, table)] == [("a", None), (None, 1.0)]


def test_of_no_rows_the_columns_are_there(written):
    table = Table(TYPES)
    table.add(FIRST, {})
    table.add(FIRST, {"text": [], "number": []})
    assert (written(TYPES, table), table.rows) == ([], 0)


def test_a_table_may_lack_parts_of_the_point(written):
    types = {"position": "INTEGER", "stage": "VARCHAR", "text": "VARCHAR"}
    table = Table(types)
    table.add(SECOND, {"text": ["a"]})
    assert written(types, table) == [(1, "s-1", "a")]


def test_many_rows_keep_their_order(written):
    table = Table(TYPES)
    for position in range(300):  # more than the rows of a row group
        at = Point(f"s-{position // 7}", "a", position, f"step{position % 7}")
        table.add(at, {"text": [str(position)] * 1000, "number": np.arange(1000.0) * -1})
    rows = written(TYPES, table)
    assert len(rows) == 300_000
    assert [(row[2], row[5]) for row in rows] == [(at, -number) for at in range(300) for number in range(1000)]
    assert all(row[3:5] == (f"step{row[2] % 7}", str(row[2])) for row in rows)
