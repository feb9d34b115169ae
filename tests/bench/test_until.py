"""Loads until it is sure, simulated: clear differences cost the least, and looks do not raise the errors."""

import pytest

from bench import until
from bench.until import Sweep, row
from stepgrid.model.plan import LOOK_LEVELS


def test_a_clear_difference_takes_the_fewest_loads():
    found = row(Sweep("normal", 0.01, 20, 1), 80)
    assert (found.loads, found.runs, found.found) == (3.0, 0.25, 1.0)


def test_at_the_edge_few_tables_are_called_different():
    """Fewer than 5 in 100 in the long run: 160 tables have at most 12, but once in ten thousand."""
    assert row(Sweep("normal", 0.01, 2, 1), 160).different <= 12 / 160


def test_levels_are_those_that_are_simulated(monkeypatch):
    monkeypatch.setattr(until, "SIMULATED", 100_000)
    found = [float(line.rpartition(" ")[2]) for line in until.levels()]
    assert found == pytest.approx(list(LOOK_LEVELS), rel=0.07)
