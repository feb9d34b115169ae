import random
from collections.abc import Callable
from pathlib import Path

from stepgrid_importers.sysbench import names
from stepgrid_importers.sysbench.names import Test as Benchmark


def test_rows_are_in_the_published_order(published: Callable[[str], Path]) -> None:
    lines = (published("sysbench") / "qps.abs.my.latest.tsv").read_text(encoding="utf-8").split("\n")[7:-1]
    rows = [line.split("\t")[-1] for line in lines]
    parsed = [found for row in rows if (found := names.row(row))]
    tests = [Benchmark(name, size, "1", "40") for name, size in parsed]
    random.Random(1).shuffle(tests)
    assert [test.row for test in names.ordered(tests)] == rows
    assert len(rows) == 33
