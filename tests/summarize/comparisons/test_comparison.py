"""Tables of comparisons are judged together: what one shows of the noise helps the others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from stepgrid.model.plan import Axis
from stepgrid.summarize.comparisons import phrases
from stepgrid.summarize.comparisons.comparison import Comparison, compare, judge
from stepgrid.summarize.comparisons.comparison_axes import Layout
from stepgrid.summarize.comparisons.comparison_cell import RATIO, Entry
from stepgrid.summarize.comparisons.comparison_verdict import Evidence
from tests.summarize.made import point, run

AXES = (Axis("arm", ("base", "other"), None),)
LAYOUT = Layout({"arm": "base"}, ("arm",), ())
NOISE = np.random.default_rng(5).normal(0, 0.01, (8, 2, 3)).tolist()  # step, arm, load
Arms = Mapping[str, Sequence[float]]


def table(noise: Sequence[Sequence[float]], apart: float = 0.0) -> Comparison:
    """Two arms, of which the other is so much faster."""
    arms = {"base": noise[0], "other": [each + apart for each in noise[1]]}
    points = [
        point(*(run(arm, load, 1000 * math.exp(log)) for load, log in enumerate(logs))) for arm, logs in arms.items()
    ]
    return compare("readww", LAYOUT, AXES, points)


def evidence() -> Evidence:
    return Evidence({}, 0.02, lambda _, __: None)


def entry(judged: Comparison) -> Entry:
    (found,) = [each for line in judged.lines for each in line.entries if each.kind == RATIO]
    return found


def test_eight_steps_find_what_one_alone_does_not() -> None:
    tables = [table(noise, math.log(1.05)) for noise in NOISE]
    alone = [judge([(each, evidence())])[0] for each in tables]
    together = judge([(each, evidence()) for each in tables])
    assert [entry(each).ratio for each in together] == [entry(each).ratio for each in alone]
    found = [sum(entry(each).verdict == "faster" for each in judged) for judged in (alone, together)]
    assert found == [5, 8]


def test_what_is_not_judged_has_no_interval_yet() -> None:
    assert entry(table(NOISE[0])).interval is None
    assert judge([]) == []


def test_a_load_that_did_nothing_is_never_left_out() -> None:
    """Without it the arm would be the same: 1010, 1005 and 995 against about 1,000."""
    figures = {"base": [1000, 1002, 998, 1001, 999], "other": [0, 1010, 0, 1005, 995]}
    points = [point(*(run(arm, load, qps) for load, qps in enumerate(each))) for arm, each in figures.items()]
    found, back = (
        entry(judge([(compare("readww", Layout({"arm": base}, ("arm",), ()), AXES, points), evidence())])[0])
        for base in ("base", "other")
    )
    assert (found.verdict, found.ratio, found.interval) == ("inconclusive", None, None)
    assert found.idle == "2 of 5 loads did nothing (0 QPS)"
    assert back.idle == "of the base: 2 of 5 loads did nothing (0 QPS)"
    assert phrases.compared(found) == "inconclusive †"


def test_an_arm_that_did_nothing_does_not_change_what_others_show() -> None:
    figures = {"base": [1000, 1002, 998], "other": [1100, 1102, 1098], "idle": [0, 0, 0]}
    axes = (Axis("arm", tuple(figures), None),)
    points = [point(*(run(arm, load, qps) for load, qps in enumerate(each))) for arm, each in figures.items()]
    alone, beside = (
        judge([(compare("readww", LAYOUT, axes, some), evidence())])[0].lines[0].entries
        for some in (points[:2], points)
    )
    assert beside[1].interval == alone[1].interval
    assert (beside[2].verdict, beside[2].idle) == ("inconclusive", "3 of 3 loads did nothing (0 QPS)")
