"""Bounds in seconds are those of a quiet machine: a busy one is given more, an idle one is not."""

import os

import pytest

from tests import waiting
from tests.waiting import in_time, until


def test_what_is_in_time_is_so_without_a_look_at_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(waiting, "_slowdown")
    assert in_time(1.9, 2.0)


def test_a_bound_grows_as_the_machine_slows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_slowdown", lambda: 4.0)
    assert in_time(23.0, 2.0)
    assert not in_time(25.0, 2.0)


def test_the_slowdown_is_that_of_processes_that_share_a_core() -> None:
    """Three that never rest, on the core where this one is: the fourth has a quarter of it."""
    cores = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(cores)})
        with waiting.busy(3):
            assert waiting._slowdown() > 2
    finally:
        os.sched_setaffinity(0, cores)


def test_what_does_not_happen_is_waited_for_no_longer() -> None:
    with pytest.raises(AssertionError, match=r"nothing within 0.1 s"):
        until(lambda: False, 0.1)
    assert until(lambda: 3) == 3
