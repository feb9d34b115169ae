from __future__ import annotations

import json
from pathlib import Path

import pytest

from stepgrid.model.figures import ParseError
from stepgrid_databases.drivers.sql.parser import parse

SETTINGS = {"sql": ["select 1", "select *\n  from t"]}


def _line(number: int, seconds: float, rows: int, sql: str) -> str:
    return json.dumps({"statement": number, "seconds": seconds, "rows": rows, "sql": sql, "first": []}) + "\n"


def test_seconds_per_statement(tmp_path: Path) -> None:
    long = "select *\n  from " + "t" * 60
    (tmp_path / "stdout").write_text(_line(1, 0.25, 1, "select 1") + _line(2, 1.5, 3, long))
    found = parse(tmp_path, SETTINGS)
    assert found.metrics == {
        "sql_seconds": 1.75,
        "sql_slowest_seconds": 1.5,
        "sql_statements": 2.0,
        "sql_rows": 4.0,
    }
    assert found.facts == {
        "statement 1": "0.25 s: select 1",
        "statement 2": f"1.5 s: select * from {'t' * 45}…",
    }


@pytest.mark.parametrize(
    ("stdout", "said"),
    [
        (_line(1, 0.25, 1, "select 1"), "stdout has no line for statement 2"),
        ("", "stdout has no line for statement 1"),
        ("hello\n", "stdout has a line that is no statement's: hello"),
    ],
)
def test_output_that_is_not_whole(stdout: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "stdout").write_text(stdout)
    with pytest.raises(ParseError) as caught:
        parse(tmp_path, SETTINGS)
    assert str(caught.value) == said
