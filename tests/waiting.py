"""Waiting for what should happen, on machines that are busy with something else."""

import resource
import subprocess
import sys
import time
from contextlib import contextmanager

LONG = 300.0  # only a test that fails waits as long
SOON = 25.0  # for the end of what would end by itself after 30 or 60 s


def until(condition, seconds=LONG):
    """What the condition gives, once that is something."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"nothing within {seconds:g} s"
        time.sleep(0.01)
    return found


def in_time(took, seconds):
    """Whether a quiet machine would have taken less than `seconds`, by how long a small job takes on this one now."""
    return took < seconds or took < seconds * 3 * _slowdown()


@contextmanager
def busy(processes):
    """Beside processes that never rest."""
    started = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def _slowdown():
    """Time that passes for a second of CPU time."""
    began, before = time.monotonic(), _used()
    for _ in range(5):
        subprocess.run([sys.executable, "-S", "-c", "sum(range(1_000_000))"], check=True)
    return (time.monotonic() - began) / (_used() - before)


def _used():
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime
