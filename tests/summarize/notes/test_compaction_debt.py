"""An arm that compacts what earlier steps left has more to do than the others of its step."""

from __future__ import annotations

from stepgrid.summarize.data.points import Point
from stepgrid.summarize.notes.compaction_debt import sentences
from tests.summarize import made


def _points(*amplifications: float) -> list[Point]:
    return [
        made.point(made.run(f"a{at}", 0, 9.0, write_amplification=value)) for at, value in enumerate(amplifications)
    ]


def test_the_few_that_write_far_more_are_named() -> None:
    (said,) = sentences([("q500", ("arm",), _points(123.0, 1.9, 1.91, 0.954))])
    assert said == (
        "q500: write amplification 123 (arm=a0), of the others 0.954 to 1.91: "
        "compactions of what earlier steps left ran beside it in some arms only"
    )


def test_arms_that_write_alike_or_little_are_not() -> None:
    for alike in ((7.4, 7.2, 6.9), (0.1, 1.0, 0.1), (50.0, 1.0)):
        assert list(sentences([("l.i1", ("arm",), _points(*alike))])) == []
