"""Which records of steps can be read."""

from __future__ import annotations

from typing import Any

import pytest

from stepgrid.store.status.results import is_sound


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"seconds": None, "probes": None, "counters": None},
        {"seconds": 2.5, "warnings": ["slow"], "probes": {"min_trx": 0.1}, "counters": {"min_trx": {"reads": 3}}},
    ],
)
def test_what_a_run_writes(record: dict[str, Any]) -> None:
    assert is_sound(record)


@pytest.mark.parametrize(
    "record",
    [
        *(None, 3, []),
        *({"seconds": value} for value in ("2", [2], True)),
        *({"warnings": value} for value in (None, "slow", [3])),
        *({"probes": value} for value in (["min_trx"], {"min_trx": None}, {"min_trx": "x"})),
        *({"counters": value} for value in (["reads"], {"min_trx": 3}, {"min_trx": {"reads": []}})),
    ],
)
def test_what_none_writes(record: object) -> None:
    assert not is_sound(record)
