"""Samples as they are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.collect import samples
from stepgrid.collect.samples import COLUMNS, SECTIONS, read_samples
from stepgrid.host import counters


def test_a_last_line_that_was_cut_is_left_out(tmp_path: Path) -> None:
    assert read_samples(tmp_path) == []
    (tmp_path / "samples.jsonl").write_bytes(b'{"monotonic": 1}\n\n\n{"monotonic": 2, "else": 3}\n{"mono')
    assert [row[COLUMNS[("monotonic",)]] for row in read_samples(tmp_path)] == [1, 2]


def test_what_is_no_number_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text('{"monotonic": 1.0}\n{"monotonic": 2.0, "cpu": {"user": "soon"}}\n')
    with pytest.raises(ValueError, match=r'sample 2: `cpu\.user` is "soon", and not a number') as error:
        read_samples(tmp_path)
    assert str(error.value).startswith(f"{path}: ")


def test_all_that_figures_are_made_of_is_read() -> None:
    counted = (*samples.COUNTED.values(), *samples.PER_OPERATION.values(), *samples.GAUGES.values())
    keys = {counter.keys for counter in counted}
    keys |= {key for first, _, second in samples.SUMS.values() for key in (first, second)}
    keys |= {(samples.DEVICE, name) for ratio in samples.RATIOS.values() for name in (ratio.counter, ratio.requests)}
    assert keys <= COLUMNS.keys()


def test_what_is_read_is_what_the_sampler_writes() -> None:
    written = {"device": counters.DEVICE, "memory": counters.MEMORY.values(), "pressure": counters.PRESSURE}
    for section, names in written.items():
        assert set(SECTIONS[section]) <= set(names)
