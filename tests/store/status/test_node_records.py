"""One look at the store: what cannot be read is not there, whatever its name promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.host.durable_writes import write_json
from stepgrid.store.status.node_records import results
from stepgrid.store.status.records import head
from stepgrid.store.store import Store

WHOLE = {"stage": "s-1", "status": "done", "started": "2024-01-01T00:00:00", "ended": "2024-01-01T00:01:00"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "outputs")


def publish(store: Store, steps: int = 50) -> Path:
    attempt = store.new_attempt("s-1")
    write_json(attempt / "result.json", {**WHOLE, "steps": [{"name": "readww", "index": n} for n in range(steps)]})
    return store.publish_result("s-1", attempt) / "result.json"


def test_the_newest_whole_result_is_the_one(store: Store) -> None:
    publish(store)
    newest = publish(store)
    assert results(store, ["s-1", "s-2"])["s-1"].seconds == 60
    newest.write_text("")
    assert list(results(store, ["s-1"])) == ["s-1"]  # of before


@pytest.mark.parametrize("kept", [0, 1, 30, 1500, -3])
def test_a_result_that_was_cut_off_is_none(store: Store, kept: int) -> None:
    path = publish(store)
    assert path.stat().st_size > 2000
    path.write_bytes(path.read_bytes()[:kept])
    assert results(store, ["s-1"]) == {}
    assert head(path) == {}


def test_one_without_a_status_is_none(store: Store) -> None:
    publish(store).write_text('{\n "status": "great"\n}\n')
    assert results(store, ["s-1"]) == {}
