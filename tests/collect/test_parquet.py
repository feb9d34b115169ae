import math
import re
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepgrid.collect import parquet
from stepgrid.collect.job import collect
from stepgrid.collect.tables import GROWING
from stepgrid.model import result_schema
from stepgrid.model.result_schema import MEANING, axis_columns, steps
from stepgrid.plugins.metrics import METRICS
from tests.summarize.synthetic import Experiment

COLUMNS = {"name": "VARCHAR", 'it\'s "odd"': "DOUBLE", "number": "BIGINT", "list": "VARCHAR[]", "flag": "BOOLEAN"}
TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"))
ROWS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "name": TEXT,
            'it\'s "odd"': st.floats(width=32),
            "number": st.integers(-(2**53), 2**53),
            "list": st.lists(TEXT, max_size=3),
            "flag": st.booleans(),
        },
    ),
    max_size=5,
)


@settings(max_examples=25, deadline=None)
@given(ROWS)
def test_rows_come_back_as_they_went(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("table") / "it's.parquet"
    with parquet.connect() as connection:
        parquet.write_rows(connection, path, COLUMNS, rows)
        found = connection.execute("SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
    assert found == [tuple(_kept(row.get(name)) for name in COLUMNS) for row in rows]


def _kept(value):
    return None if isinstance(value, float) and not math.isfinite(value) else value


def test_axes_that_sql_cannot_tell_apart_get_columns_of_their_own():
    assert axis_columns(["a", "A", "b"]) == {"a": "axis_a", "A": "axis_A_2", "b": "axis_b"}
    assert {"axis_a", "axis_A_2"} <= set(steps(["a", "A"], ["qps"]))


def test_what_is_no_number_is_missing(tmp_path):
    path = tmp_path / "a.parquet"
    rows = [{"x": value} for value in (None, math.nan, math.inf, -math.inf, 0.0)]
    with parquet.connect() as connection:
        parquet.write_rows(connection, path, {"x": "DOUBLE"}, rows)
        found = connection.execute("SELECT x FROM read_parquet(?)", [str(path)]).fetchall()
    assert found == [(None,), (None,), (None,), (None,), (0.0,)]


def test_the_settings_of_a_database_are_its_own():
    with parquet.database() as own, parquet.connect() as shared:
        own.execute("SET enable_external_access = false")
        shared_setting = "SELECT current_setting('enable_external_access'), current_setting('threads')"
        assert shared.execute(shared_setting).fetchall() == [(True, 1)]


PAGE = Path(__file__).resolve().parents[2] / "docs/reference/results.md"
QUERIES = re.findall(r"```sql\n(.+?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    found = Experiment(tmp_path_factory.mktemp("columns"), loads=2)
    found.add_build("rocksdb-7.8.3")
    for load in range(2):
        found.add_load("rocksdb-7.8.3", load)
        for cache in found.caches:
            for threads in found.threads:
                found.add("rocksdb-7.8.3", cache, threads, load, {"readww": 1000.0, "overwrite": 2000.0})
    collect(found.store, found.plan)
    return found.store.tables(found.plan.digest)


def test_every_column_of_every_table_is_explained(tables):
    with duckdb.connect() as connection:
        for path in sorted(tables.glob("*.parquet")):
            if path.stem == "columns":
                continue
            read = f"DESCRIBE SELECT * FROM '{path}'"
            there = {(name, kind) for name, kind, *_ in connection.execute(read).fetchall()}
            query = f"SELECT column_name, type, meaning FROM '{tables}/columns.parquet' WHERE table_name = ?"
            said = connection.execute(query, [path.stem]).fetchall()
            assert {(name, kind) for name, kind, _ in said} == there, path.stem
            assert all(meaning for _, _, meaning in said), path.stem


def test_nothing_is_explained_that_is_not_there():
    fixed = {
        "history": result_schema.HISTORY,
        "environment": result_schema.ENVIRONMENT,
        "metrics": result_schema.METRICS,
    }
    grown = {name: set(types) for name, types in GROWING.items() if name != "attempts"}
    grown["samples"] -= METRICS.keys()  # these are explained where they are defined
    known = {**fixed, **grown, "steps": result_schema.steps((), ())}
    assert {table: set(columns) for table, columns in MEANING.items()} == {
        table: set(columns) for table, columns in known.items()
    }


@pytest.mark.parametrize("query", QUERIES)
def test_the_examples_of_the_page_work(query, tables, monkeypatch):
    monkeypatch.chdir(tables)
    with duckdb.connect() as connection:
        assert connection.execute(query).fetchall()


def test_the_page_has_examples():
    assert len(QUERIES) >= 3
