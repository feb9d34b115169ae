"""What each comparison came to, of reports whose figures lie as far apart as they are made to."""

import pytest

from stepgrid.model.plan import AdaptiveRepeat
from stepgrid.model.records import replace
from stepgrid.summarize.comparisons.comparison import BASE, RATIO, ArmEntry, ComparedMetric, ComparedPoint, Comparison
from stepgrid.summarize.comparisons.comparison_axes import ComparisonLayout
from stepgrid.summarize.comparisons.decisions import DecisionLimits, DecisionState, LoadCosts, decide, load_requests
from stepgrid.summarize.statistics.verdicts import verdict
from tests.summarize import made
from tests.summarize.statistics.test_verdicts import interval

REPEAT = AdaptiveRepeat(3, 12)
CHAINS = {cell: {f"load-{cell}": 50.0, f"step-{cell}": 10.0} for cell in ("lru", "hyper", "edge", "noisy")}


def point(cell, loads, planned=0):
    """Of which the loads beyond the first have no figure yet."""
    runs = [made.run(cell, load, 1000.0) for load in range(max(loads, planned))]
    return made.point(*(replace(run, metrics={}) if run.load >= loads else run for run in runs))


def table(*arms, missing=()):
    """Of an axis `cache` against lru, as judged by the intervals."""
    entries = [ArmEntry(BASE, point("lru", 3))]
    for name, found in arms:
        word = verdict(found.low, found.high, 0.02)
        planned = found.loads + (name in missing)
        entries.append(ArmEntry(RATIO, point(name, found.loads, planned), found, found.ratio, word))
    columns = (("lru",), *((name,) for name, _ in arms))
    layout = ComparisonLayout({"cache": "lru"}, ("cache",), ())
    return Comparison(ComparedMetric(), layout, columns, (ComparedPoint("readww", (), tuple(entries)),))


FAST = ("hyper", interval(1.10, 0.01))
EDGE = ("edge", interval(1.015, 0.008))
NOISY = ("noisy", interval(1.0, 0.2, loads=6))


def states(found, repeat=REPEAT, costs=None):
    return [each.state for each in decide([found], DecisionLimits(repeat, 0.02, costs or LoadCosts()))]


def test_loads_are_asked_for_of_the_arm_and_its_base_alone():
    found = decide([table(FAST, EDGE, NOISY)], DecisionLimits(REPEAT, 0.02, LoadCosts()))
    why = "cache=edge against cache=lru, readww: undecided after 3 loads"
    assert sorted(load_requests(found)) == [("edge", 4, why), ("lru", 4, why)]


def test_nothing_is_added_while_a_load_has_no_figures():
    assert states(table(FAST, EDGE, missing=["edge"])) == [DecisionState.DECIDED, DecisionState.INCOMPLETE]


@pytest.mark.parametrize(
    ("within", "expected", "wanted"),
    [(10_000.0, DecisionState.OPEN, 4), (1000 + 120 * 3 + 1, DecisionState.OPEN, 4), (1119.0, DecisionState.LATE, 0)],
)
def test_time_is_a_limit_too(within, expected, wanted):
    """One more load of the arm and its base takes 60 s each; 1000 s are used up."""
    limits = DecisionLimits(AdaptiveRepeat(3, 12, None, within), 0.02, LoadCosts(1000.0, CHAINS))
    [found] = decide([table(("edge", interval(1.025, 0.008)))], limits)
    assert (found.state, found.wanted) == (expected, wanted)


def test_a_difference_of_releases_that_may_be_by_chance_is_confirmed():
    def judged(axis, loads):
        found = table(("hyper", interval(1.10, 0.01, loads=loads)))
        (row,) = found.rows
        entries = row.entries[0], replace(row.entries[1], perhaps=True)
        layout = ComparisonLayout({axis: "lru"}, (axis,), ())
        return replace(found, layout=layout, rows=(replace(row, entries=entries),))

    assert states(judged("cache", 3)) == [DecisionState.DECIDED]
    assert states(judged("build", 3)) == [DecisionState.TENTATIVE]
    assert states(judged("build", 12)) == [DecisionState.DECIDED], "the last look"
    decisions = decide([judged("build", 3)], DecisionLimits(REPEAT, 0.02, LoadCosts()))
    assert all(text.endswith("readww: perhaps by chance after 3 loads") for _, _, text in load_requests(decisions))
    assert {wanted for _, wanted, _ in load_requests(decisions)} == {4}
