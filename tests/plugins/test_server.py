from collections.abc import Mapping
from decimal import Decimal
from typing import Any, cast

import pytest

from stepgrid.plugins.server import (
    ServerEngine,
    ServerStatistics,
    StatisticsReader,
    counter_differences,
    snapshot_counters,
)

TABLES: dict[str, list[Mapping[str, Any]]] = {
    "perf_context": [{"STAT_TYPE": "SKIPPED", "VALUE": 7}, {"STAT_TYPE": "SEEKS", "VALUE": Decimal(2)}],
    "global_status": [
        {"VARIABLE_NAME": "Uptime", "VARIABLE_VALUE": "9"},
        {"VARIABLE_NAME": "X", "VARIABLE_VALUE": "a"},
    ],
    "pg_stat": [{"datname": "d", "commits": 3, "blocks": 4, "since": None}],
    "one": [{"commits": 3}],
}


METRICS = {"innodb_metrics.pages_read": 4.0, "innodb_metrics.pages_written": 5.0}


class Asked:
    def query(self, sql: str) -> list[Mapping[str, Any]]:
        name = sql.removeprefix("select * from ")
        if name not in TABLES:
            raise RuntimeError("no such table")
        return TABLES[name]

    def counters(self, connection: object) -> dict[str, float]:
        return {"Handler_read_next": 5.0, "Handler_read_key": 6.0, "Uptime": 1.0}

    def looks(self, connection: object) -> list[StatisticsReader]:
        return [StatisticsReader("innodb_metrics", lambda: ServerStatistics(METRICS, {"innodb_metrics.history": 3.0}))]


@pytest.mark.parametrize(
    ("named", "found"),
    [
        ("Handler_read_next", {"Handler_read_next": 5.0}),
        ("Handler_*", {"Handler_read_next": 5.0, "Handler_read_key": 6.0}),
        ("Nothing_*", {}),
        ("perf_context", {"SKIPPED": 7.0, "SEEKS": 2.0}),
        ("global_status", {"Uptime": 9.0}),
        ("pg_stat", {"d.commits": 3.0, "d.blocks": 4.0}),
        ("one", {"commits": 3.0}),
        ("innodb_metrics.*_read", {"innodb_metrics.pages_read": 4.0}),
        ("innodb_metrics.pages_written", {"innodb_metrics.pages_written": 5.0}),
        ("INFORMATION_SCHEMA.INNODB_METRICS", {"pages_read": 4.0, "pages_written": 5.0}),
    ],
)
def test_what_a_name_stands_for(named: str, found: dict[str, float]) -> None:
    server = cast(Any, Asked())
    assert snapshot_counters(cast(ServerEngine, server), server, [named]) == (found, [])


def test_several_names_and_those_that_stand_for_nothing() -> None:
    server = cast(Any, Asked())
    names = ["a.b", "Uptime", "one", "innodb_metrics.typo"]
    expected = ({"Uptime": 1.0, "commits": 3.0}, ["a.b", "innodb_metrics.typo"])
    assert snapshot_counters(cast(ServerEngine, server), server, names) == expected


def test_what_was_there_once_or_is_not_supported_has_no_difference() -> None:
    assert counter_differences({"a": 1.0, "b": 2.0, "c": -1.0}, {"a": 4.0, "c": -1.0, "d": 5.0}) == {"a": 3.0}
