"""Rows that are mostly numbers come out as they went in; what one of them lacks is missing."""

import math

import numpy as np
import pytest

from stepgrid.collect.tables import parquet, parquet_columns
from stepgrid.collect.tables.matrices import Figures, Grid, Records, matrix
from stepgrid.collect.tables.parquet_columns import Point
from stepgrid.model import result_schema

GRID = {"position": "INTEGER", "second": "DOUBLE", "qps": "DOUBLE"}
LEVELS = {"position": "INTEGER", "family": "VARCHAR", "level": "VARCHAR", "files": "DOUBLE", "bytes": "DOUBLE"}


@pytest.fixture
def written(tmp_path):
    def read(types, arrays):
        with parquet.connect() as connection:
            parquet_columns.write(connection, tmp_path / "a.parquet", types, arrays)
            return connection.execute(f"SELECT * FROM {parquet.files([tmp_path / 'a.parquet'])}").fetchall()

    return read


def at(position):
    return Point("s-1", "a-1", position, "x")


def test_a_matrix_has_a_row_for_each_column():
    assert matrix(2, [(1, 10.0), (2, None)])[0].tolist() == [1.0, 2.0]
    assert np.isnan(matrix(2, [(1, 10.0), (2, None)])[1][1])
    assert matrix(3, []).shape == (3, 0)


def test_a_grid_of_steps(written):
    grid = Grid(GRID)
    grid.add(at(0), matrix(2, [(1.0, 5.0), (2.0, math.inf)]))
    grid.add(at(1), matrix(2, []))
    grid.add(at(2), np.array([[1.0], [math.nan]]))
    assert written(GRID, grid.arrays()) == [(0, 1.0, 5.0), (0, 2.0, None), (2, 1.0, None)]
    assert grid.rows == 3


def test_records_may_lack_anything(written):
    records = Records(LEVELS)
    records.add(at(0), [{"family": "default", "level": "L0", "files": 4, "bytes": 0.5}, {"bytes": -math.inf}])
    records.add(at(1), [])
    records.add(at(2), [{"level": "L1", "files": math.nan, "not a column": 1.0}])
    assert written(LEVELS, records.arrays()) == [
        (0, "default", "L0", 4.0, 0.5),
        (0, None, None, None, None),
        (2, None, "L1", None, None),
    ]


@pytest.mark.parametrize("kind", [Grid, Records])
def test_of_no_rows_the_columns_are_there(written, kind):
    assert written(GRID, kind(GRID).arrays()) == []


def test_figures_have_the_columns_of_all_rows(written):
    figures = Figures("seconds")
    for row in ({"seconds": 1, "qps": 5.0}, {"p99": 7.0, "qps": math.inf}, {}, {"seconds": None, "qps": 6.0}):
        figures.add(row)
    arrays = figures.arrays()
    assert list(arrays) == ["seconds", "qps", "p99"]
    rows = [(1.0, 5.0, None), (None, None, 7.0), (None, None, None), (None, 6.0, None)]
    assert written(dict.fromkeys(arrays, "DOUBLE"), arrays) == rows


def test_figures_of_no_steps(written):
    arrays = Figures("step_seconds").arrays()
    assert written({"step_seconds": result_schema.figures(())["step_seconds"]}, arrays) == []
