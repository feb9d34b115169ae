"""Fewer keys found than expected, and not by chance."""

import pytest

from stepgrid.model.plan import Options, PlannedStep
from stepgrid.plugins import hit_rate
from stepgrid.plugins.counters import rows_found
from stepgrid.plugins.registry import driver
from stepgrid.plugins.work import must_find
from tests.cases import rows


def step(*benchmarks, kind="db_bench", **settings):
    given = {"benchmarks": list(benchmarks), "keys": 100_000, **settings}
    return PlannedStep("s", kind, 1, given, Options([]), 7)


READ = step("readrandom", threads=4)


def metrics(found, operations=400_000):
    return {"found_pct": found, **({} if operations is None else {"operations": operations})}


def test_kinds_that_find_nothing_expect_nothing():
    steps = [step("fillseq", fresh=True), PlannedStep("q", "quiesce", 1, {}, Options([]), 7), READ]
    assert hit_rate.expected_percent(steps) == [None, None, 100]
    assert hit_rate.expected_percent([PlannedStep("c", "command", 1, {"argv": ["x"]}, Options([]), 7)]) == [None]
    assert hit_rate.expected_percent([]) == []


@pytest.mark.parametrize(
    ("found", "wanted", "low"),
    [(100, 100, False), (99, 100, False), (98.9, 100, True), (0, 100, True), (63.2, 63.2, False), (62, 63.2, True)],
)
def test_below_99_percent_of_what_is_expected_it_is_low(found, wanted, low):
    assert hit_rate.is_low(metrics(found), wanted, READ) is low


def test_what_chance_does_is_not_low():
    """Of 1,000 lookups of one client, 60 % are not far from 63.2 %."""
    assert not hit_rate.is_low(metrics(60, 4_000), 63.2, READ)
    assert hit_rate.is_low(metrics(50, 4_000), 63.2, READ)
    assert not hit_rate.is_low(metrics(50, None), 63.2, READ)  # of how many is not known
    assert hit_rate.is_low(metrics(98, None), 100, READ)
    assert not hit_rate.is_low({}, 100, READ)


@pytest.mark.parametrize(
    ("found", "operations", "wanted", "nothing"),
    [
        (0, 400_000, 100, True),
        (0, 400_000, 0.01, False),  # 10 of 100,000 lookups
        (0, 400_000, 0.1, True),
        (0, 40, 100, False),
        (0, None, 100, True),
        (0, None, 63.2, False),
        (0.001, 400_000, 100, False),
        (0, 400_000, None, True),  # of a compaction that forgets, nobody knows how many there are
        (0, 40, None, False),
    ],
)
def test_nothing_found(found, operations, wanted, nothing):
    assert hit_rate.is_zero(metrics(found, operations), wanted, READ) is nothing


def test_a_benchmark_of_missing_keys_may_find_none():
    assert not hit_rate.is_zero(metrics(0), None, step("readmissing", threads=4))
    named = PlannedStep("misses", "command", 1, {"argv": ["x"]}, Options([]), 7)
    assert not hit_rate.is_zero(metrics(0), None, named)


MARIADB = {"Handler_read_key": 88_363.0, "Rows_read": 0.0, "Rows_sent": 581.0}
MYSQL = {"Handler_read_key": 1000.0, "Innodb_rows_read": 3.0, "Innodb_buffer_pool_read_requests": 4000.0}
POSTGRES = {
    "pg_stat_user_tables.seq_tup_read": 0.0,
    "pg_stat_user_indexes.idx_tup_read": 900.0,
    "pg_statio_user_tables.idx_blks_hit": 2000.0,
}


@pytest.mark.parametrize(
    ("counters", "rows"),
    [
        (MARIADB, 0.0),
        (MARIADB | {"Rows_read": 46_410.0}, 46.41),
        (
            MARIADB | {"Rocksdb_rows_read": 187_022.0, "Rocksdb_number_keys_read": 187_022.0},
            187.022,
        ),  # many in one read
        (MARIADB | {"Handler_read_key": 20.0}, None),  # it is not this server that was asked
        (MYSQL, 0.003),
        (MYSQL | {"Innodb_buffer_pool_read_requests": 90.0}, None),  # tables of another storage engine
        (POSTGRES, 0.9),
        (POSTGRES | {"pg_statio_user_tables.idx_blks_hit": 0.0}, None),  # track_counts is off
        ({"Handler_read_key": 1000.0}, None),
    ],
)
def test_rows_of_an_operation(counters, rows):
    assert rows_found(counters, 1000.0) == rows


@pytest.mark.parametrize(("name", "kind", "settings", "is_told"), rows(__file__, "steps_that_must_find_rows"))
def test_steps_that_must_find_rows(name, kind, settings, is_told):
    assert driver(kind)
    assert must_find(name, kind, settings) is is_told
