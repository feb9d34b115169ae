"""Curves of latency by rate: which axis has the rates of a step."""

import pytest

from stepgrid.model.records import replace
from stepgrid.summarize.rate_curves import find_rate_curves
from tests.summarize import made

FIXED = ({"fill": "20% of ram"}, 20), ({"fill": "50% of ram"}, 20.3)
OWN = ({"rate": "50% of max", "log": "a"}, 350), ({"rate": "90% of max", "log": "a"}, 630)


# labels, targets and shares of the runs of one step; the axis, the points of each arm and its maximum
@pytest.mark.parametrize(
    ("runs", "curves"),
    [
        ([*FIXED], []),
        ([({"sample_rate": "0.5"}, 20), ({"sample_rate": "1"}, 20.3)], []),
        ([({"log": "all"}, 20), *(({"log": "quiet", "rate": str(rate)}, rate) for rate in (10, 20))],
         [("rate", ["10", "20"], None)]),
        ([({"fill": "20% of ram", "rate": str(rate)}, rate) for rate in (5, 50)], [("rate", ["5", "50"], None)]),
        ([({"fill": "20% of ram"} | labels, rate, float(labels["rate"][:2])) for labels, rate in OWN],
         [("rate", ["50% of max", "90% of max"], 700)]),
    ],
)  # fmt: skip
def test_the_axis_of_a_curve(runs, curves):
    steps = []
    for number, (labels, target, *shares) in enumerate(runs):
        metrics = {"target_qps": float(target), **dict(zip(["tried_share_pct"], shares, strict=False))}
        steps.append(replace(made.run(str(number), 1, 1.0, **metrics), labels=labels))
    found = find_rate_curves([], steps)
    assert [(curve.axis, [point.label for point in curve.points], curve.maximum) for curve in found] == curves
