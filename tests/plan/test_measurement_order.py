from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.plan.order import ORDERS, Order, ranks


@dataclass(frozen=True, slots=True)
class Node:
    id: str
    parent: str | None
    load: int
    run: int


def sweep(arms: int, loads: int, depth: int = 2) -> list[Node]:
    """As a compiler lists them: arm after arm, each with its loads, each load with the stages that follow it."""
    nodes = []
    for arm in range(arms):
        for load in range(loads):
            for level in range(depth):
                parent = f"s-{arm}-{load}-{level - 1}" if level else None
                nodes.append(Node(f"s-{arm}-{load}-{level}", parent, load, 0))
    return nodes


def in_order(nodes: list[Node], order: Order, seed: int = 1) -> list[Node]:
    rank = ranks(nodes, order, seed)
    return sorted(nodes, key=lambda node: rank[node.id])


sweeps = st.builds(sweep, st.integers(1, 6), st.integers(1, 4), st.integers(1, 4))


@given(sweeps, st.sampled_from(ORDERS), st.integers())
def test_ranks_count_from_zero_and_parents_come_first(nodes: list[Node], order: Order, seed: int) -> None:
    rank = ranks(nodes, order, seed)
    assert sorted(rank.values()) == list(range(len(nodes)))
    assert all(rank[node.parent] < rank[node.id] for node in nodes if node.parent)


@given(st.data(), sweeps, st.integers())
def test_a_shuffle_depends_on_the_seed_alone(data: st.DataObject, nodes: list[Node], seed: int) -> None:
    shuffled = data.draw(st.permutations(nodes))
    assert ranks(nodes, "randomized", seed) == ranks(shuffled, "randomized", seed)


@given(sweeps, st.sampled_from(["randomized", "interleaved"]), st.integers())
def test_a_block_is_over_before_the_next_begins(nodes: list[Node], order: Order, seed: int) -> None:
    loads = [node.load for node in in_order(nodes, order, seed)]
    assert loads == sorted(loads)


@given(sweeps, st.integers())
def test_in_a_block_loads_come_first(nodes: list[Node], seed: int) -> None:
    ordered = in_order(nodes, "randomized", seed)
    assert [(n.load, n.parent is not None) for n in ordered] == sorted((n.load, n.parent is not None) for n in ordered)


def test_blocks_and_seeds_differ_in_their_shuffles() -> None:
    def arms(seed: int, load: int) -> list[str]:
        return [n.id.split("-")[1] for n in in_order(sweep(8, 3), "randomized", seed) if n.parent and n.load == load]

    assert len({tuple(arms(seed, load)) for seed in (1, 2) for load in (0, 1, 2)}) == 6


def test_every_arm_is_first_about_equally_often() -> None:
    firsts = [in_order(sweep(3, 1, depth=1), "randomized", seed)[0].id for seed in range(600)]
    assert all(150 <= firsts.count(arm) <= 250 for arm in set(firsts))
    assert len(set(firsts)) == 3


def test_a_stage_that_is_added_does_not_move_the_others() -> None:
    few, more = sweep(4, 2), sweep(5, 2)
    kept = [node.id for node in in_order(more, "randomized") if node in few]
    assert kept == [node.id for node in in_order(few, "randomized")]


def test_interleaved_keeps_the_written_order_within_a_block() -> None:
    assert [node.id for node in in_order(sweep(2, 2), "interleaved")] == [
        "s-0-0-0", "s-1-0-0", "s-0-0-1", "s-1-0-1",
        "s-0-1-0", "s-1-1-0", "s-0-1-1", "s-1-1-1",
    ]  # fmt: skip


def test_as_written_is_the_order_given() -> None:
    nodes = sweep(2, 2)
    assert in_order(nodes, "as_written") == nodes


def test_as_written_still_puts_a_parent_first() -> None:
    nodes = sweep(1, 1)[::-1]
    assert [node.id for node in in_order(nodes, "as_written")] == ["s-0-0-0", "s-0-0-1"]


def test_runs_of_one_load_are_blocks_of_their_own() -> None:
    root = Node("root", None, 0, 0)
    nodes = [root, *(Node(f"{arm}{run}", "root", 0, run) for arm in "abc" for run in (0, 1))]
    assert [node.run for node in in_order(nodes, "randomized")] == [0, 0, 0, 0, 1, 1, 1]


def test_a_parent_that_is_not_in_the_list_holds_nothing_back() -> None:
    assert ranks([Node("s-1", "s-0", 0, 0)], "randomized", 1) == {"s-1": 0}


def test_an_unknown_order_is_named() -> None:
    with pytest.raises(ValueError, match=r"^order: expected one of randomized, interleaved, as_written, not 'random'$"):
        ranks([Node("s-1", None, 0, 0)], "random", 1)  # type: ignore[arg-type]
