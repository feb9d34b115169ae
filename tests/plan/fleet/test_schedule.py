from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from stepgrid.plan.estimate import Group, Job, Schedule, schedule


def tree(loads: int, rows: int, load: float, row: float) -> tuple[list[Job], list[Group]]:
    """Each row of a load begins from it."""
    jobs = [Job(f"load{at}", f"load {at}", load, None, False, at * (rows + 1)) for at in range(loads)]
    jobs += [
        Job(f"{at}-{each}", f"row {each}", row, f"load{at}", False, at * (rows + 1) + each + 1)
        for at in range(loads)
        for each in range(rows)
    ]
    groups = [Group(f"{at}-{each}", (f"load{at}", f"{at}-{each}")) for at in range(loads) for each in range(rows)]
    return jobs, groups


def where(found: Schedule) -> list[list[str]]:
    return [[each.job.id for each in found.placed if each.machine == at] for at in range(found.machines)]


def test_a_load_stays_with_what_begins_from_it_where_that_is_faster() -> None:
    found = schedule(*tree(2, 3, load=100, row=10), 2)
    assert sorted(where(found)) == [["load0", "0-0", "0-1", "0-2"], ["load1", "1-0", "1-1", "1-2"]]
    assert (found.seconds, found.bound, found.again) == (130, 130, [])


def test_a_load_is_made_again_where_that_is_faster() -> None:
    found = schedule(*tree(1, 4, load=10, row=100), 2)
    assert sorted(map(len, where(found))) == [3, 3]
    assert (found.seconds, [each.job.id for each in found.again]) == (210, ["load0"])
    assert found.bound == 210


def test_builds_come_first_and_are_shared() -> None:
    builds = [Job("b-1", "b-1", 30, is_build=True), Job("b-2", "b-2", 20, is_build=True)]
    jobs, groups = tree(2, 1, load=5, row=5)
    found = schedule([*builds, *jobs], groups, 2)
    assert found.seconds == 40
    assert min(each.start for each in found.placed if not each.job.is_build) == 30


def test_nothing_to_do() -> None:
    assert schedule([], [], 3) == Schedule(3, (), 0.0)


@given(
    st.lists(st.lists(st.integers(1, 50), min_size=1, max_size=4), min_size=1, max_size=6),
    st.integers(0, 60),
    st.integers(1, 9),
)
def test_every_group_is_whole_on_one_machine_and_no_machine_does_two_things(
    rows: list[list[int]], load: int, machines: int
) -> None:
    jobs, groups, rank = [], [], 0
    for at, own in enumerate(rows):
        jobs.append(Job(f"l{at}", "", load, None, False, rank))
        for each, seconds in enumerate(own):
            rank += 1
            jobs.append(Job(f"{at}-{each}", "", seconds, f"l{at}", False, rank))
            groups.append(Group("", (f"l{at}", f"{at}-{each}")))
        rank += 1
    found = schedule(jobs, groups, machines)
    there = where(found)
    assert all(any({*group.jobs} <= {*each} for each in there) for group in groups)
    for at in range(machines):
        line = sorted((each for each in found.placed if each.machine == at), key=lambda each: each.start)
        assert all(one.end <= other.start + 1e-9 for one, other in pairwise(line))
        done = {each.job.id: each.end for each in line}
        assert all(done[each.job.parent] <= each.start + 1e-9 for each in line if each.job.parent)
    assert {each.job.id for each in found.placed if not each.again} == {job.id for job in jobs}
    assert found.bound <= found.seconds + 1e-9
    assert found.seconds <= schedule(jobs, groups, 1).seconds + 1e-9
