from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from stepgrid_importers.sysbench import names
from stepgrid_importers.sysbench.names import Test as Benchmark


def test_a_file_says_its_test() -> None:
    assert names.test("sb.o.range-notcovered-si.pre.range100.pk1.dop40") == Benchmark(
        "range-notcovered-si.pre", 100, "1", "40"
    )
    assert names.test("sb.o.pgvac.sbtest5") is None


def test_a_directory_says_build_and_config() -> None:
    assert names.build("x.my8044_rel_o2nofp.z12a_c32r128.pk1") == ("my8044_rel_o2nofp.z12a_c32r128", "1")
    assert names.build("other") == ("other", None)


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("point-query", 0),
        ("points-covered-si.warm", 1),
        ("range-covered-pk", 1),
        ("scan", 1),
        ("read-only-count", 2),
        ("read-write", 3),
        ("delete", 3),
    ],
)
def test_groups_are_by_parts_of_names(name: str, group: int) -> None:
    assert names.group(name) == group


def test_the_range_is_named_where_there_are_several() -> None:
    rows = ["scan_range=100", "read-only_range=10", "read-only_range=100"]
    assert list(names.short(rows).values()) == ["scan", "read-only_range=10", "read-only_range=100"]


def test_rows_are_in_the_published_order(published: Callable[[str], Path]) -> None:
    lines = (published("sysbench") / "qps.abs.my.latest.tsv").read_text(encoding="utf-8").split("\n")[7:-1]
    rows = [line.split("\t")[-1] for line in lines]
    parsed = [found for row in rows if (found := names.row(row))]
    tests = [Benchmark(name, size, "1", "40") for name, size in parsed]
    random.Random(1).shuffle(tests)
    assert [test.row for test in names.ordered(tests)] == rows
    assert len(rows) == 33
