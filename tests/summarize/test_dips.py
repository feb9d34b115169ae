"""Dips of a series and what a report says of the events that they fall into."""

from stepgrid.summarize.data.tables_reader import Event
from stepgrid.summarize.sentences import dip_text

RATES = (100, 100, 20, 30, 100, 100, 100, 10, 100, 100)
POINTS = [(float(second), float(rate)) for second, rate in enumerate(RATES, 1)]


def test_events_that_take_more_of_the_dips_are_named_the_strongest_first() -> None:
    events = [
        Event(2.0, 3.5, "checkpoint"),
        Event(7.2, 7.9, "checkpoint"),
        Event(2.5, 5.0, "flush"),
        Event(0, 10, "gc"),
    ]
    assert dip_text([(POINTS, events)]) == (
        "2 of 2 dips below half of the median QPS fall into checkpoints (73 % of the dips' time, 0 % of the rest), "
        "1 into flushes (50 % of the dips' time, 14 % of the rest)"
    )
    assert dip_text([(POINTS[:6], events[:1])]) == (
        "1 of 1 dip below half of the median QPS falls into checkpoints (75 % of the dips' time, 0 % of the rest)"
    )


def test_what_always_goes_on_explains_no_dip() -> None:
    assert dip_text([(POINTS, [Event(0.0, 10.0, "compaction")])]) == (
        "2 dips below half of the median QPS, in which no event of the engine takes clearly more time than else"
    )
    assert dip_text([(POINTS, [])]) == dip_text([(POINTS[:2], [Event(0.0, 1.0, "flush")])]) == ""
