"""Ranks of stages, and how many loads a cell has."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.model.plan import AdaptiveRepeat, ConfirmingLoads, load_counts
from stepgrid.plan.assembly import CompileContext, compile_spec
from stepgrid.plan.order import NO_RECORDS, ORDERS, LoadRecords, ranks
from tests.conftest import HOST
from tests.language.bases import BASE, SWEEP


@dataclass(frozen=True, slots=True)
class Node:
    id: str
    parent: str | None
    load: int
    run: int


def sweep(arms, loads, depth=2):
    """As a compiler lists them: arm after arm, each with its loads, each load with the stages that follow it."""
    return [
        Node(f"s-{arm}-{load}-{level}", f"s-{arm}-{load}-{level - 1}" if level else None, load, 0)
        for arm in range(arms)
        for load in range(loads)
        for level in range(depth)
    ]


def in_order(nodes, order, seed=1):
    rank = ranks(nodes, order, seed)
    return sorted(nodes, key=lambda node: rank[node.id])


sweeps = st.builds(sweep, st.integers(1, 6), st.integers(1, 4), st.integers(1, 4))


@given(sweeps, st.sampled_from(ORDERS), st.integers())
def test_ranks_count_from_zero_and_parents_come_first(nodes, order, seed):
    rank = ranks(nodes, order, seed)
    assert sorted(rank.values()) == list(range(len(nodes)))
    assert all(rank[node.parent] < rank[node.id] for node in nodes if node.parent)


@given(st.data(), sweeps, st.integers())
def test_a_shuffle_depends_on_the_seed_alone(data, nodes, seed):
    shuffled = data.draw(st.permutations(nodes))
    assert ranks(nodes, "randomized", seed) == ranks(shuffled, "randomized", seed)


@given(sweeps, st.sampled_from(["randomized", "interleaved"]), st.integers())
def test_a_block_is_over_before_the_next_begins(nodes, order, seed):
    loads = [node.load for node in in_order(nodes, order, seed)]
    assert loads == sorted(loads)


@given(sweeps, st.integers())
def test_in_a_block_loads_come_first(nodes, seed):
    ordered = in_order(nodes, "randomized", seed)
    assert [(n.load, n.parent is not None) for n in ordered] == sorted((n.load, n.parent is not None) for n in ordered)


def test_blocks_and_seeds_differ_in_their_shuffles():
    def arms(seed, load):
        return [n.id.split("-")[1] for n in in_order(sweep(8, 3), "randomized", seed) if n.parent and n.load == load]

    assert len({tuple(arms(seed, load)) for seed in (1, 2) for load in (0, 1, 2)}) == 6


def test_every_arm_is_first_about_equally_often():
    firsts = [in_order(sweep(3, 1, depth=1), "randomized", seed)[0].id for seed in range(600)]
    assert all(150 <= firsts.count(arm) <= 250 for arm in set(firsts))
    assert len(set(firsts)) == 3


def test_a_stage_that_is_added_does_not_move_the_others():
    few, more = sweep(4, 2), sweep(5, 2)
    kept = [node.id for node in in_order(more, "randomized") if node in few]
    assert kept == [node.id for node in in_order(few, "randomized")]


def test_as_written_still_puts_a_parent_first():
    nodes = sweep(1, 1)[::-1]
    assert [node.id for node in in_order(nodes, "as_written")] == ["s-0-0-0", "s-0-0-1"]


def test_an_unknown_order_is_named():
    with pytest.raises(ValueError, match=r"^order: expected one of randomized, interleaved, as_written, not 'random'$"):
        ranks([Node("s-1", None, 0, 0)], "random", 1)


# Loads: as many as the store asks for or has


def planned(compile_text, repeat, records=NO_RECORDS):
    plan = compile_text(BASE + SWEEP + f"repeat: {repeat}\n")
    return plan if records is NO_RECORDS else compile_spec("a.yaml", None, HOST, context=CompileContext(loads=records))


def lasts(plan, load=0):
    """The last stage of a load, of each cell."""
    return [repeat.stages[-1] for cell in plan.cells for repeat in cell.repeats if repeat.load == load]


def test_the_stages_are_those_of_a_fixed_number(compile_text):
    fixed, found = planned(compile_text, "3"), planned(compile_text, "{until: decided}")
    assert found.stages == fixed.stages
    assert found.cells == fixed.cells
    assert (found.until, fixed.until) == (AdaptiveRepeat(3, 12), None)


def test_only_the_cells_that_were_asked_for_get_more(compile_text):
    first = lasts(planned(compile_text, "3"))[0]
    asked = LoadRecords(lambda node: 5 if node == first else 0, lambda node: False)
    found = planned(compile_text, "{until: decided}", asked)
    assert [len(cell.repeats) for cell in found.cells] == [5, 3, 3, 3]
    assert load_counts(found) == (3, 5)
    assert {stage.id for stage in found.stages} < {stage.id for stage in planned(compile_text, "5").stages}


def test_what_is_measured_already_counts_even_beyond_the_most(compile_text):
    measured = {*lasts(planned(compile_text, "6"), 3)}  # the fourth load of all
    found = planned(compile_text, "{until: 2%, most: 3}", LoadRecords(lambda node: 0, measured.__contains__))
    assert load_counts(found) == (3, 3)  # nothing can be added: a fixed number
    found = planned(compile_text, "{until: 2%, least: 2, most: 3}", LoadRecords(lambda node: 3, measured.__contains__))
    assert load_counts(found) == (4, 4)


def test_no_request_exceeds_the_most(compile_text):
    found = planned(compile_text, "{until: decided, most: 7}", LoadRecords(lambda node: 40, lambda node: False))
    assert load_counts(found) == (7, 7)


def test_a_claim_may_add_fresh_loads_to_a_fixed_number(compile_text):
    """Only where they were asked for: what is measured already is not taken for them."""
    claim = "claims: [{claim: c, expect: \"qps(cache='hyper') > qps(cache='lru')\", confirm: 2}]"
    none = LoadRecords(lambda node: 0, lambda node: True)
    assert load_counts(planned(compile_text, f"3\n{claim}", none)) == (3, 3)
    asked = LoadRecords(lambda node: 9, lambda node: False)
    found = planned(compile_text, f"3\n{claim}", asked)
    assert (load_counts(found), found.adds_loads) == ((5, 5), True)
    assert found.report.claims[0].confirm == ConfirmingLoads(first=3, fresh=2)
    assert not planned(compile_text, "3").adds_loads
