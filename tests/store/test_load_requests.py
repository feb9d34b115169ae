from pathlib import Path

import pytest

from stepgrid.language.files import record_inputs
from stepgrid.store import stage_requests
from stepgrid.store.store import Store
from stepgrid.store.trash import NeededNames, list_entries, unreferenced_entries


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "outputs")


def test_nothing_was_asked_for(store: Store) -> None:
    assert (stage_requests.requested_loads(store, "s-1"), stage_requests.load_request_reason(store, "s-1")) == (0, "")


def test_the_most_that_was_asked_for_counts(store: Store) -> None:
    stage_requests.request_loads(store, "s-1", 5, "a: undecided after 4 loads")
    stage_requests.request_loads(store, "s-1", 4, "b: undecided after 3 loads")
    assert stage_requests.requested_loads(store, "s-1") == 5
    assert stage_requests.load_request_reason(store, "s-1") == "a: undecided after 4 loads"


def test_a_damaged_file_asks_for_nothing(store: Store) -> None:
    stage_requests.request_loads(store, "s-1", 5, "")
    store.load_request("s-1").write_text('{"loads": ')
    assert stage_requests.requested_loads(store, "s-1") == 0


def test_a_plan_that_was_compiled_before_knows_that_it_looked(store: Store) -> None:
    with record_inputs() as before:
        stage_requests.requested_loads(store, "s-1")
        stage_requests.has_result(store, "s-2")
    assert before.files == {str(store.load_request("s-1")): None, str(store.mark("s-2")): None}
    stage_requests.request_loads(store, "s-1", 5, "")
    with record_inputs() as after:
        stage_requests.requested_loads(store, "s-1")
    assert after.files[str(store.load_request("s-1"))] is not None


def test_gc_lists_what_no_spec_has(store: Store) -> None:
    for stage in ("s-1", "s-2"):
        stage_requests.request_loads(store, stage, 5, "")
    found = unreferenced_entries(list_entries(store), NeededNames((), (), ("s-1",)))
    assert [(entry.kind, entry.name) for entry in found] == [("loads", "s-2")]
