"""Whether all stages have results, and when the last of them changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stepgrid.host.durable_writes import write_json
from stepgrid.store.status import result_times
from stepgrid.store.store import Store

LATE = 4_000_000_000.0  # a time that nothing made now has


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "outputs")


def result(store: Store, stage: str) -> Path:
    attempt = store.new_attempt(stage)
    (attempt / "steps").mkdir()
    write_json(attempt / "result.json", {"stage": stage, "status": "done"})
    published = store.publish_result(stage, attempt)
    store.set_mark(stage, published / "result.json")
    return published


def test_the_latest_of_all_counts(store: Store) -> None:
    first, second = result(store, "s-1"), result(store, "s-2")
    found = result_times.times(store, ["s-1", "s-2"])
    assert found is not None
    assert found.made < LATE
    inside = [(folder / "steps").stat().st_ctime for folder in (first, second)]
    assert found.touched >= max(inside)
    os.utime(first / "result.json", (LATE, LATE))
    assert (result_times.times(store, ["s-1", "s-2"]) or found).made == LATE
    assert (result_times.times(store, ["s-2"]) or found).made < LATE


def test_a_result_that_came_or_went_beside_it_counts(store: Store) -> None:
    folder = result(store, "s-1").parent
    os.utime(folder, (LATE, LATE))
    found = result_times.times(store, ["s-1"])
    assert found is not None
    assert found.made == LATE


def test_one_without_steps_is_looked_at_itself(store: Store) -> None:
    folder = result(store, "s-1")
    (folder / "steps").rmdir()
    found = result_times.times(store, ["s-1"])
    assert found is not None
    assert found.touched >= folder.stat().st_ctime


def test_what_lacks_a_mark_or_its_result_is_not_complete(store: Store) -> None:
    folder = result(store, "s-1")
    assert result_times.times(store, ["s-1", "s-2"]) is None
    folder.rename(folder.with_name("elsewhere"))
    assert result_times.times(store, ["s-1"]) is None
