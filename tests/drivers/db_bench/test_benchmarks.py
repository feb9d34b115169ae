from __future__ import annotations

import pytest
from pydantic_core import PydanticCustomError

from stepgrid_databases.drivers.db_bench.benchmarks import ALL_BENCHMARKS, DRAINING, FIRST_RELEASES, PRINTING, TIMED
from stepgrid_databases.drivers.db_bench.settings import require_benchmark


def test_what_is_said_of_benchmarks_is_said_of_some_that_there_are() -> None:
    assert DRAINING | PRINTING | TIMED <= ALL_BENCHMARKS


def test_a_benchmark_is_of_one_sort() -> None:
    assert len(DRAINING | PRINTING | TIMED) == len(DRAINING) + len(PRINTING) + len(TIMED)


@pytest.mark.parametrize(("name", "first"), [("mixgraph", (6, 0)), ("waitforcompaction", (6, 19)), ("fillseq", None)])
def test_the_first_release(name: str, first: tuple[int, ...] | None) -> None:
    assert FIRST_RELEASES.get(name) == first


@pytest.mark.parametrize("name", ["multiscanrandom", "fillembeddedblob", "seektodeletedranges"])
def test_a_late_one_and_one_of_a_fork(name: str) -> None:
    assert require_benchmark(name) == name


def test_a_slip() -> None:
    with pytest.raises(PydanticCustomError, match=r"^db_bench has no benchmark of this name \(nearest: `readseq`\)$"):
        require_benchmark("readsec")
