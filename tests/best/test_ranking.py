"""The best of many arms: what is surely so, by figures whose truth is known."""

import math
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from stepgrid.model.plan import AdaptiveRepeat
from stepgrid_investigate.best.race import look
from stepgrid_investigate.best.ranking import Standing, rank_arms

EFFECT = 0.02


def figures(truths, loads, noise=0.003, seed=1):
    chance = random.Random(seed)
    blocks = [chance.gauss(0, 0.2) for _ in range(loads)]
    return {
        name: {load: rate * math.exp(blocks[load] + chance.gauss(0, noise)) for load in range(loads)}
        for name, rate in truths.items()
    }


def test_arms_far_from_the_best_are_beyond_and_those_near_it_within():
    """Loads of one number lie 20 % apart from those of another, which all arms share."""
    ranking = rank_arms(figures({"a": 100, "b": 99.8, "c": 90, "d": 50}, 8), EFFECT)
    assert {arm.arm: arm.standing for arm in ranking.arms} == {
        "a": Standing.WITHIN, "b": Standing.WITHIN, "c": Standing.BEYOND, "d": Standing.BEYOND,
    }  # fmt: skip
    c = next(arm for arm in ranking.arms if arm.arm == "c")
    assert c.low < 0.9 < c.high < 0.92
    assert {arm.arm for arm in ranking.candidates} <= {"a", "b"}


def test_one_load_each_says_nothing_and_a_metric_of_which_less_is_better_turns_round():
    single = rank_arms({"a": {0: 1.0}, "b": {0: 100.0}}, EFFECT)
    assert [arm.standing for arm in single.arms] == [Standing.OPEN, Standing.OPEN]
    times = rank_arms(figures({"a": 100, "b": 120}, 8), EFFECT, is_less_better=True)
    assert [(arm.arm, arm.standing) for arm in times.arms] == [("a", Standing.WITHIN), ("b", Standing.BEYOND)]
    assert times.arms[1].low < 1.2 < times.arms[1].high
    assert rank_arms({}, EFFECT).arms == rank_arms({"a": {}}, EFFECT).arms == ()


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.sampled_from("abcdefg"), st.dictionaries(st.integers(0, 4), st.floats(0.5, 2)), max_size=7),
    st.floats(0.1, 10),
)
def test_neither_the_unit_nor_the_order_of_arms_changes_what_is_said(arms, unit):
    """Whatever loads are missing; the best estimate may always be the best, and each ratio is in its interval."""
    ranking = rank_arms(arms, EFFECT)
    other = rank_arms({name: {k: v * unit for k, v in arms[name].items()} for name in reversed(arms)}, EFFECT)
    assert {arm.arm for arm in ranking.arms} == {name for name, loads in arms.items() if loads}
    turned = {arm.arm: arm for arm in other.arms}
    for arm in ranking.arms:
        assert arm.low <= arm.ratio <= arm.high <= 1
        assert math.isclose(math.log(arm.low), math.log(turned[arm.arm].low), rel_tol=1e-5, abs_tol=1e-6)
        assert math.isclose(math.log(arm.high), math.log(turned[arm.arm].high), rel_tol=1e-5, abs_tol=1e-6)
    assert ranking.arms[:1] == tuple(ranking.candidates[:1])


def run_race(truths, most=8, noise=0.005):
    """Race to the end; a load that is asked for is measured."""
    rule, measured = AdaptiveRepeat(1, most), dict.fromkeys(truths, 1)
    rates = figures(truths, most, noise)
    while True:
        known = {name: {load: rates[name][load] for load in range(count)} for name, count in measured.items()}
        state = look(known, measured, rule, EFFECT)
        if not state.wanted:
            return state, measured
        assert all(measured[name] < count <= most for name, count in state.wanted.items())
        measured |= state.wanted


def test_a_race_spends_its_loads_on_those_that_may_be_the_best():
    truths = {"first": 100, "second": 99.9, **{f"arm{at}": 90 - at for at in range(30)}}
    state, loads = run_race(truths)
    assert {arm.arm for arm in state.ranking.candidates} == {"first", "second"}
    assert state.ranking.of(Standing.OPEN) == []
    assert sum(loads.values()) < 1.7 * len(truths)
    assert loads["arm29"] == 1  # it fell at the first look


def test_a_race_of_two_and_one_that_nobody_can_decide_end():
    assert run_race({"a": 100})[1] == {"a": 1}
    state, loads = run_race({"a": 100, "b": 98.9}, noise=0.05)
    assert state.hopeless or max(loads.values()) == 8


def test_equal_arms_end_alike_and_loads_of_another_spec_are_no_beginning():
    """None is given up alone, which would keep the others from being settled."""
    alike = {f"arm{at}": 100 for at in range(32)}
    for noise in (0.008, 0.01, 0.012):
        state, loads = run_race(alike, noise=noise)
        assert min(loads.values()) >= 7
        assert min(arm.low for arm in state.ranking.candidates) > 0.85
    known = {name: dict.fromkeys(range(3 if name == "arm9" else 1), 100.0) for name in alike}
    state = look(known, {name: len(loads) for name, loads in known.items()}, AdaptiveRepeat(1, 8), EFFECT)
    assert sorted(state.wanted.values()) in ([2] * 4 + [3] * 3, [2] * 4 + [3] * 4, [2] * 3 + [3] * 4)
