"""What failed its rate is named before anyone believes its queries."""

from __future__ import annotations

from dataclasses import replace

from stepgrid.summarize.data.points import Point
from stepgrid.summarize.notes.failed_rates import sentences
from tests.summarize import made

TARGET = "target_inserts_per_s"


def point(arm: str, *rates: float, target: float | None = 4000.0) -> Point:
    asked = {} if target is None else {TARGET: target}
    return made.point(*(made.run(arm, load, 9.0, inserts_per_s=rate, **asked) for load, rate in enumerate(rates)))


def test_what_failed_its_rate_is_named_with_the_median_of_its_loads() -> None:
    points = [point("my", 4000.0), point("pg", 3900.0, 2800.0, 2700.0), point("free", 5.0, target=None)]
    assert list(sentences([("q1000", ("arm",), points), ("q100", ("arm",), points[:1])])) == [
        "q1000: less than 95 % of the rate that was asked for: arm=pg: 2,800 of 4,000 rows/s"
    ]


def test_a_missing_rate_fails_nothing_and_few_are_named() -> None:
    lost = made.point(replace(made.run("a", 0, 9.0), metrics={TARGET: 5.0}))
    assert list(sentences([("q", ("arm",), [lost])])) == []
    (said,) = sentences([("q", (), [point(str(number), 10.0) for number in range(6)])])
    assert said.endswith(
        ": 10.0 of 4,000 rows/s, 10.0 of 4,000 rows/s, 10.0 of 4,000 rows/s, 10.0 of 4,000 rows/s, and 2 more"
    )
