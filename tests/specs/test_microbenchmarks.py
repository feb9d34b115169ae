"""The lists of sysbench as specs: what runs, in which order, on what."""

from __future__ import annotations

import pytest

from stepgrid.model.plan import Plan
from tests.specs.conftest import SPECS, shipped_plan

TODAY = ("workload=sysbench.micro38", "params.warm_time=2s")


def compiled(name: str, scale: str | None = None, sets: tuple[str, ...] = ()) -> Plan:
    return shipped_plan(SPECS / f"{name}.yaml", scale, sets)


@pytest.mark.parametrize("scale", [None, "smoke"])
@pytest.mark.parametrize(("sets", "steps", "measured"), [((), 46, 42), (TODAY, 41, 33)])
def test_both_lists_on_four_servers(scale: str | None, sets: tuple[str, ...], steps: int, measured: int) -> None:
    plan = compiled("microbenchmarks", scale, sets)
    assert [one.labels["server"] for one in plan.cells] == ["mysql", "mariadb", "myrocks", "postgres"]
    for cell in plan.cells:
        assert (len(cell.steps), sum(step.measured for step in cell.steps)) == (steps, measured)


def test_twelve_microbenchmarks_on_nine_old_and_new_servers() -> None:
    plan = compiled("microbenchmarks-versions")
    assert len(plan.cells) == 9
    for cell in plan.cells:
        names = {step.name.removesuffix(".pre") for step in cell.steps if step.measured}
        assert len(names) == 12
    assert sorted(build.name for build in plan.builds) == [
        "ma1011", "ma105", "my5722", "my9", "pg12", "pg15", "pg18", "sysbench",
    ]  # fmt: skip


@pytest.mark.parametrize("scale", [None, "smoke"])
@pytest.mark.parametrize("name", ["microbenchmarks", "microbenchmarks-versions"])
def test_nothing_to_warn_of(name: str, scale: str | None) -> None:
    assert compiled(name, scale).warnings == ()
