"""The parts that need no database; `test_sweep.py` has one."""

from __future__ import annotations

from pathlib import Path

import pytest
from stepgrid_sqlite import output
from stepgrid_sqlite.driver import DRIVER
from stepgrid_sqlite.engine import ENGINE

from stepgrid.model.figures import ParseError
from stepgrid.plugins.driver import Context

CONTEXT = Context({"sqlite3": ["/b/sqlite3"]}, "3.40.1", Path("/d"), Path("/a step"), 1)


def test_pragmas_come_before_the_first_statement_that_is_timed() -> None:
    command = DRIVER.command(
        {"sql": ["select\n 1", "select 2"]}, {"journal_mode": "wal", "page_size": 8192, "foreign_keys": True}, CONTEXT
    )
    assert command.argv == ("/b/sqlite3", "-batch", "-bail", "/d/db.sqlite", '.read "/a step/script.sql"')
    assert command.files["script.sql"].splitlines() == [
        "PRAGMA page_size = 8192;",
        "PRAGMA journal_mode = wal;",
        "PRAGMA foreign_keys = 1;",
        ".timer on",
        "select 1;",
        "select 2;",
    ]


def test_a_statement_without_a_time_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "stdout").write_text("Run Time: real 0.034 user 0.000736 sys 0.000000\n")
    with pytest.raises(ParseError, match=r"^stdout has 1 lines `Run Time: …`, one is expected for each of 2$"):
        output.parse(tmp_path / "stdout", {"sql": ["a", "b"]})


def test_without_operations_there_is_no_rate(tmp_path: Path) -> None:
    (tmp_path / "stdout").write_text("Run Time: real 0.034 user 0.000736 sys 0.000000\n")
    assert output.parse(tmp_path / "stdout", {"sql": ["a"]}).metrics.keys() == {
        "seconds", "sqlite_slowest_seconds", "sqlite_cpu_seconds"}  # fmt: skip


def test_pragmas_with_one_value_are_options() -> None:
    answers = {"PRAGMA pragma_list": "cache_size\npage_count\ntable_list\nwal_checkpoint\nwritable_schema\n"}
    rows = "pragma:cache_size\n-2000\npragma:table_list\nmain|t\n"
    rows += "pragma:wal_checkpoint\n0|-1|-1\npragma:writable_schema\n0\n"
    found = ENGINE.catalogue(lambda _program, words: (answers.get(words[1], rows), ""))
    assert found is not None
    assert {name: each.default for name, each in found.items()} == {"cache_size": "-2000", "writable_schema": "0"}


def test_a_script_that_fails_says_why(tmp_path: Path) -> None:
    (tmp_path / "stderr").write_text("Parse error near line 3: no such table: t\n")
    assert output.complaint(tmp_path / "stderr") == "sqlite3 says: Parse error near line 3: no such table: t"
