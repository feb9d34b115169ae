"""Reports made up as logarithms are as noisy as they say, and judged as reports are."""

import numpy as np
import pytest

from bench import verdicts_rows
from bench.verdicts_rows import ALONE, KINDS, SIZES, STEPS, Row

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


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_has_eight_steps(kind: str) -> None:
    assert KINDS[kind](np.random.default_rng(1), 4, 3).shape[:3] == (STEPS, 5, 3)


def test_every_kind_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts_rows, "row", lambda *_: Row(0.0, 0.01, 0.95, 0.5, 0.8))
    lines = list(verdicts_rows.rows(8))
    assert len(lines) >= len({*KINDS, *ALONE}) * len(SIZES)
    assert lines[0] == (
        "normal                    3 loads,  1 arms: different 0.0%, 2 % apart 1.0%, covered 95.0%, same 50.0%, "
        "5 % found 80.0%"
    )
