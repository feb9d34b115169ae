from stepgrid.model.plan import Axis
from stepgrid.plan.actions import choose_base
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison_axes import Layout

BUILD = Axis("build", ("r-1", "r-2"))
CACHE = Axis("cache", ("lru", "hyper"), ("readww",))
THREADS = Axis("threads", ("1",), ("readww",))


def test_axes_behind_the_checkpoint_do_not_touch_the_load():
    assert comparison_axes.touching([BUILD, CACHE, THREADS], "fillseq") == [BUILD]
    assert comparison_axes.touching([BUILD, CACHE, THREADS], "readww") == [BUILD, CACHE, THREADS]


def test_base_axes_go_across_and_builds_have_a_table_of_their_own():
    found = comparison_axes.layouts([BUILD, CACHE, THREADS], {"cache": "lru"}, "r-1")
    assert found == [
        Layout({"cache": "lru"}, ("cache",), ("build",)),
        Layout({"build": "r-1"}, ("build",), ("cache",)),
    ]


def test_a_base_that_names_the_build_has_one_table():
    assert comparison_axes.layouts([BUILD, CACHE], {"build": "r-2", "cache": "lru"}, None) == [
        Layout({"build": "r-2", "cache": "lru"}, ("build", "cache"), ())
    ]


def test_without_a_base_the_first_axis_that_varies_is_it():
    assert choose_base([BUILD, THREADS, CACHE], {}) == {"cache": "lru"}
    assert choose_base([BUILD, THREADS], {}) == {"build": "r-1"}
    assert choose_base([THREADS], {}) == {}


def test_a_base_whose_axis_does_not_touch_the_step_leaves_builds():
    assert comparison_axes.layouts([BUILD], {"cache": "lru"}, None) == [Layout({"build": "r-1"}, ("build",), ())]


def test_words_name_the_axis_of_everything_but_a_build():
    assert comparison_axes.words(("r-1", "2"), ("build", "threads")) == "r-1, threads=2"
    assert comparison_axes.words(("r-1", None), ("build", "threads")) == "r-1"
