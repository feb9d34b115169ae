"""Layouts whose figures are easy to check by eye."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stepgrid.plugins.layout import Block, Layout, LayoutCell
from stepgrid.plugins.registry import LAYOUTS, default_tables
from stepgrid_databases.layouts import arms, counters, figures, insert_benchmark, microbenchmarks
from tests.layouts.made import compared, spot, subjects, texts


@pytest.mark.parametrize("name", LAYOUTS.names())
def test_every_layout_is_one(name: str) -> None:
    assert isinstance(LAYOUTS.get(name), Layout)


def test_an_axis_of_rows_and_columns_is_said_once() -> None:
    names = (("postgres", "1"), ("innodb", "1"))
    spots = {(at, at): LayoutCell({"reads": 10.0 * (at + 1)}) for at in range(2)}
    block = Block(
        "reads", names, (("postgres",), ("innodb",)), spots, row_axes=("build", "clients"), column_axes=("build",)
    )
    assert [name for name, _ in block.subjects()] == ["postgres clients=1", "innodb clients=1"]
    table, relative = counters.counter_tables(replace(block, counters=("reads",)))
    assert [column.name for column in table.columns] == ["name", "postgres clients=1", "innodb clients=1"]
    assert relative.before[0] == "relative to postgres clients=1"
    other = replace(block, columns=(("postgres", "lru"), ("innodb", "lru")), column_axes=("build", "cache"))
    assert [name for name, _ in other.subjects()] == ["postgres clients=1 lru", "innodb clients=1 lru"]


def test_a_layout_that_there_is_not() -> None:
    with pytest.raises(LookupError, match=r"^layout `iostats` is not installed; "):
        LAYOUTS.get("iostats")


@pytest.mark.parametrize(
    "kind", ["db_bench", "sysbench", "insert_benchmark", "linkbench", "tpcc", "vector_search", "command"]
)
def test_what_a_kind_shows_without_being_asked_is_a_layout(kind: str) -> None:
    assert default_tables(kind)
    assert set(default_tables(kind)) <= set(LAYOUTS.names())


def test_groups_of_microbenchmarks_with_short_names() -> None:
    names = ("point-query_range=100", "random-points_range=10", "random-points_range=100", "scan_range=100",
             "read-only-count_range=1000", "update-index_range=100", "points-covered-si.warm")  # fmt: skip
    found = microbenchmarks.relative_tables(compared(dict.fromkeys(names, (100, 110)), ("my5651", "my5744")))
    assert [(table.block, texts(table)) for table in found] == [
        ("point queries", ["1.10 point-query", "1.10 random-points_range=10", "1.10 random-points_range=100"]),
        ("range queries without aggregation", ["1.10 scan"]),
        ("range queries with aggregation", ["1.10 read-only-count"]),
        ("writes", ["1.10 update-index"]),
    ]


def test_a_base_that_is_a_row_leaves_the_columns_their_names() -> None:
    ratios = {(0, 0): 1.0, (0, 1): 1.0, (1, 0): 1.25, (1, 1): 0.5}
    spots = {place: LayoutCell({"qps": 9.0}, ratios={"qps": ratio}) for place, ratio in ratios.items()}
    block = Block(
        "relative QPS", (("6.29.5",), ("9.9.3",)), (("fillseq",), ("overwrite",)), spots, ("build",), base="6.29.5"
    )
    (found,) = figures.relative_tables(block)
    assert found.before == ("Relative to: 6.29.5",)
    assert [column.name for column in found.columns] == ["fillseq", "overwrite", "build"]
    assert texts(found) == ["1.00 1.00 6.29.5", "1.25 0.50 9.9.3"]


def test_cells_without_figures_say_why() -> None:
    found = figures.figure_tables(subjects({"a": {"qps": 12345.6}, "b": "failed", "c": "same as a", "d": {}}))[0]
    assert texts(found) == ["a 12,346", "b failed", "c same as a", "d -"]
    assert [row[1].kind for row in found.rows] == ["", "failed", "same as", "missing"]


def test_several_metrics_over_columns_are_a_table_each() -> None:
    spots = {(0, 0): LayoutCell({"qps": 100, "lsm_bytes": 3 * 2**30}), (0, 1): LayoutCell({"qps": 50.25})}
    block = Block("t", (("x",),), (("a",), ("b",)), spots, ("step",), metrics=("qps", "lsm_bytes"))
    found = figures.figure_tables(block)
    assert [(table.block, texts(table)) for table in found] == [
        ("qps, operations/s", ["x 100 50.2"]),
        ("lsm_bytes, B", ["x 3 GiB -"]),
    ]


def test_a_level_that_shrank_by_less_than_is_shown_has_no_sign() -> None:
    rows = ({"level": "L7", "write_new_bytes": -0.03 * 2**30}, {"level": "L6", "write_new_bytes": -0.3 * 2**30})
    (found,) = counters.level_tables(Block("t", (("a",),), spots={(0, 0): LayoutCell({}, levels=rows)}))
    assert texts(found) == ["L7 0.0", "L6 -0.3"]


def test_units_of_what_a_table_calls_otherwise_stand_below() -> None:
    called = {"qps": "o/s", "gets_per_s": "get/s", "device_read_mb_per_s": "rMB/s"}
    spots = {(0, 0): LayoutCell({"qps": 5, "gets_per_s": 4, "device_read_mb_per_s": 2.5, "p99_us": 7})}
    block = Block("t", (("a",),), spots=spots, row_axes=("x",), metrics=(*called, "p99_us"), called=called)
    (found,) = figures.figure_tables(block)
    assert [(column.name, column.unit) for column in found.columns[1:]] == [
        ("o/s", ""),
        ("get/s", ""),
        ("rMB/s", ""),
        ("p99_us", "us"),
    ]
    assert found.notes == ("o/s, get/s: operations/s; rMB/s: MiB/s",)


def test_the_best_qps_for_a_recall() -> None:
    values = {"m=4": {"recall": 0.9496, "qps": 900.0}, "m=8": {"recall": 0.99, "qps": 500.0}, "m=16": "failed"}
    every, best = arms.recall_tables(subjects(values))
    assert texts(every) == ["0.990 500.0 m=8", "0.950 900.0 m=4", "failed failed m=16"]
    assert texts(best)[0] == ">= 0.990 0.990 500.0 m=8"
    assert texts(best)[-1] == ">= 0.950 0.950 900.0 m=4"


def test_counters_relative_to_the_first() -> None:
    block = subjects(
        {"a": {"x": 0.0, "y": 10.0, "z": -1.0}, "b": {"x": 5.0, "y": 15.0, "z": -1.0}}, metrics=("x", "y", "z")
    )
    absolute, relative = counters.counter_tables(block)
    assert texts(absolute) == ["x 0 5", "y 10 15", "z -1 -1"]
    assert texts(relative) == ["INF x", "1.500 y", "1.000 z"]


def test_the_counters_of_a_pattern_that_grew_most() -> None:
    grown = {"a": {"x.1": 0.0, "x.2": 3.0, "x.3": 0.0, "y": 9.0}, "b": {"x.1": 7.0, "x.2": 1.0, "x.3": 0.0, "y": 9.0}}
    absolute, relative = counters.counter_tables(replace(subjects(grown), counters=("x.*",)))
    assert texts(absolute) == ["x.1 0 7", "x.2 3 1"]
    assert texts(relative) == ["INF x.1", "0.333 x.2"]
    (most, _) = counters.counter_tables(replace(subjects(grown), counters=("x.*",), top=1))
    assert texts(most) == ["x.1 0 7"]
    (named, _) = counters.counter_tables(replace(subjects(grown), counters=("x.3", "gone")))
    assert texts(named) == ["x.3 0 0"]
    assert counters.counter_tables(replace(subjects(grown), counters=("gone",))) == []


LEVELS = (
    {"level": "L0", "files": 2.0, "compacting_files": 0.0, "bytes": 1.5 * 2**20, "write_bytes": 0.3 * 2**30},
    {"level": "Sum", "files": 4.0, "compacting_files": 1.0, "bytes": 2.0 * 2**30, "keys_in": 1662000.0},
)


def test_compaction_by_level_and_in_all() -> None:
    block = Block("t", (("a",), ("b",)), spots={(0, 0): LayoutCell({"qps": 1}, levels=LEVELS), (1, 0): spot("failed")})
    (table,) = counters.level_tables(block)
    assert [column.name for column in table.columns] == ["Level", "Files", "Size", "Write(GB)", "KeyIn"]
    assert texts(table) == ["L0 2/0 1.50 MB 0.3 -", "Sum 4/1 2.00 GB - 1662K"]
    assert texts(counters.level_sum_tables(block)[0]) == ["2.00 GB a", "failed b"]


def test_the_metrics_of_the_insert_benchmark_have_the_published_names() -> None:
    values = {
        "inserts_per_s": 1000.0, "qps": 500.0, "target_inserts_per_s": 1000.0,
        "client_cpu_us_per_op": 30.4, "median_qps": 510.0, "worst_qps_p99": 90.0,
        "device_writes_per_s": 2000.0, "data_bytes": 2.0**30, "index_bytes": 2.0**31, "database_bytes": 5 * 2.0**30,
    }  # fmt: skip
    found = insert_benchmark.costs(values)
    assert {name: found[name] for name in ("ips", "qps", "ccpupq", "p50", "p99", "wpi", "dbgb1", "dbgb2")} == {
        "ips": 1000.0, "qps": 500.0, "ccpupq": 30.4, "p50": 510.0, "p99": 90.0, "wpi": 2.0, "dbgb1": 3.0, "dbgb2": 5.0,
    }  # fmt: skip


def test_the_longest_is_that_of_the_queries_where_there_are_any() -> None:
    slowest = {"max_insert_seconds": 0.5, "max_query_seconds": 0.25, "median_inserts_per_s": 9.0}
    load = {"inserts_per_s": 10.0, "qps": 10.0, **slowest}
    queries = {**load, "qps": 5.0, "target_inserts_per_s": 10.0}
    assert [insert_benchmark.costs(each).get("maxop") for each in (load, queries)] == [0.5, 0.25]
    assert [insert_benchmark.costs(each).get("p50") for each in (load, queries)] == [9.0, None]
    assert insert_benchmark.costs({**queries, "max_us": 1e6})["maxop"] == 1.0


def test_columns_of_some_published_tables_alone_are_there_where_a_row_has_them() -> None:
    spots = {(0, 0): LayoutCell({"server_virtual_bytes": 2.0**34}), (1, 0): LayoutCell({"tables_bytes": 2.0**30})}
    seldom = insert_benchmark.metric_tables(Block("t", (("a",), ("b",)), (("l.i0",),), spots))[0]
    usual = insert_benchmark.metric_tables(Block("t", (("b",),), (("l.i0",),), {(0, 0): spots[1, 0]}))[0]
    assert " ".join(column.name for column in usual.columns) == (
        "ips rps rmbps wps wmbps rpq rkbpq wpi wkbpi csps cpups cspq cpupq dbgb1 dbgb2 rss maxop p50 p99 tag"
    )
    assert [column.name for column in seldom.columns if column not in usual.columns] == ["vsz"]
    assert texts(seldom) == [
        " ".join([*["-"] * 15, "16.0", *["-"] * 4, "a"]),
        " ".join([*["-"] * 13, "1.0", *["-"] * 6, "b"]),
    ]


def test_the_shares_of_classes_of_response_times() -> None:
    shares = (99.999, 0.0, 0.0, 0.0, 0.0008, 0.0, 0.0, 0.0, 0.0, 0.0002)
    values = {"max_query_seconds": 17.5, "max_us": 2000.0}
    spots = {
        (0, 0): LayoutCell(values, times={"query": shares, "": (100.0, *[0.0] * 9)}),
        (1, 0): LayoutCell(status="failed"),
    }
    query, every = arms.class_tables(Block("t", (("a",), ("b",)), spots=spots, point="q100"))
    names = "256us 1ms 4ms 16ms 64ms 256ms 1s 4s 16s gt max tag"
    assert " ".join(column.name for column in query.columns) == names
    none = ["0.000"] * 4
    assert texts(query) == [
        " ".join(["99.999", *none[:3], "0.001", *none, "nonzero", "17.500", "a"]),
        " ".join(["failed"] * 11 + ["b"]),
    ]
    assert (query.block, every.block) == ("q100, query", "q100")
    assert texts(every)[0] == " ".join(["100.000", *none, *none, "0.000", "0.002", "a"])


@pytest.mark.parametrize("kind", ["range", "point"])
def test_the_longest_query_is_that_of_either_kind(kind: str) -> None:
    spots = {(0, 0): LayoutCell({"max_query_seconds": 1.5}, times={kind: (100.0, *[0.0] * 9)})}
    (found,) = arms.class_tables(Block("t", (("a",),), spots=spots))
    assert texts(found)[0].endswith(" 1.500 a")
