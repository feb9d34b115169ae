"""Reports made up as logarithms are as noisy as they say, and judged as reports are."""

from __future__ import annotations

import numpy as np
import pytest

from bench import verdicts_rows
from bench.verdicts_rows import ALONE, KINDS, SIZES, STEPS, Row, row

NORMAL = (
    "normal",
    "steps share half of it",
    "steps share 9 tenths",
    "drift",
    "autocorrelation 0.6",
)


@pytest.mark.parametrize("kind", NORMAL)
def test_the_noise_of_a_figure_is_one(kind: str) -> None:
    chance = np.random.default_rng(1)
    every = [KINDS[kind](chance, 2, 5) for _ in range(300)]
    assert np.std(every) == pytest.approx(1.0, rel=0.1)


def test_of_the_mean_of_three_runs_half_is_theirs() -> None:
    chance = np.random.default_rng(1)
    every = np.array([KINDS["runs, some missing"](chance, 2, 5) for _ in range(300)])
    whole = every[~np.isnan(every).any(axis=-1)]
    assert np.isnan(every).mean() == pytest.approx(0.2, abs=0.01)
    assert whole.mean(axis=1).std() == pytest.approx(1.0, rel=0.05)
    assert whole.var(axis=1, ddof=1).mean() / 3 == pytest.approx(0.5, rel=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_has_eight_steps(kind: str) -> None:
    assert KINDS[kind](np.random.default_rng(1), 4, 3).shape[:3] == (STEPS, 5, 3)


def test_a_row_of_a_clear_difference() -> None:
    """At ten loads 5 % stands out of 1 % of noise, always."""
    found = row("normal", 10, 1, 80)
    assert (found.different, found.found) == (0.0, 1.0)
    assert found.covered > 0.8
    assert found.same > 0.8


def test_steps_help_each_other() -> None:
    assert row("normal", 3, 1, 160).found > row("one step", 3, 1, 160).found + 0.1


def test_a_row_of_missing_loads_counts_comparisons_without_an_interval() -> None:
    found = row("one load in six missing", 2, 1, 80)
    assert found.found < 0.5
    assert found.covered > 0.9


def test_every_kind_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts_rows, "row", lambda *_: Row(0.0, 0.01, 0.95, 0.5, 0.8))
    lines = list(verdicts_rows.rows(8))
    assert len(lines) >= len({*KINDS, *ALONE}) * len(SIZES)
    assert lines[0] == (
        "normal                    3 loads,  1 arms: different 0.0%, 2 % apart 1.0%, covered 95.0%, same 50.0%, "
        "5 % found 80.0%"
    )
