from __future__ import annotations

import pytest

from stepgrid.model.units import counted


@pytest.mark.parametrize(
    ("number", "noun", "said"),
    [
        (0, "stage", "0 stages"),
        (1, "stage", "1 stage"),
        (10_000, "cell", "10,000 cells"),
        (1, "image or build", "1 image or build"),
        (2, "image or build", "2 images or builds"),
    ],
)
def test_so_many(number: int, noun: str, said: str) -> None:
    assert counted(number, noun) == said
