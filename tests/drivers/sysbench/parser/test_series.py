"""Rates per interval, of a run with and without a warmup."""

from stepgrid.drivers.sysbench.parser import series


def line(second: int, qps: float) -> str:
    return f"[ {second}s ] thds: 4 tps: 1.00 qps: {qps:.2f} (r/w/o: 1.00/0.00/0.00) lat (ms,99%): 1.00 err/s: 0.00\n"


def test_every_interval() -> None:
    assert series(line(1, 10) + "Threads started!\n" + line(2, 20)) == [(1.0, 10.0), (2.0, 20.0)]


def test_after_a_warmup_it_counts_from_the_start_again() -> None:
    assert series(line(1, 10) + line(2, 20) + line(1, 30) + line(2, 40)) == [(1.0, 30.0), (2.0, 40.0)]


def test_a_warmup_of_one_interval() -> None:
    assert series(line(1, 10) + line(1, 30) + line(2, 40)) == [(1.0, 30.0), (2.0, 40.0)]


def test_nothing_was_said_yet() -> None:
    assert series("") == []
