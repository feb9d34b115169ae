import math
from dataclasses import replace

import pytest
from scipy import stats

from stepgrid.summarize.comparisons import noise_floor
from tests.summarize.made import past, point, run

ARM, BASE = (point(*(run(cell, load, 100.0) for load in range(3))) for cell in ("x", "y"))


ENGINES = {"b": "rocksdb"}

# medians of blocks and means of cells are 0: all of it is noise
NOISE = {"a": (0.0, 0.01, -0.01), "b": (0.01, -0.01, 0.0), "c": (-0.01, 0.0, 0.01), "d": (0.0, 0.0, 0.0)}
DEVIATION = math.sqrt(0.0002 / (6 / 8) / stats.chi2.median(2))  # of 8 degrees of freedom the blocks have 2


def apart(cells=NOISE, blocks=(0.0, 0.0, 0.0)):
    """Cells with loads of 100 and so much more."""
    return [run(cell, load, qps) for cell, load, qps in figures(cells, blocks)]


def figures(cells=NOISE, blocks=(0.0, 0.0, 0.0)):
    for cell, noise in cells.items():
        for block, (add, common) in enumerate(zip(noise, blocks, strict=True)):
            yield cell, block, 100.0 * math.exp(add + common)


def floors(runs, older=(), hosts=(), engines=ENGINES):
    return noise_floor.floors(runs, older, hosts, engines)


def deviation(found, again):
    return found.spread(ARM, again=again).deviation


def test_loads_of_one_cell_are_equal_arms():
    found = floors(apart())
    assert deviation(found, again=False) == pytest.approx(DEVIATION)
    half = stats.t.ppf(0.975, 6) * DEVIATION * math.sqrt(2 / 3)
    assert found.floor(ARM, BASE, again=False) == pytest.approx(math.exp(half) - 1)
    assert found.floor(ARM, BASE, again=True) is None  # nothing was measured again


def test_what_differs_between_blocks_is_no_noise():
    found = floors(apart(blocks=(0.0, 0.05, -0.1)))
    assert deviation(found, again=False) == pytest.approx(DEVIATION)


def test_one_disturbed_cell_is_no_floor():
    wild = {**NOISE, "e": (0.0, 3.0, -3.0)}
    assert deviation(floors(apart(wild)), again=False) == pytest.approx(DEVIATION, rel=0.05)


def test_older_results_of_a_stage_tell_how_equal_it_comes_out_again():
    """Four stages that were measured three times: the newest results are in the tables."""
    every = list(figures(blocks=(0.0, 0.05, -0.1)))
    own = [run(cell, 0, qps) for cell, age, qps in every if age == 0]
    older = [past(cell, 0, qps, age) for cell, age, qps in every if age > 0]
    found = floors(own, older[::-1], ["here"])
    spread = found.spread(ARM, again=True)
    assert (spread.freedom, spread.groups) == (6, 4)
    assert spread.deviation == pytest.approx(DEVIATION)
    assert floors(own, older, ["elsewhere"]).spread(ARM, again=True) is None


def test_results_of_other_stages_are_of_another_experiment():
    """Tables of an older version have them."""
    other = [replace(past(cell, load, qps), place=("s-other", 0)) for cell, load, qps in figures()]
    assert floors([run("x", 0, 100.0)], other, ["here"]).spread(ARM, again=False) is None


def test_a_load_measured_again_is_a_load():
    every = list(figures())
    again = [past(cell, 0, qps, age, restored=False) for cell, age, qps in every if age > 0]
    found = floors([run(cell, 0, qps) for cell, age, qps in every if age == 0], again, ["here"])
    assert found.spread(ARM, again=True) is None
    assert deviation(found, again=False) == pytest.approx(DEVIATION)


def test_runs_of_one_load_started_from_its_database():
    own = [run(cell, 0, qps, index) for cell, index, qps in figures()]
    assert deviation(floors(own), again=True) == pytest.approx(DEVIATION)


@pytest.mark.parametrize("other", [{"step": "overwrite"}, {"kind": "sysbench"}, {"build_id": "mysql"}])
def test_no_other_step_and_no_other_engine_stands_in(other):
    found = floors(apart(), engines={**ENGINES, "mysql": "mysqld"})
    assert found.floor(ARM, BASE, again=False) is not None
    assert found.floor(point(replace(ARM.runs[0], **other)), BASE, again=False) is None


def test_arms_of_two_engines_have_the_noise_of_both():
    """One of them is measured without noise, as far as figures are rounded."""
    quiet = [replace(each, build_id="mysql") for each in apart(dict.fromkeys("efgh", (0.0, 0.01, -0.01)))]
    found = floors([*apart(), *quiet], engines={**ENGINES, "mysql": "mysqld"})
    other = point(*(replace(each, build_id="mysql") for each in ARM.runs))
    half = stats.t.ppf(0.975, 6) * math.sqrt((DEVIATION**2 + 0.0025**2 / 2) / 3)
    assert found.floor(other, BASE, again=False) == pytest.approx(math.exp(half) - 1)


def test_figures_are_rounded_so_that_no_floor_is_zero():
    equal = dict.fromkeys("abcd", (0.0, 0.01, -0.01))
    assert deviation(floors(apart(equal)), again=False) == pytest.approx(0.0025 / math.sqrt(2))


def test_little_history_is_none():
    few = {cell: NOISE[cell] for cell in "abc"}
    assert floors(apart(few)).floor(ARM, BASE, again=False) is None
