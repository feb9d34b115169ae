"""Ids under which results of before lie, and the contents that they count for."""

from __future__ import annotations

from dataclasses import replace

from stepgrid.language.files import record_inputs
from stepgrid.model.plan import FILES, INPUTS, NAMED, PlannedStage, PlannedStep
from stepgrid.store import plans
from stepgrid.store.store import Store


def measured(store: Store, stage: str) -> None:
    folder = store.results_of(stage) / "20260101T000000.000000Z"
    folder.mkdir(parents=True)
    (folder / "result.json").write_text("{}")


def stands_for(store: Store, stage: str, checksums: dict[str, str]) -> bool:
    return plans.StoredIds(store).choose("s-today", [stage], checksums) == stage


def reading(stage: str, checksum: str | None) -> PlannedStage:
    setup = {FILES: {"x": checksum}, INPUTS: {"x": "x"}} if checksum else {}
    step = PlannedStep("put", "command", 1, {}, {}, 7, setup=setup)  # type: ignore[arg-type]
    return PlannedStage(stage, "t", "b-1", None, (), 0, 0, "h", (step,), 1.0, 0)


def test_without_results_there_is_nothing_to_count(store: Store) -> None:
    assert not stands_for(store, "s-1", {"0/x": "1"})


def test_until_a_run_they_count_for_whatever_is_there(store: Store) -> None:
    measured(store, "s-1")
    assert stands_for(store, "s-1", {"0/x": "1"})
    assert stands_for(store, "s-1", {"0/x": "2"})


def test_the_first_run_decides(store: Store) -> None:
    measured(store, "s-1")
    plans.note_contents(store, [reading("s-1", "1")])
    plans.note_contents(store, [reading("s-1", "2")])
    assert stands_for(store, "s-1", {"0/x": "1"})
    assert not stands_for(store, "s-1", {"0/x": "2"})


def test_what_a_later_version_looks_at_is_noted_when_it_is_first_seen(store: Store) -> None:
    measured(store, "s-1")
    plans.note_contents(store, [reading("s-1", "1")])
    assert stands_for(store, "s-1", {"0/x": "1", "0/sh": "2"})
    assert not stands_for(store, "s-1", {"0/sh": "2"})  # what was there is gone
    later = PlannedStep(
        "put", "command", 1, {}, {}, 7, setup={FILES: {"x": "1", "sh": "2"}, NAMED: {"x": "x", "sh": "sh"}}
    )
    plans.note_contents(store, [replace(reading("s-1", "1"), steps=(later,))])
    assert stands_for(store, "s-1", {"0/x": "1", "0/sh": "2"})
    assert not stands_for(store, "s-1", {"0/x": "1", "0/sh": "3"})


def test_a_lost_result_keeps_its_id(store: Store) -> None:
    """Else all that comes after it would have another one as well."""
    measured(store, "s-1")
    plans.note_contents(store, [reading("s-1", "1")])
    for path in (store.results_of("s-1") / "20260101T000000.000000Z").iterdir():
        path.unlink()
    assert stands_for(store, "s-1", {"0/x": "1"})


def test_nothing_is_noted_of_other_stages(store: Store) -> None:
    measured(store, "s-1")
    plans.note_contents(store, [reading("s-1", None), reading("s-2", "1")])
    assert not (store.root / "contents").exists()


def test_a_plan_knows_that_it_looked(store: Store) -> None:
    with record_inputs() as seen:
        stands_for(store, "s-1", {"0/x": "1"})
    assert seen.files == {str(store.earlier_id("s-today")): None, str(store.contents("s-1")): None}


def test_an_earlier_id_that_was_found_once_stays(store: Store) -> None:
    """A metric that is changed later gives other earlier ids, under which nothing lies."""
    measured(store, "s-1")
    assert plans.StoredIds(store).choose("s-today", ["s-1"], {}) == "s-1"
    plans.note_contents(store, [replace(reading("s-1", None), todays="s-today")])
    assert plans.StoredIds(store).choose("s-today", ["s-2"], {}) == "s-1"
    for path in (store.results_of("s-1") / "20260101T000000.000000Z").iterdir():
        path.unlink()
    assert plans.StoredIds(store).choose("s-today", ["s-2"], {}) == "s-1"
