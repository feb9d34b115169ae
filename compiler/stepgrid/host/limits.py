"""Limits of what reading and compiling a spec may cost, whoever wrote it. What is started meanwhile has them, too."""

from __future__ import annotations

import resource
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NoReturn

from stepgrid.errors import PROBLEMS, StepgridError

MEMORY = 4 << 30  # bytes of address space beyond what the process has
SECONDS = 600  # of processor time: a grid of 50,000 cells takes half a minute

_former: list[Mapping[int, tuple[int, int]]] = []  # limits from before each block that goes on


class LimitError(StepgridError):
    """A limit that was reached."""

    status = PROBLEMS


@contextmanager
def limited(subject: str, seconds: int = SECONDS, memory: int = MEMORY) -> Iterator[None]:
    """Raise LimitError if the block takes more; afterwards the process has its former limits.

    Blocks within it count with it. A thread of a program that imports us has no signals, and no limits of ours."""
    if _former or threading.current_thread() is not threading.main_thread():
        yield
        return
    usage = resource.getrusage(resource.RUSAGE_SELF)
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - an import less
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    limits = {
        resource.RLIMIT_CPU: int(usage.ru_utime + usage.ru_stime) + seconds,
        resource.RLIMIT_AS: mapped + memory,
    }

    def stop(*_: object) -> NoReturn:
        raise _error(subject, f"{seconds} s of processor time")

    _former.append({kind: resource.getrlimit(kind) for kind in limits})
    handler = signal.signal(signal.SIGXCPU, stop)
    _lower(limits)
    try:
        yield
    except MemoryError:
        raise _error(subject, f"{memory >> 30} GiB of memory") from None
    finally:
        _set(_former.pop())
        signal.signal(signal.SIGXCPU, handler)


def _error(subject: str, amount: str) -> LimitError:
    return LimitError(f"{subject}: it takes more than {amount}; that is too large to measure")


@contextmanager
def unlimited() -> Iterator[None]:
    """Give the former limits to what is started within the block: a tool that asks a registry has its own."""
    if not _former:
        yield
        return
    limits = {kind: resource.getrlimit(kind) for kind in _former[-1]}
    _set(_former[-1])
    try:
        yield
    finally:
        _set(limits)


def _lower(limits: Mapping[int, int]) -> None:
    for kind, limit in limits.items():
        soft, hard = resource.getrlimit(kind)
        finite = [value for value in (soft, hard, limit) if value != resource.RLIM_INFINITY]
        resource.setrlimit(kind, (min(finite), hard))


def _set(limits: Mapping[int, tuple[int, int]]) -> None:
    for kind, pair in limits.items():
        resource.setrlimit(kind, pair)
