from __future__ import annotations

import pytest

from bench import budget
from bench.budget import DESIGNS, KINDS, Design, Row, row


def test_a_pilot_foretells_what_comes() -> None:
    found = row(KINDS["loads, runs, seconds"], Design(5, 2), Design(10, 3, 0.5), 12)
    assert found.near >= 0.8
    assert found.ratio == pytest.approx(1.0, abs=0.15)


def test_every_row_says_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "row", lambda *_: Row(0.98, 0.97))
    lines = list(budget.rows(1))
    assert lines[0] == "loads alone, 3 loads of 1 to 6 loads of 1: foretold / came 0.98, within a third 97.0%"
    assert len(lines) == len(KINDS) * len(DESIGNS)
