from stepgrid.model.plan import PlannedAxis
from stepgrid.plan.actions import choose_base

BUILD = PlannedAxis("build", ("r-1", "r-2"))
CACHE = PlannedAxis("cache", ("lru", "hyper"), ("readww",))
THREADS = PlannedAxis("threads", ("1",), ("readww",))


def test_without_a_base_the_first_axis_that_varies_is_it():
    assert choose_base([BUILD, THREADS, CACHE], {}) == {"cache": "lru"}
    assert choose_base([BUILD, THREADS], {}) == {"build": "r-1"}
    assert choose_base([THREADS], {}) == {}
