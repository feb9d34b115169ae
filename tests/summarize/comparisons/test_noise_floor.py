import math

import pytest
from scipy import stats

from stepgrid.summarize.comparisons.noise_floor import floors
from tests.summarize.made import past, point, run

ARM, BASE = (point(*(run(cell, load, 100.0) for load in range(3))) for cell in ("x", "y"))


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


def deviation(found, again):
    return found.spread("readww", "db_bench", again=again).deviation


def test_loads_of_one_cell_are_equal_arms():
    found = floors(apart(), [], [])
    assert deviation(found, again=False) == pytest.approx(DEVIATION)
    half = stats.t.ppf(0.975, 6) * DEVIATION * math.sqrt(2 / 3)
    assert found.floor(ARM, BASE, again=False) == pytest.approx(math.exp(half) - 1)
    assert found.floor(ARM, BASE, again=True) is None  # nothing was measured again


def test_what_differs_between_blocks_is_no_noise():
    found = floors(apart(blocks=(0.0, 0.05, -0.1)), [], [])
    assert deviation(found, again=False) == pytest.approx(DEVIATION)


def test_one_disturbed_cell_is_no_floor():
    wild = {**NOISE, "e": (0.0, 3.0, -3.0)}
    assert deviation(floors(apart(wild), [], []), again=False) == pytest.approx(DEVIATION, rel=0.05)


def test_older_results_of_a_stage_tell_how_equal_it_comes_out_again():
    """Four stages that were measured three times: the newest results are in the tables."""
    every = list(figures(blocks=(0.0, 0.05, -0.1)))
    own = [run(cell, 0, qps) for cell, age, qps in every if age == 0]
    older = [past(cell, 0, qps, age) for cell, age, qps in every if age > 0]
    found = floors(own, older[::-1], ["here"])
    spread = found.spread("readww", "db_bench", again=True)
    assert (spread.freedom, spread.groups) == (6, 4)
    assert spread.deviation == pytest.approx(DEVIATION)
    assert floors(own, older, ["elsewhere"]).spread("readww", "db_bench", again=True) is None


def test_results_of_two_other_plans_were_not_measured_together():
    """Each of its own session: none is compared with what another plan measured."""
    every = [past(cell, load, qps, plan=f"p-{cell}") for cell, load, qps in figures()]
    assert floors([], every, ["here"]).spread("readww", "db_bench", again=False) is None
    together = [past(cell, load, qps) for cell, load, qps in figures()]
    assert deviation(floors([], together, ["here"]), again=False) == pytest.approx(DEVIATION)


def test_a_load_measured_again_is_a_load():
    again = [past(cell, 0, qps, age, restored=False) for cell, age, qps in figures()]
    found = floors([], again, ["here"])
    assert found.spread("readww", "db_bench", again=True) is None
    assert deviation(found, again=False) == pytest.approx(DEVIATION)


def test_runs_of_one_load_started_from_its_database():
    own = [run(cell, 0, qps, index) for cell, index, qps in figures()]
    assert deviation(floors(own, [], []), again=True) == pytest.approx(DEVIATION)


def test_another_step_of_the_kind_stands_in():
    found = floors(apart(), [], [])
    assert found.spread("overwrite", "db_bench", again=False) == found.spread("readww", "db_bench", again=False)
    assert found.spread("overwrite", "sysbench", again=False) is None


def test_figures_are_rounded_so_that_no_floor_is_zero():
    equal = dict.fromkeys("abcd", (0.0, 0.01, -0.01))
    assert deviation(floors(apart(equal), [], []), again=False) == pytest.approx(0.0025 / math.sqrt(2))


def test_little_history_is_none():
    few = {cell: NOISE[cell] for cell in "abc"}
    assert floors(apart(few), [], []).floor(ARM, BASE, again=False) is None


def test_the_history_of_a_ratio_is_of_older_results_alone():
    """A ratio has the noise of two figures."""
    older = [past(cell, load, qps) for cell, load, qps in figures()]
    found = floors(apart({"x": (1.0, -1.0, 0.5), "y": (-1.0, 1.0, 0.0)}), older, ["here"])
    history = found.history(ARM, again=False)
    assert (history.variance, history.freedom) == (pytest.approx(2 * DEVIATION**2), 6)
    assert found.history(ARM, again=True) is None
    assert floors(apart(), [], ["here"]).history(ARM, again=False) is None
