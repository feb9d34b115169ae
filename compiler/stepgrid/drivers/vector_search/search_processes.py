"""Queries sent by processes of their own, one for each connection: no client waits for another one's interpreter."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import connection
from threading import BrokenBarrierError
from typing import TYPE_CHECKING, Any

from stepgrid.drivers.vector_search.servers.vector_server import SearchError

if TYPE_CHECKING:
    from stepgrid.drivers.vector_search.datasets.point_generator import Vectors
    from stepgrid.drivers.vector_search.servers.vector_server import Searcher

FORK = multiprocessing.get_context("fork")  # the queries are there already
OTHER = "another client ended"
OPEN = 120.0  # seconds for all clients to connect, to encode and to end what was sent last


@dataclass(frozen=True, slots=True)
class Turn:
    """What one client did in one run."""

    client: int
    run: int
    queries: Sequence[int]
    begins: Sequence[float]  # of each query, by the monotonic clock of the machine
    ends: Sequence[float]
    cpu: float  # seconds of this process
    answers: Sequence[Sequence[int]]


def search(open_one: Callable[[], Searcher], queries: Vectors, runs: int, clients: int) -> Iterator[Turn]:
    """All queries `runs` times; whoever is free sends the next one."""
    barrier = FORK.Barrier(clients)
    taken = [FORK.Value("q", 0) for _ in range(runs)]
    started = [_start(number, open_one, queries, barrier, taken) for number in range(clients)]
    try:
        yield from _collected(started, runs)
    except BaseException:
        for process, _ in started:
            process.terminate()  # no abort of the barrier: one that was killed may hold its lock
        raise
    finally:
        for process, pipe in started:
            process.join()
            pipe.close()


def _start(
    number: int, open_one: Callable[[], Searcher], queries: Vectors, barrier: Any, taken: Any
) -> tuple[Any, Any]:
    ours, its = FORK.Pipe(duplex=False)
    process = FORK.Process(target=_client, args=(number, open_one, queries, barrier, taken, its), daemon=True)
    process.start()
    its.close()
    return process, ours


def _client(
    number: int, open_one: Callable[[], Searcher], queries: Vectors, barrier: Any, taken: Sequence[Any], pipe: Any
) -> None:
    try:
        searcher = open_one()
        requests = searcher.encode(queries)
        for run, counter in enumerate(taken):
            barrier.wait(OPEN if run == 0 else None)
            pipe.send(_turn(number, run, searcher, requests, counter))
        searcher.close()
    except BrokenBarrierError:
        pipe.send(OTHER)
    except Exception as error:  # whatever the client's library raises is what the server said
        barrier.abort()
        pipe.send(str(error) or type(error).__name__)


def _turn(number: int, run: int, searcher: Searcher, requests: Sequence[bytes], counter: Any) -> Turn:
    """Between two queries a counter is raised and the clock is read; answers are read apart when all are there."""
    taken, begins, ends, replies = list[int](), list[float](), list[float](), list[Any]()
    clock, send, count = time.perf_counter, searcher.search, len(requests)
    lock, shared = counter.get_lock(), counter.get_obj()
    used = time.process_time()
    while True:
        with lock:
            query = shared.value
            shared.value = query + 1
        if query >= count:
            break
        begins.append(clock())
        replies.append(send(requests[query]))
        ends.append(clock())
        taken.append(query)
    used = time.process_time() - used
    return Turn(number, run, taken, begins, ends, used, [list(searcher.ids(reply)) for reply in replies])


def _collected(started: Sequence[tuple[Any, Any]], runs: int) -> Iterator[Turn]:
    """SearchError as soon as one of them fails."""
    left = {pipe: (process, runs) for process, pipe in started}
    while left:
        for pipe in connection.wait(list(left)):
            process, runs_left = left.pop(pipe)
            yield _received(pipe, process, started)
            if runs_left > 1:
                left[pipe] = process, runs_left - 1


def _received(pipe: Any, process: Any, started: Sequence[tuple[Any, Any]]) -> Turn:
    """The words of the first that failed by itself."""
    try:
        found = pipe.recv()
    except EOFError:
        process.join()
        raise SearchError(f"a client ended with exit status {process.exitcode}") from None
    if isinstance(found, Turn):
        return found
    others = (text for _, each in started if each is not pipe for text in _texts(each))
    raise SearchError(next((text for text in (found, *others) if text != OTHER), found))


def _texts(pipe: Any) -> Iterator[str]:
    with suppress(EOFError, OSError):
        while pipe.poll(1.0):
            if isinstance(found := pipe.recv(), str):
                yield found
