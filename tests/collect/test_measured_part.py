"""What of a step's samples is averaged."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from pathlib import Path

import pytest

from stepgrid.collect.samples import COLUMNS, Row, Window, measured_part, read_samples, rows, series
from tests.collect.reading import step_usage, usage

RECORD = {"seconds": 6.0, "started": "2026-11-22T10:00:00+00:00"}
SECONDS = (10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 16.2)


def samples(late: float = 0.0) -> list[Row]:
    """As many switches as milliseconds; `late`: seconds from the step's start to the first sample."""
    start = datetime(2026, 11, 22, 10, tzinfo=UTC).timestamp() + late
    return rows([{"monotonic": at, "t": start + at - SECONDS[0], "switches": 1000 * (at - 10)} for at in SECONDS])


@pytest.mark.parametrize(
    ("window", "kept", "partial"),
    [
        (None, (*SECONDS[:6], 16.0), False),  # of 6 s
        ((0.0, 6.2), SECONDS, False),
        ((0.2, 5.4), (10.2, *SECONDS[1:6], 15.4), True),
        ((2.0, 4.0), SECONDS[2:5], True),
        ((2.2, 4.3), (12.2, 13.0, 14.0, 14.3), True),
        ((2.2, 2.3), SECONDS, False),  # most of it would be guessed
        ((5.0, 12.0), SECONDS[5:], True),
        ((9.0, 12.0), SECONDS, False),  # no time
    ],
)
def test_samples_are_cut_at_the_edges(window: Window | None, kept: tuple[float, ...], partial: bool) -> None:
    part = measured_part(samples(), window, RECORD)
    assert [row[COLUMNS[("monotonic",)]] for row in part.samples] == pytest.approx(kept)
    assert [row[COLUMNS[("switches",)]] for row in part.samples] == pytest.approx([1000 * (at - 10) for at in kept])
    assert part.is_partial == partial


def test_without_its_length_all_samples_are_of_a_step() -> None:
    every = samples()
    assert measured_part(every, None, {}).samples is every
    assert len(measured_part(every[:1], (0.0, 3.0), RECORD).samples) == 1


def test_what_was_before_the_first_sample_is_as_what_came_behind() -> None:
    """A first sample that came half a second late: the window is moved, and what it lacks is weighed in."""
    found = measured_part(samples(late=0.5), (0.0, 4.0), RECORD)
    assert [found.samples[at][COLUMNS[("monotonic",)]] for at in (0, -1)] == pytest.approx([10.0, 13.5])
    assert found.weight == pytest.approx(4 / 3.5)
    assert measured_part(samples(late=-3.0), (0.0, 4.0), RECORD).weight == 1  # the clock was set


def test_a_step_begins_when_its_program_has_waited_for_collectors() -> None:
    """What a server did in its last second was cut off, as long as its client had waited for perf."""
    part = measured_part(samples(late=1.2), None, {**RECORD, "waited": 1.2})
    assert [part.samples[at][COLUMNS[("monotonic",)]] for at in (0, -1)] == pytest.approx([10.0, 16.0])
    assert part.weight == pytest.approx(1.0)


def test_a_missing_counter_stays_missing() -> None:
    every = samples()
    last = list(every[-1])
    last[COLUMNS[("switches",)]] = math.nan
    part = measured_part([*every[:-1], tuple(last)], (0.0, 6.1), RECORD)
    assert math.isnan(part.samples[-1][COLUMNS[("switches",)]])


def test_a_sensor_that_is_read_seldom_is_interpolated_between_its_readings() -> None:
    """The CPU of a server after its last reading within a step was lost, on a host where a look is dear."""
    every = [[*row] for row in samples()]
    for at in (2, 3, 5, 6):
        every[at][COLUMNS[("switches",)]] = math.nan
    part = measured_part([tuple(row) for row in every], (0.0, 5.4), RECORD)
    assert part.samples[-1][COLUMNS[("switches",)]] == pytest.approx(5400.0)


def test_per_operation_is_of_the_seconds_of_the_step(tmp_path: Path) -> None:
    """2.01 s, and samples of 2.13: what the host did in the last 0.12 s is none of the step's operations'."""
    made = [
        {"monotonic": 100 + at, "switches": 1000 * at, "server": {"user": at, "system": 0.0, "rss": 1}}
        for at in (0.0, 1.0, 2.0, 2.13)
    ]
    (tmp_path / "samples.jsonl").write_text("".join(json.dumps(each) + "\n" for each in made))
    (tmp_path / "step.json").write_text(json.dumps({"seconds": 2.01, "user": 1.5, "system": 0.5}))
    found = usage(tmp_path, 2010)
    assert found["context_switches_per_op"] == pytest.approx(1.0)
    assert found["context_switches_per_s"] == pytest.approx(1000.0)
    assert found["server_cpu_us_per_op"] == pytest.approx(1000.0)
    assert found["client_cpu_us_per_op"] == pytest.approx(2e6 / 2010)  # as the kernel counted it


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """3 s of overwriting at 100 writes/s and one core, 3 s of draining at 1000 and half a core."""
    samples = [
        {
            "monotonic": float(second),
            "device": "md2",
            "devices": {"md2": {"writes": writes, "write_sectors": 8 * writes, "write_ms": writes}},
            "process": {"user": user, "system": 0.0, "rss": 10 + second, "read_bytes": 0, "write_bytes": 4096 * writes},
            "database_bytes": second,
        }
        for second, (writes, user) in enumerate(
            [(0, 0.0), (100, 1.0), (200, 2.0), (300, 3.0), (1300, 3.5), (2300, 4.0), (3300, 4.5)]
        )
    ]
    (tmp_path / "samples.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    (tmp_path / "step.json").write_text(json.dumps({"user": 4.5, "system": 0.1, "max_rss": 99}))
    return tmp_path


def test_averages_are_those_of_the_measured_part(folder: Path) -> None:
    found = step_usage(folder, (0.0, 3.0)).figures(600)
    names = ("device_writes_per_s", "writes_per_op", "process_cores", "cpu_seconds", "cpu_us_per_op")
    assert [found[name] for name in names] == pytest.approx([100, 0.5, 1.0, 3.0, 5000])
    assert usage(folder, 600)["device_writes_per_s"] == 550
    assert (found["process_write_bytes"], found["process_rss_bytes"]) == (300 * 4096, 15)
    assert (found["database_bytes"], found["process_max_rss_bytes"]) == (6, 99)  # at the end; of the process


def test_what_came_after_is_counted_by_itself(folder: Path) -> None:
    assert step_usage(folder, (0.0, 3.0)).after() == pytest.approx(
        {"drain_cpu_seconds": 1.6, "drain_write_bytes": 3000 * 4096}
    )
    assert step_usage(folder, (0.0, 6.0)).after() == {}


def test_samples_are_of_all_seconds(folder: Path) -> None:
    assert series(read_samples(folder))["second"] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
