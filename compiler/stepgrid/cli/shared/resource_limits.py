"""Limits of a command that only looks at files: what a spec from a stranger can cost, whatever it makes of them."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from stepgrid.errors import StepgridError

MEMORY = 4 << 30  # bytes of address space beyond what the process has
SECONDS = 600  # of processor time: a grid of 200,000 cells takes two minutes


class LimitError(StepgridError):
    """Which one was reached."""


@contextmanager
def limited(seconds: int = SECONDS, memory: int = MEMORY) -> Iterator[None]:
    """LimitError where the block takes more; the process has its former limits afterwards."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    wanted = {
        resource.RLIMIT_CPU: int(used.ru_utime + used.ru_stime) + seconds,
        resource.RLIMIT_AS: _mapped() + memory,
    }
    before = {kind: resource.getrlimit(kind) for kind in wanted}
    handler = signal.signal(signal.SIGXCPU, lambda *_: _out_of_time(seconds))
    for kind, (soft, hard) in before.items():
        known = [limit for limit in (soft, hard, wanted[kind]) if limit != resource.RLIM_INFINITY]
        resource.setrlimit(kind, (min(known), hard))
    try:
        yield
    except MemoryError:
        raise LimitError(f"it takes more than {memory >> 30} GiB of memory") from None
    finally:
        for kind, limits in before.items():
            resource.setrlimit(kind, limits)
        signal.signal(signal.SIGXCPU, handler)


def _out_of_time(seconds: int) -> Any:
    raise LimitError(f"it takes more than {seconds} s of processor time")


def _mapped() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - an import less
        return int(file.read().split()[0]) * resource.getpagesize()
