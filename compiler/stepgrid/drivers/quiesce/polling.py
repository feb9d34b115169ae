"""Looks again and again until all is idle for long enough, or the time is over."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from stepgrid.plugins.server import IdleReading

PAUSE = 1.0  # seconds between two looks; less where a shorter quiet is asked for
LOOKS = 4  # that a stretch of quiet has at least
SHORTEST = 0.01


class Observation(NamedTuple):
    seconds: float  # since the first
    seen: Sequence[IdleReading]

    @property
    def idle(self) -> bool:
        return all(thing.idle for thing in self.seen)


class Outcome(NamedTuple):
    quiet: bool
    since: float | None  # seconds until it became quiet for good; None: it did not
    last: Observation


def watch(
    look: Callable[[], Sequence[IdleReading]],
    quiet: float,
    timeout: float,
    say: Callable[[Observation], None],
    begin: Callable[[], None],
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Outcome:
    """`begin`: after the first look, which is at what there was before anything was asked for."""
    began, begun = clock(), False
    since: float | None = None
    while True:
        made = Observation(clock() - began, look())
        say(made)
        if not begun:
            begin()
            begun = True
        since = (made.seconds if since is None else since) if made.idle else None
        if since is not None and made.seconds - since >= quiet:
            return Outcome(True, since, made)
        if made.seconds >= timeout:
            return Outcome(False, None, made)
        sleep(min(PAUSE, quiet / LOOKS, max(timeout - made.seconds, SHORTEST)))
