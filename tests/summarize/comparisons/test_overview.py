from stepgrid.model.plan import Axis
from stepgrid.summarize.comparisons.comparison import ABSENT, BASE, RATIO, Comparison, Entry, Line
from stepgrid.summarize.comparisons.comparison_axes import Layout
from stepgrid.summarize.comparisons.overview import Row, overviews

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
