from collections.abc import Sequence
from itertools import product

from stepgrid.model.plan import Axis
from stepgrid.plan.actions import choose_base
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison_axes import Layout, Section
from stepgrid.summarize.data.points import Point

BUILD = Axis("build", ("r-1", "r-2"))
CACHE = Axis("cache", ("lru", "hyper"), ("readww",))
THREADS = Axis("threads", ("1",), ("readww",))


def section(*axes: Axis, without: Sequence[tuple[str, ...]] = ()) -> Section:
    """Make a step with a point for each combination."""
    combinations = [labels for labels in product(*(axis.labels for axis in axes)) if labels not in without]
    names = [axis.name for axis in axes]
    points = [Point("readww", dict(zip(names, labels, strict=True)), ()) for labels in combinations]
    return Section("readww", axes, tuple(points))


def test_a_base_of_several_axes_has_one_table_where_points_differ_from_it_in_both():
    diagonal = section(BUILD, CACHE, without=[("r-1", "hyper"), ("r-2", "lru")])
    base = {"build": "r-1", "cache": "lru"}
    assert comparison_axes.layouts(diagonal, base, None) == [Layout(base, ("build", "cache"), ())]


def test_without_a_base_the_first_axis_that_varies_is_it():
    assert choose_base([BUILD, THREADS, CACHE], {}) == {"cache": "lru"}
    assert choose_base([BUILD, THREADS], {}) == {"build": "r-1"}
    assert choose_base([THREADS], {}) == {}


def test_a_step_of_another_engine_has_a_base_of_its_own():
    builds = Axis("build", ("r-1", "r-2", "p-1", "p-2"))
    step = section(builds, without=[("r-1",), ("r-2",)])
    assert comparison_axes.layouts(step, {"build": "r-1"}, "r-1") == [Layout({"build": "p-1"}, ("build",), ())]
