from stepgrid.model.plan import Axis
from stepgrid.plan.actions import choose_base

BUILD = Axis("build", ("r-1", "r-2"))
CACHE = Axis("cache", ("lru", "hyper"), ("readww",))
THREADS = Axis("threads", ("1",), ("readww",))


def test_without_a_base_the_first_axis_that_varies_is_it():
    assert choose_base([BUILD, THREADS, CACHE], {}) == {"cache": "lru"}
    assert choose_base([BUILD, THREADS], {}) == {"build": "r-1"}
    assert choose_base([THREADS], {}) == {}
