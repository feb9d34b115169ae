"""Steps that are worked out together say what each says alone."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.collect.samples import gauges, rates
from stepgrid.collect.samples.sample_figures import SERIES, Samples, read
from stepgrid.collect.samples.sample_format import PLACES, SECTIONS, Sample, numbers
from stepgrid.host.sampling import counters

Step = np.ndarray

_COUNTS = st.integers(0, 1000)


@st.composite
def steps(draw: st.DrawFn) -> Step:
    """Of any length, with holes, counters that go back and intervals of any length."""
    passed = draw(st.lists(st.sampled_from([0.0, 0.02, 0.25, 1.0, 2.0]), max_size=6))
    times = np.cumsum(passed) + draw(st.integers(1, 100))
    drawn = [draw(st.fixed_dictionaries({"monotonic": st.just(float(at))}, optional=_OPTIONAL)) for at in times]
    return numbers(msgspec.convert(drawn, list[Sample]))


_OPTIONAL = {
    "switches": st.integers(0, 1000),
    "running": st.integers(0, 9),
    "cpu": st.fixed_dictionaries({}, optional=dict.fromkeys(("user", "system", "idle"), _COUNTS)),
    "process": st.fixed_dictionaries({}, optional=dict.fromkeys(("user", "system", "rss"), _COUNTS)),
    "device": st.sampled_from(["vda", "vdb"]),
    "devices": st.just({"vda": {"reads": 3, "read_ms": 5}, "vdb": {"reads": 9, "read_ms": 1}}),
}


@given(st.lists(steps(), min_size=1, max_size=4))
def test_together_as_alone(several: list[Step]) -> None:
    every = Samples(several)
    for index, step in enumerate(several):
        alone = Samples([step])
        for found in (every, alone):
            assert len(found.over) == len(found.means) == len(found.series) == len(found.steps)
        assert every.over[index] == alone.over[0]
        assert every.work[index] == alone.work[0]
        assert every.means[index].keys() == alone.means[0].keys()
        assert np.allclose(list(every.means[index].values()), list(alone.means[0].values()), rtol=1e-12)
        assert np.array_equal(every.series[index], alone.series[0], equal_nan=True)
        assert len(every.series[index]) == len(SERIES)


def test_a_step_without_a_sample_has_nothing_of_its_neighbours() -> None:
    step = numbers([Sample(1.0, switches=5, running=3), Sample(3.0, switches=9, running=5)])
    found = Samples([numbers(()), step, step[:1], numbers(())])
    assert found.over == [{}, {"context_switches_per_s": 2.0}, {}, {}]
    assert found.work == [{}, {"context_switches_per_op": 4.0}, {}, {}]
    assert found.means == [{}, {"run_queue": 3.0}, {"run_queue": 2.0}, {}]
    assert [each.shape[1] for each in found.series] == [0, 1, 0, 0]


def test_a_last_line_that_was_cut_is_left_out(tmp_path: Path) -> None:
    assert len(read(tmp_path)) == 0
    (tmp_path / "samples.jsonl").write_bytes(b'{"monotonic": 1}\n\n\n{"monotonic": 2, "else": 3}\n{"mono')
    assert read(tmp_path)[:, PLACES[("monotonic",)]].tolist() == [1, 2]


def test_all_that_figures_are_made_of_is_read() -> None:
    keys = [each.keys for each in (*rates.COUNTED.values(), *rates.PER_OPERATION.values(), *gauges.GAUGES.values())]
    keys += [key for each in gauges.SUMS.values() for key in (each.first, each.second)]
    keys += [(rates.DEVICE, name) for each in rates.RATIOS.values() for name in (each.counter, each.requests)]
    assert set(keys) <= PLACES.keys()
    assert SECTIONS["cpu"].__struct_fields__ == counters.CPU  # their sum is the time that passed


def test_what_is_read_is_what_the_sampler_writes() -> None:
    own = {"device": counters.DEVICE, "memory": counters.MEMORY.values(), "pressure": counters.PRESSURE}
    for section, names in own.items():
        assert set(SECTIONS[section].__struct_fields__) <= set(names)
