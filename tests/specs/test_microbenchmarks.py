"""The lists of sysbench as specs: what runs, in which order, on what."""

import pytest

from tests.specs.conftest import SPECS, shipped_plan

TODAY = ("workload=sysbench.micro38", "params.warm_time=2s")


def compiled(name, scale=None, sets=()):
    return shipped_plan(SPECS / f"{name}.yaml", scale, sets)


@pytest.mark.parametrize("scale", [None, "smoke"])
@pytest.mark.parametrize(("sets", "steps", "measured"), [((), 46, 42), (TODAY, 41, 33)])
def test_both_lists_on_four_servers(scale, sets, steps, measured):
    plan = compiled("microbenchmarks", scale, sets)
    assert [one.labels["server"] for one in plan.cells] == ["mysql", "mariadb", "myrocks", "postgres"]
    for cell in plan.cells:
        assert (len(cell.steps), sum(step.measured for step in cell.steps)) == (steps, measured)


@pytest.mark.parametrize("scale", [None, "smoke"])
@pytest.mark.parametrize("name", ["microbenchmarks", "microbenchmarks-versions"])
def test_nothing_to_warn_of(name, scale):
    assert compiled(name, scale).warnings == ()
