from stepgrid.model.plan import Axis
from stepgrid.model.table import ABSENT
from stepgrid.summarize.comparisons.comparison import Comparison, Line
from stepgrid.summarize.comparisons.comparison_axes import Layout
from stepgrid.summarize.comparisons.comparison_cell import BASE, NO_BASE, RATIO, Entry
from stepgrid.summarize.comparisons.overview import Row, overviews
from stepgrid.summarize.formats import csv_table
from stepgrid.summarize.statistics.confidence_intervals import Interval

AXES = [Axis("build", ("r-1", "r-2", "r-3")), Axis("cache", ("lru", "hyper")), Axis("threads", ("1", "2"))]


def _table(step, down, columns, *lines, base="r-1"):
    entries = (Entry(BASE), *(Entry(RATIO, ratio=1.5) for _ in columns[1:]))
    form = Layout({"build": base}, ("build",), down)
    return Comparison(step, form, tuple((name,) for name in columns), tuple(Line(labels, entries) for labels in lines))


def test_steps_that_other_axes_touch_stand_in_one_table():
    load = _table("load", (), ("r-1", "r-2", "r-3"), ())
    read = _table("read", ("threads", "cache"), ("r-1", "r-3"), ("1", "lru"), ("2", "hyper"))
    [found] = overviews(AXES, [load, read])
    assert (found.base, found.down, found.heads) == ("r-1", ("cache", "threads"), ["r-2", "r-3"])
    ratio = Entry(RATIO, ratio=1.5)
    assert found.rows == (
        Row("load", (None, None), (Entry(BASE), ratio, ratio)),
        Row("read", ("lru", "1"), (Entry(BASE), Entry(ABSENT), ratio)),
        Row("read", ("hyper", "2"), (Entry(BASE), Entry(ABSENT), ratio)),
    )


def test_each_base_has_its_own():
    tables = [_table("load", (), ("r-1", "r-2"), ()), _table("load", (), ("r-2", "r-1"), (), base="r-2")]
    assert [each.base for each in overviews(AXES, tables)] == ["r-1", "r-2"]


def test_data_have_the_ratio_its_interval_and_its_verdict_in_columns_of_their_own():
    entries = (
        Entry(BASE),
        Entry(RATIO, ratio=1.23456, interval=Interval(1.23456, 1.1, 1.5, 3), verdict="faster"),
        Entry(RATIO, ratio=0.5, caveat="builds differ", doubts=("another kernel",)),
        Entry("unsupported"),
    )
    columns = tuple((name,) for name in ("r-1", "r-2", "r-3", "r-4"))
    form = Layout({"build": "r-1"}, ("build",), ())
    [found] = overviews(AXES, [Comparison("read", form, columns, (Line((), entries),))])
    _, heads, row = csv_table(found.table).splitlines()
    assert heads == "step,r-1 QPS,r-2,r-2 low,r-2 high,r-2 verdict,r-3,r-3 low,r-3 high,r-3 verdict,r-4"
    assert row == "read,base,1.23456,1.1,1.5,faster,0.5,,,no verdict,unsupported"
    assert found.table.rows[0][2].text == "1.23 [1.10, 1.50] faster"


def test_what_has_nothing_to_compare_with_stands_among_the_absolute_figures_alone():
    """An index that the base's engine has not; but a base that failed is shown."""
    form = Layout({"build": "r-1"}, ("build",), ("cache",))
    lines = (
        Line(("lru",), (Entry(BASE), Entry(RATIO, ratio=1.5), Entry(ABSENT))),
        Line(("hyper",), (Entry(ABSENT), Entry(NO_BASE), Entry(NO_BASE))),
        Line(("none",), (Entry("failed"), Entry(NO_BASE), Entry(ABSENT))),
    )
    [found] = overviews(AXES, [Comparison("read", form, (("r-1",), ("r-2",), ("r-3",)), lines)])
    assert found.compares
    assert found.heads == ["r-2"]
    assert [row.labels for row in found.rows] == [("lru",), ("none",)]
    [alone] = overviews(AXES, [Comparison("read", form, (("r-1",), ("r-2",), ("r-3",)), lines[1:2])])
    assert not alone.compares
