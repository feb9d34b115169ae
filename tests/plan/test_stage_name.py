"""What the steps of a stage are called."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from stepgrid.model.plan import called


@pytest.mark.parametrize(
    ("steps", "name"),
    [
        (["load", "settle"], "load, settle"),
        ([f"s{number}" for number in range(12)], "s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11"),
        ([f"s{number}" for number in range(43)], "s0, s1, s2, … s42 (43 steps)"),
    ],
)
def test_of_many_steps_the_first_and_the_last(steps: Sequence[str], name: str) -> None:
    assert called(steps) == name
