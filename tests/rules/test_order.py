"""Stages are measured in the order that the spec asks for: a real sweep for each, by the times of its attempts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.integration
WRITTEN = [f"s-{build}-{load}{arm}" for build in "pq" for load in range(2) for arm in ("", "-a", "-b")]


def _intervals(results: Path) -> list[tuple[str, str, str]]:
    """(start, end, stage) of each result."""
    records = [json.loads(path.read_text()) for path in results.glob("*/*/result.json")]
    return sorted((record["started"], record["ended"], record["stage"]) for record in records)


def _blocks(stages: Sequence[str]) -> list[list[str]]:
    """Each in the order given: what comes after the same load number."""
    return [[stage for stage in stages if stage.split("-")[2] == load] for load in "01"]


@pytest.mark.parametrize("order", ["randomized", "interleaved", "as_written"])
def test_attempts_follow_the_order(checkout: Any, order: str) -> None:
    checkout.write_spec(order=order, seconds=0.02)
    ended = checkout.snakemake("--cores", "2")
    assert ended.returncode == 0, ended.stderr
    measured = _intervals(checkout.folder / "outputs" / "results")
    assert all(end <= start for (_, end, _), (start, _, _) in pairwise(measured)), "one at a time"
    stages = [stage for _, _, stage in measured]
    if order == "as_written":
        assert stages == WRITTEN
        return
    first, second = _blocks(stages)
    assert stages == [*first, *second], "a block is over before the next begins"
    assert [len(stage) for stage in stages] == [5, 5, 7, 7, 7, 7] * 2, "loads first"
    if order == "interleaved":
        assert stages == [
            *("s-p-0", "s-q-0", "s-p-0-a", "s-p-0-b", "s-q-0-a", "s-q-0-b"),
            *("s-p-1", "s-q-1", "s-p-1-a", "s-p-1-b", "s-q-1-a", "s-q-1-b"),
        ]
    else:
        assert {*first, *second} == {*WRITTEN}
        assert _blocks(WRITTEN) != [first, second], "shuffled"
