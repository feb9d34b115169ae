"""What a stage is called."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from compiler.plan.stages import title


@pytest.mark.parametrize(
    ("steps", "named"),
    [
        (["load", "settle"], "load, settle"),
        ([f"s{number}" for number in range(12)], "s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11"),
        ([f"s{number}" for number in range(43)], "s0, s1, s2, … s42 (43 steps)"),
    ],
)
def test_of_many_steps_the_first_and_the_last(steps: Sequence[str], named: str) -> None:
    draft = SimpleNamespace(
        labels={"build": "my5722", "server": "one"}, load=0, run=0, steps=[SimpleNamespace(name=name) for name in steps]
    )
    assert title(draft, ["server"]) == f"my5722 server=one, load 1: {named}"  # type: ignore[arg-type]
