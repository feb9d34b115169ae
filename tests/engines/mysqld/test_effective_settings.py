from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from stepgrid.engines.mysqld.running_server import counters, effective, same


class Said:
    def __init__(self, **values: Any) -> None:
        self.values = values

    def query(self, sql: str) -> list[Mapping[str, Any]]:
        return [{"Variable_name": name, "Value": value} for name, value in self.values.items()]

    def close(self) -> None: ...


@pytest.mark.parametrize(
    ("asked", "found", "alike"),
    [
        ("ON", "1", True),
        ("1", "ON", True),
        ("OFF", "ON", False),
        ("64M", "67108864", True),
        ("67108864", "67108864", True),
        ("50", "100", False),
        ("0.5", "0.500000", True),
        ("fsync", "fsync", True),
        ("O_DIRECT", "o_direct", True),
        ("quick", "fsync", False),
        ("mrr=on", "index_merge=on,mrr=on", True),
        ("mrr=on", "index_merge=on,mrr=off", False),
        ("binlog", "ON", True),  # log_bin: a name
        ("a/b.log", "/data/a/b.log", True),
        ("STRICT_TRANS_TABLES,NO_ZERO_DATE", "NO_ZERO_DATE,STRICT_TRANS_TABLES", True),
    ],
)
def test_what_counts_as_what_was_asked_for(asked: str, found: str, alike: bool) -> None:
    assert same(asked, found) is alike


def test_what_was_clamped_is_told_and_what_is_not_shown_is_not() -> None:
    running = Said(innodb_io_capacity_max="100", log_bin="OFF", autocommit="ON", sql_mode="")
    asked = {
        "innodb_io_capacity_max": 50,
        "skip-log-bin": True,
        "loose_autocommit": True,
        "no_variable": 1,
        "sql_mode": "ANSI",
    }
    found = effective(running, asked)
    assert found.values["log_bin"] == "OFF"
    assert found.differs == {
        "innodb_io_capacity_max": "it is 100 in the running server, and not 50 as asked for",
        "sql_mode": "it is empty in the running server, and not ANSI as asked for",
    }


def test_counters_are_numbers() -> None:
    assert counters(Said(Uptime="7", Ssl_cipher="", Version="11.8.6")) == {"Uptime": 7.0}
