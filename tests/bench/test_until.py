"""Loads until it is sure, simulated: clear differences cost the least, and looks do not raise the errors."""

import pytest

from bench import until
from bench.until import Row, Sweep, row
from stepgrid.model.plan import LOOK_LEVELS


def test_a_clear_difference_takes_the_fewest_loads() -> None:
    found = row(Sweep("normal", 0.01, 20, 1), 80)
    assert (found.loads, found.runs, found.found) == (3.0, 0.25, 1.0)


def test_a_fixed_number_takes_all_of_them() -> None:
    found = row(Sweep("normal", 0.01, 0, 1, fixed=True), 80)
    assert (found.loads, found.runs) == (12.0, 1.0)
    assert found.same > 0.9


def test_at_the_edge_few_tables_are_called_different() -> None:
    """Fewer than 5 in 100 in the long run: 160 tables have at most 12, but once in ten thousand."""
    assert row(Sweep("normal", 0.01, 2, 1), 160).different <= 12 / 160


def test_levels_are_those_that_are_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(until, "SIMULATED", 100_000)
    found = [float(line.rpartition(" ")[2]) for line in until.levels()]
    assert found == pytest.approx(list(LOOK_LEVELS), rel=0.07)


def test_every_row_says_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(until, "row", lambda *_: Row(4.0, 0.4, 0.01, 0.02, 0.9, 0.0, 0.1))
    lines = list(until.rows(8))
    assert lines[0] == (
        "normal, 1%, +0 %, 1 arms                             4.0 loads, of the runs 40.0%, tables different 1.0%, "
        "tables not covered 2.0%, same 90.0%, different 0.0%, undecided 10.0%"
    )
    assert lines[-1].startswith("normal, 3%, +0 %, 4 arms, until 2% ")
