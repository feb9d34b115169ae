"""Noise floor: equal loads, runs and older results of one experiment, without the effects of their blocks."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from stepgrid.model.records import replace
from stepgrid.summarize.comparisons.noise_floor import noise_floors, residuals
from stepgrid.summarize.data.tables_reader import Tables
from tests.summarize.made import past, point, run

ARM, BASE = (point(*(run(cell, load, 100.0) for load in range(3))) for cell in ("x", "y"))
ENGINES = {"b": "rocksdb"}
# medians of blocks and means of cells are 0: all of it is noise
NOISE = {"a": (0.0, 0.01, -0.01), "b": (0.01, -0.01, 0.0), "c": (-0.01, 0.0, 0.01), "d": (0.0, 0.0, 0.0)}
DEVIATION = math.sqrt(0.0002 / (6 / 8) / (2 * math.log(2)))  # of 8 degrees of freedom the blocks have 2: chi²'s median
Noise = Mapping[str, Sequence[float]]


def figures(cells=NOISE, blocks=(0.0, 0.0, 0.0)):
    """List cell, block and a figure of about 100."""
    for cell, noise in cells.items():
        for block, (own, common) in enumerate(zip(noise, blocks, strict=True)):
            yield cell, block, 100.0 * math.exp(own + common)


def loads(cells=NOISE, blocks=(0.0, 0.0, 0.0)):
    return [run(cell, load, qps) for cell, load, qps in figures(cells, blocks)]


def floors(runs, older=(), engines=ENGINES, host="here"):
    facts = {
        "host": {"s/1": {"hostname": host}},
        "build": {name: {"engine": engine} for name, engine in engines.items()},
    }
    return noise_floors(Tables(tuple(runs), {}, facts, history=tuple(older)))


def deviation(noise, shares_loads, freedom=6):
    """Return the deviation of one figure behind a floor."""
    floor = noise.floor(ARM, BASE, shares_loads)
    return None if floor is None else math.log1p(floor) / special.stdtrit(freedom, 0.975) / math.sqrt(2 / 3)


def test_loads_of_one_cell_are_equal_arms():
    noise = floors(loads())
    assert deviation(noise, False) == pytest.approx(DEVIATION)
    assert noise.floor(ARM, BASE, True) is None, "nothing was measured again"


def test_effects_of_blocks_are_no_noise():
    assert deviation(floors(loads(blocks=(0.0, 0.05, -0.1))), False) == pytest.approx(DEVIATION)


def test_one_disturbed_cell_is_no_floor():
    wild = {**NOISE, "e": (0.0, 3.0, -3.0)}
    assert deviation(floors(loads(wild)), False, freedom=8) == pytest.approx(DEVIATION, rel=0.05)


def test_older_results_of_a_stage_count_on_the_same_host_alone():
    """Four stages that were measured three times: the newest results are in the tables."""
    all_figures = list(figures(blocks=(0.0, 0.05, -0.1)))
    newest = [run(cell, 0, qps) for cell, age, qps in all_figures if age == 0]
    older = [past(cell, 0, qps, age) for cell, age, qps in all_figures if age > 0]
    assert deviation(floors(newest, older[::-1]), True) == pytest.approx(DEVIATION)
    assert floors(newest, older, host="elsewhere").floor(ARM, BASE, True) is None


def test_a_load_measured_again_is_a_load():
    again = [past(cell, 0, qps, age, restored=False) for cell, age, qps in figures() if age > 0]
    noise = floors([run(cell, 0, qps) for cell, age, qps in figures() if age == 0], again)
    assert noise.floor(ARM, BASE, True) is None
    assert deviation(noise, False) == pytest.approx(DEVIATION)


def test_runs_of_one_load_started_from_its_database():
    runs = [run(cell, 0, qps, index) for cell, index, qps in figures()]
    assert deviation(floors(runs), True) == pytest.approx(DEVIATION)


@pytest.mark.parametrize("other", [{"step": "overwrite"}, {"kind": "sysbench"}, {"build_id": "mysql"}])
def test_no_other_step_and_no_other_engine_stands_in(other):
    noise = floors(loads(), engines={**ENGINES, "mysql": "mysqld"})
    assert noise.floor(ARM, BASE, False) is not None
    assert noise.floor(point(replace(ARM.runs[0], **other)), BASE, False) is None


def test_arms_of_two_engines_have_the_noise_of_both():
    """One of them is measured without noise, as far as figures are rounded."""
    quiet = [replace(load, build_id="mysql") for load in loads(dict.fromkeys("efgh", (0.0, 0.01, -0.01)))]
    noise = floors([*loads(), *quiet], engines={**ENGINES, "mysql": "mysqld"})
    other = point(*(replace(load, build_id="mysql") for load in ARM.runs))
    half = special.stdtrit(6, 0.975) * math.sqrt((DEVIATION**2 + 0.0025**2 / 2) / 3)
    assert noise.floor(other, BASE, False) == pytest.approx(math.exp(half) - 1)


def test_figures_are_rounded_so_that_no_floor_is_zero():
    equal = dict.fromkeys("abcd", (0.0, 0.01, -0.01))
    assert deviation(floors(loads(equal)), False) == pytest.approx(0.0025 / math.sqrt(2))


def test_three_cells_are_too_few():
    assert floors(loads({cell: NOISE[cell] for cell in "abc"})).floor(ARM, BASE, False) is None


def test_each_metric_has_its_own_floor():
    """QPS is as noisy as ever, and the latency four times as much."""
    runs = [replace(load, metrics={**load.metrics, "p99_us": (load.metrics["qps"] / 100) ** 4}) for load in loads()]
    slow = point(*(replace(load, metrics={"p99_us": 1.0}) for load in ARM.runs))
    noise = floors(runs)
    assert deviation(noise, False) == pytest.approx(DEVIATION)
    floor = noise.floor(slow, slow, False, "p99_us")
    assert floor is not None
    assert math.log1p(floor) == pytest.approx(4 * DEVIATION * special.stdtrit(6, 0.975) * math.sqrt(2 / 3))


# Effects of blocks

EFFECTS = st.lists(st.floats(-1, 1), min_size=4, max_size=4)


def grid(rows):
    return {f"c{number}": dict(enumerate(row)) for number, row in enumerate(rows)}


def test_a_missing_figure_leaves_the_rest():
    rows = grid([(1.0, 1.5, 0.9), (7.0, 7.5, 6.9), (3.0, 3.5, 2.9)])
    del rows["c1"][2]
    cells = residuals(rows)
    assert [cell.freedom for cell in cells] == [2, 1, 2]
    assert sum(cell.remaining for cell in cells) == pytest.approx(3)
    assert max(cell.squares for cell in cells) == pytest.approx(0, abs=1e-3)


@given(EFFECTS, EFFECTS)
def test_constants_of_cells_and_blocks_do_not_matter(cells, blocks):
    noise = np.random.default_rng(5).normal(0, 0.1, (4, 4))
    moved = noise + np.array(cells)[:, None] + np.array(blocks)
    for one, other in zip(residuals(grid(noise.tolist())), residuals(grid(moved.tolist())), strict=True):
        assert one.squares == pytest.approx(other.squares)
        assert one[1:] == other[1:]


@pytest.mark.parametrize("cells", [2, 3, 5, 9])
def test_the_deviation_is_that_of_a_figure_or_a_little_more(cells):
    generator = np.random.default_rng(cells)
    trials = [
        residuals(grid((generator.normal(size=(cells, 5)) + generator.normal(size=(1, 5)) * 5).tolist()))
        for _ in range(400)
    ]
    variance = np.mean([cell.squares / cell.freedom for trial in trials for cell in trial])
    assert 0.97 < math.sqrt(variance) < 1.12
