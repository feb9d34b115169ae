"""Curves of latency by rate: which axis has the rates of a step."""

import pytest

from stepgrid.model.records import replace
from stepgrid.summarize.rate_curves import find_rate_curves, rate_tables
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


def test_a_load_that_missed_its_rate_or_failed_is_told():
    loads = [("10", 1, 10.0), ("10", 2, 10.0), ("20", 1, 20.0), ("20", 2, 15.0), ("40", 1, 40.0), ("40", 2, None),
             ("80", 1, None), ("80", 2, None)]  # fmt: skip
    runs = []
    for rate, load, qps in loads:
        is_met, run = qps == float(rate), made.run(rate, load, qps, target_qps=float(rate), service_p99_us=9.0)
        latency = {"p50_us": 10.0, "p99_us": 20.0} if is_met else {}
        metrics = {**run.metrics, "target_met": float(is_met), **latency} if qps else {}
        runs.append(replace(run, labels={"rate": rate}, metrics=metrics, status="done" if qps else "failed"))
    (table,) = rate_tables([*find_rate_curves([], runs)])
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["10", "10", "10", "10", "20", "9", "-"],
        ["20", "20", "17.3", "-", "-", "9", "1 of 2"],
        ["40", "40", "40", "10", "20", "9", "1 failed"],
        ["80", "-", "-", "-", "-", "-", "2 failed"],
    ]
    assert [note.partition(":")[0] for note in table.notes] == ["missed", "failed"]
