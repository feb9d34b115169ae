"""Figures that contradict each other, by the runs of a step: what is doubted, and what is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from stepgrid.model.plan import Option, PlannedStep
from stepgrid.summarize.data.tables_reader import Run
from stepgrid.summarize.implausible import implausible_runs
from tests.summarize import made

READ = PlannedStep(
    "readww", "db_bench", 1, {"benchmarks": ["readwhilewriting"], "write_rate": 2_320_000, "keys": 1000}, {}, 7
)


def doubts(*runs: Run, step: PlannedStep = READ, series: Any = None, facts: Any = None, commit: str = "") -> list[str]:
    """`commit`: which failures writes survive, as planned; `facts`: of each result."""
    by_result = {scope: {f"{run.place[0]}/1": values for run in runs} for scope, values in (facts or {}).items()}
    tables = replace(made.tables(runs), series=series or {}, facts=by_result)
    durability = {"commit": commit} if commit else {}
    return [doubt.text for doubt in implausible_runs(tables, [step], lambda _: durability)]


def test_a_writer_that_hardly_writes() -> None:
    (text,) = doubts(made.run("x", 0, 9.0, writer_qps=100.0), made.run("y", 0, 9.0, writer_qps=19_000.0))
    assert text == (
        "readww of b: its writer reached 0.5 % of its `write_rate` (100 of 20,000 writes/s); in 1 of 2 runs"
    )
    large = replace(READ, options={"value_size": Option(23_184, "cell")})
    assert doubts(made.run("x", 0, 9.0, writer_qps=100.0), step=large) == []


def test_reads_that_find_nothing() -> None:
    missing = {"operations": 1000.0, "rows_read_per_op": 1.0, "rows_found_per_op": 0.0}
    assert doubts(made.run("x", 0, 9.0, **missing)) == [
        "readww of b: 1,000 operations found 0 rows and logged less than a byte each; in 1 of 1 run"
    ]
    assert doubts(made.run("x", 0, 9.0, **missing, log_bytes_per_op=120.0)) == []
    assert doubts(made.run("x", 0, 9.0, operations=1000.0, rows_found_per_op=1.0)) == []


UPDATES = {"operations": 8000.0, "transactions": 8000.0, "seconds": 10.0}
WRITE = PlannedStep(
    "readww", "sysbench", 1, {"lua": "update_index", "threads": 4, "events": None, "duration": 10.0}, {}, 7
)
TOLD = "readww of b: its writes are to be synced, but the device completed {} writes in 8,000 {}; in 1 of 1 run"


@pytest.mark.parametrize(
    ("kind", "per_second", "text"),
    [
        ("sysbench", 90.0, TOLD.format(900, "commits")),
        ("sysbench", 110.0, None),  # each of them for a commit of each client
        ("command", 0.5, TOLD.format(5, "operations")),
        ("command", 2.0, None),  # it may be a mix in which few write
    ],
)
def test_writes_that_no_device_has_seen(kind: str, per_second: float, text: str | None) -> None:
    step, figures = replace(WRITE, kind=kind), {**UPDATES, "device_writes_per_s": per_second}
    run = made.run("x", 0, 800.0, **figures)
    assert doubts(run, step=step, commit="sync") == [text] * (text is not None)
    assert doubts(run, step=step, commit="sync", facts={"durability": {"commit": "sync"}}) == [text] * (
        text is not None
    )
    assert doubts(run, step=step, commit="sync", facts={"durability": {"commit": "os"}}) == []  # its server says so
    assert doubts(run, step=step, commit="os") == doubts(run, step=step) == []
    assert doubts(made.run("x", 0, 800.0, **UPDATES), step=step, commit="sync") == []  # in memory there is no device


COLD = {"start": "cold", "bytes": str(2**30), "resident": "0"}
LOOKUPS = {"operations": 90_000.0, "seconds": 10.0, "device_read_mb_per_s": 0.0, "process_read_bytes": 0.0}


def test_reads_of_a_cold_database_that_no_device_has_seen() -> None:
    told = (
        "readww of b: its database of 1 GiB was not in the page cache as it began, but its 90,000 operations read "
        "nothing from a device: another cache answered; in 1 of 1 run"
    )
    read = replace(READ, settings={"benchmarks": ["readrandom"], "keys": 1000})
    assert doubts(made.run("x", 0, 9e3, **LOOKUPS), step=read, facts={"start": COLD}) == [told]
    for figures, facts in (
        ({"process_read_bytes": 50_000.0}, COLD),
        ({"process_read_bytes": 0.0, "server_read_bytes": 50_000.0}, COLD),
        ({"device_read_mb_per_s": 9.0}, COLD),  # another process of the engine read
        ({"operations": 900.0}, COLD),
        ({}, COLD | {"resident": str(2**29)}),
        ({}, COLD | {"bytes": "4096"}),
        ({}, COLD | {"start": "warm"}),
        ({}, {}),
    ):
        run = {**LOOKUPS, **figures}
        assert doubts(made.run("x", 0, run["operations"] / 10, **run), step=read, facts={"start": facts}) == []
    writing = replace(read, mutates=True)
    assert doubts(made.run("x", 0, 9e3, **LOOKUPS), step=writing, facts={"start": COLD}) == []
    later = replace(made.run("x", 0, 9e3, **LOOKUPS), place=("s-x-0-0", 1))
    assert doubts(later, step=read, facts={"start": COLD}) == []


def test_a_step_that_its_work_ends_is_never_early() -> None:
    timed = {"benchmarks": ["readrandom"], "duration": 60.0, "keys": 1000}
    early = made.run("x", 0, 9.0, seconds=1.0)
    assert doubts(early, step=replace(READ, settings=timed)) == [
        "readww of b: it ran for 1.00 s of the 60.0 s that the spec asks for; in 1 of 1 run"
    ]
    assert doubts(early, step=replace(READ, settings={**timed, "benchmarks": ["fillseq"]})) == []


@pytest.mark.parametrize(
    ("rates", "told"),
    [
        ([13_700.0, 83_600.0] * 2, True),
        ([13_700.0, 83_600.0], False),
        ([80_000.0, 81_000.0, 83_600.0, 79_000.0], False),
    ],
)
def test_loads_on_two_levels(rates: Sequence[float], told: bool) -> None:
    text = (
        "readww of b: its loads stand on two levels, 13,700 and 83,600 QPS (50 % and 50 % of them): a mean of both is "
        "the speed of neither; `launch: {cpus: …}` places client and server"
    )
    assert doubts(*(made.run("x", load, qps) for load, qps in enumerate(rates))) == [text] * told


def test_seconds_on_two_levels() -> None:
    runs = [made.run("x", load, 9.0) for load in range(2)]
    pairs = [(float(second), 11_000.0 + second if second % 3 else 73_000.0 - second) for second in range(60)]
    steady = [(float(second), 70_000.0 + 100 * (second % 7)) for second in range(60)]
    (text,) = doubts(*runs, series={runs[0].place: pairs, runs[1].place: steady})
    assert text.startswith(
        "readww of b: its seconds stand on two levels, 11,030 and 72,972 QPS (66.7 % and 33.3 % of them), "
    )
    assert ", in 1 of 2 runs: " in text
