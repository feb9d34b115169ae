"""Loads until it is sure, in a plan: the same stages as with a fixed number, as many as the store asks for or has."""

from __future__ import annotations

from typing import Any

import pytest

from stepgrid.model.plan import AdaptiveRepeat, Plan, load_counts
from stepgrid.plan import plan_file
from stepgrid.plan.assembly import Context, compile_spec
from stepgrid.plan.order import NO_RECORDS, LoadCounts, LoadRecords
from tests.conftest import HOST
from tests.language.bad import BASE, SWEEP


def planned(compile_text: Any, repeat: str, store: LoadRecords = NO_RECORDS) -> Plan:
    found = compile_text(BASE + SWEEP + f"repeat: {repeat}\n")
    assert isinstance(found, Plan)
    return found if store is NO_RECORDS else compile_spec("a.yaml", None, HOST, context=Context(loads=store))


def lasts(plan: Plan, load: int = 0) -> list[str]:
    """The last stage of a load, of each cell."""
    return [repeat.stages[-1] for cell in plan.cells for repeat in cell.repeats if repeat.load == load]


def test_the_stages_are_those_of_a_fixed_number(compile_text: Any) -> None:
    fixed, found = planned(compile_text, "3"), planned(compile_text, "{until: decided}")
    assert found.stages == fixed.stages
    assert found.cells == fixed.cells
    assert (found.until, fixed.until) == (AdaptiveRepeat(3, 12), None)


def test_only_the_cells_that_were_asked_for_get_more(compile_text: Any) -> None:
    first = lasts(planned(compile_text, "3"))[0]
    asked = LoadRecords(lambda node: 5 if node == first else 0, lambda node: False)
    found = planned(compile_text, "{until: decided}", asked)
    assert [len(cell.repeats) for cell in found.cells] == [5, 3, 3, 3]
    assert load_counts(found) == (3, 5)
    assert {stage.id for stage in found.stages} < {stage.id for stage in planned(compile_text, "5").stages}


def test_what_is_measured_already_counts_even_beyond_the_most(compile_text: Any) -> None:
    measured = {*lasts(planned(compile_text, "6"), 3)}  # the fourth load of all
    found = planned(compile_text, "{until: 2%, most: 3}", LoadRecords(lambda node: 0, measured.__contains__))
    assert load_counts(found) == (3, 3)  # nothing can be added: a fixed number
    found = planned(compile_text, "{until: 2%, least: 2, most: 3}", LoadRecords(lambda node: 3, measured.__contains__))
    assert load_counts(found) == (4, 4)


def test_no_request_exceeds_the_most(compile_text: Any) -> None:
    found = planned(compile_text, "{until: decided, most: 7}", LoadRecords(lambda node: 40, lambda node: False))
    assert load_counts(found) == (7, 7)


def test_a_fixed_number_asks_nobody() -> None:
    def asked(node: str) -> int:
        raise AssertionError(node)

    assert LoadCounts(4, 4, LoadRecords(asked, lambda node: False)).of(str) == 4


@pytest.mark.parametrize("repeat", ["3", "{until: decided}", "{until: 2%, least: 2, most: 9, within: 8h}"])
def test_a_plan_is_read_back_as_it_was(compile_text: Any, tmp_path: Any, repeat: str) -> None:
    plan = planned(compile_text, repeat)
    for name, lines in plan_file.texts(plan):
        (tmp_path / name).write_text("".join(lines), encoding="utf-8")
    assert plan_file.read(tmp_path).until == plan.until
    assert ('"until"' in (tmp_path / "plan.json").read_text()) is (plan.until is not None)


def test_a_claim_may_add_fresh_loads_to_a_fixed_number(compile_text: Any) -> None:
    """Only where they were asked for: what is measured already is not taken for them."""
    claim = "claims: [{claim: c, expect: \"qps(cache='hyper') > qps(cache='lru')\", confirm: 2}]"
    none = LoadRecords(lambda node: 0, lambda node: True)
    assert load_counts(planned(compile_text, f"3\n{claim}", none)) == (3, 3)
    asked = LoadRecords(lambda node: 9, lambda node: False)
    found = planned(compile_text, f"3\n{claim}", asked)
    assert (load_counts(found), found.adds_loads) == ((5, 5), True)
    assert found.report.claims[0]["confirm"] == {"first": 3, "fresh": 2}
    assert not planned(compile_text, "3").adds_loads
