"""What of a step's samples is averaged."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from compiler.collect.measurement import Window, within
from compiler.collect.samples import SERIES
from compiler.collect.usage import of

SECONDS = (10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 16.2)


@pytest.mark.parametrize(
    ("window", "kept"),
    [
        (None, SECONDS),
        ((0.0, 6.2), SECONDS),
        ((0.2, 5.4), SECONDS),  # what is left out is too short for the kernel's own count to be given up
        ((0.2, 3.4), SECONDS[:4]),
        ((2.2, 4.6), SECONDS[2:6]),
        ((2.2, 2.3), SECONDS),  # no interval
        ((9.0, 12.0), SECONDS),
    ],
)
def test_samples_next_to_the_edges(window: Window | None, kept: tuple[float, ...]) -> None:
    assert SECONDS[within(np.array(SECONDS), window)] == kept


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


def test_averages_are_those_of_the_measurement(folder: Path) -> None:
    whole = of(folder)
    part = whole.within((0.0, 3.0))
    found = part.figures(600)
    names = ("device_writes_per_s", "writes_per_op", "process_cores", "cpu_seconds", "cpu_us_per_op")
    assert [found[name] for name in names] == pytest.approx([100, 0.5, 1.0, 3.0, 5000])
    assert whole.figures(600)["device_writes_per_s"] == 550
    assert (found["process_write_bytes"], found["process_rss_bytes"]) == (300 * 4096, 13)
    assert (found["database_bytes"], found["process_max_rss_bytes"]) == (6, 99)  # at the end; of the process


def test_what_came_after_is_counted_by_itself(folder: Path) -> None:
    assert of(folder).within((0.0, 3.0)).after() == pytest.approx(
        {"drain_cpu_seconds": 1.6, "drain_write_bytes": 3000 * 4096}
    )
    assert of(folder).within((0.0, 6.0)).after() == {}


def test_samples_are_of_all_seconds(folder: Path) -> None:
    assert of(folder).series().shape == (len(SERIES), 6)
