from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, cast

import pytest

from stepgrid.plugins.server import ServerEngine
from stepgrid.plugins.server_counters import counted, difference

TABLES: dict[str, list[Mapping[str, Any]]] = {
    "perf_context": [{"STAT_TYPE": "SKIPPED", "VALUE": 7}, {"STAT_TYPE": "SEEKS", "VALUE": Decimal(2)}],
    "global_status": [
        {"VARIABLE_NAME": "Uptime", "VARIABLE_VALUE": "9"},
        {"VARIABLE_NAME": "X", "VARIABLE_VALUE": "a"},
    ],
    "pg_stat": [{"datname": "d", "commits": 3, "blocks": 4, "since": None}],
    "one": [{"commits": 3}],
}


class Asked:
    def query(self, sql: str) -> list[Mapping[str, Any]]:
        name = sql.removeprefix("select * from ")
        if name not in TABLES:
            raise RuntimeError("no such table")
        return TABLES[name]

    def counters(self, connection: object) -> dict[str, float]:
        return {"Handler_read_next": 5.0, "Handler_read_key": 6.0, "Uptime": 1.0}


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
    ],
)
def test_what_a_name_stands_for(named: str, found: dict[str, float]) -> None:
    server = cast(Any, Asked())
    assert counted(cast(ServerEngine, server), server, named) == found


def test_a_name_that_stands_for_nothing() -> None:
    server = cast(Any, Asked())
    with pytest.raises(LookupError) as caught:
        counted(cast(ServerEngine, server), server, "a.b")
    assert caught.value.args[0] == "the server has no counter and no table `a.b`"


def test_what_was_there_once_has_no_difference() -> None:
    assert difference({"a": 1.0, "b": 2.0}, {"a": 4.0, "c": 5.0}) == {"a": 3.0}
