import math

import pytest
from made import past, point, run
from scipy import stats

from compiler.summarize.floor import floors

ARM, BASE = (point(*(run(cell, load, 100.0) for load in range(3))) for cell in ("x", "y"))


def apart(cells, each):
    """Cells with loads of 100 and so much more."""
    return [run(cell, load, 100.0 * math.exp(add)) for cell in cells for load, add in enumerate(each)]


def test_loads_of_one_cell_are_equal_arms():
    found = floors(apart("abc", (0.0, 0.01, -0.01)), [], [])
    deviation = math.sqrt(0.0001 * 2 / stats.chi2.median(2))
    assert found.spread("readww", "db_bench", again=False).deviation == pytest.approx(deviation)
    half = stats.t.ppf(0.975, 6) * deviation * math.sqrt(2 / 3)
    assert found.floor(ARM, BASE, again=False) == pytest.approx(math.exp(half) - 1)
    assert found.floor(ARM, BASE, again=True) is None  # nothing was measured again


def test_one_disturbed_cell_is_no_floor():
    quiet = floors(apart("abcd", (0.0, 0.01, -0.01)), [], []).spread("readww", "db_bench", again=False)
    wild = [*apart("abcd", (0.0, 0.01, -0.01)), *apart("e", (0.0, 3.0, -3.0))]
    assert floors(wild, [], []).spread("readww", "db_bench", again=False).deviation == pytest.approx(quiet.deviation)


def test_older_results_of_a_stage_tell_how_equal_it_comes_out_again():
    own = apart("abc", (0.0,))
    again = [past(cell, 0, qps) for cell in "abc" for qps in (101.0, 99.0)]
    found = floors(own, again, ["here"]).spread("readww", "db_bench", again=True)
    assert (found.freedom, found.groups) == (6, 3)
    assert floors(own, again, ["elsewhere"]).spread("readww", "db_bench", again=True) is None


def test_a_load_measured_again_is_a_load():
    again = [past(cell, 0, qps, restored=False) for cell in "abc" for qps in (101.0, 99.0, 100.0)]
    found = floors([], again, ["here"])
    assert found.spread("readww", "db_bench", again=True) is None
    assert found.spread("readww", "db_bench", again=False).groups == 3


def test_runs_of_one_load_started_from_its_database():
    own = [run(cell, 0, qps, index) for cell in "abc" for index, qps in enumerate((100.0, 101.0, 99.0))]
    assert floors(own, [], []).spread("readww", "db_bench", again=True).freedom == 6


def test_another_step_of_the_kind_stands_in():
    found = floors(apart("abc", (0.0, 0.01, -0.01)), [], [])
    assert found.spread("overwrite", "db_bench", again=False) == found.spread("readww", "db_bench", again=False)
    assert found.spread("overwrite", "sysbench", again=False) is None


def test_little_history_is_none():
    assert floors(apart("ab", (0.0, 0.01, -0.01)), [], []).floor(ARM, BASE, again=False) is None
