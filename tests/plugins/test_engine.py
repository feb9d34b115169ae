"""Capabilities of releases, and values of options."""

from decimal import Decimal
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import convert

from stepgrid.model.records import OptionInfo
from stepgrid.plugins.engine import option_fault, release_capabilities, release_numbers
from stepgrid.plugins.registry import engine as engine_named
from stepgrid.plugins.server import (
    ServerEngine,
    ServerStatistics,
    StatisticsReader,
    counter_differences,
    snapshot_counters,
)
from tests.cases import rows

SINCE = {"old": (5, 0), "new": (9, 10)}


def test_releases_compare_number_by_number():
    assert release_numbers("9.10") > release_numbers("9.9.3") > release_numbers("9.9")
    assert release_numbers("v7.8.3-2+b1") == (7, 8, 3)
    assert release_numbers("main") == ()


def test_a_capability_is_there_from_its_first_release():
    assert release_capabilities("4.9", SINCE) == release_capabilities("main", SINCE) == frozenset()
    assert release_capabilities("5.0", SINCE) == release_capabilities("9.9.3", SINCE) == {"old"}
    assert release_capabilities("9.10", SINCE) == {"old", "new"}


@given(st.lists(st.integers(0, 99), min_size=1, max_size=4), st.lists(st.integers(0, 99), min_size=1, max_size=4))
def test_a_later_release_can_all_that_an_earlier_one_can(one, other):
    earlier, later = sorted([one, other])
    found = [release_capabilities(".".join(map(str, numbers)), SINCE) for numbers in (earlier, later)]
    assert found[0] <= found[1]


@pytest.mark.parametrize(("engine", "info", "value"), rows(__file__, "what is taken"))
def test_what_is_taken(engine, info, value):
    assert option_fault(engine_named(engine), convert(info, OptionInfo), value) is None


@pytest.mark.parametrize(("engine", "info", "value", "said"), rows(__file__, "what is not"))
def test_what_is_not(engine, info, value, said):
    assert option_fault(engine_named(engine), convert(info, OptionInfo), value) == said


TABLES = {
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
    def query(self, sql):
        name = sql.removeprefix("select * from ")
        if name not in TABLES:
            raise RuntimeError("no such table")
        return TABLES[name]

    def counters(self, connection):
        return {"Handler_read_next": 5.0, "Handler_read_key": 6.0, "Uptime": 1.0}

    def looks(self, connection):
        return [StatisticsReader("innodb_metrics", lambda: ServerStatistics(METRICS, {"innodb_metrics.history": 3.0}))]


@pytest.mark.parametrize(("named", "found"), rows(__file__, "what_a_name_stands_for"))
def test_what_a_name_stands_for(named, found):
    server = cast(Any, Asked())
    assert snapshot_counters(cast(ServerEngine, server), server, [named]) == (found, [])


def test_several_names_and_those_that_stand_for_nothing():
    server = cast(Any, Asked())
    names = ["a.b", "Uptime", "one", "innodb_metrics.typo"]
    expected = ({"Uptime": 1.0, "commits": 3.0}, ["a.b", "innodb_metrics.typo"])
    assert snapshot_counters(cast(ServerEngine, server), server, names) == expected


def test_what_was_there_once_or_is_not_supported_has_no_difference():
    assert counter_differences({"a": 1.0, "b": 2.0, "c": -1.0}, {"a": 4.0, "c": -1.0, "d": 5.0}) == {"a": 3.0}
