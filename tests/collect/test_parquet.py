import math

from hypothesis import given, settings
from hypothesis import strategies as st

from stepgrid.collect import parquet
from stepgrid.model.result_schema import axis_columns, steps

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
