"""Queries sent by processes of their own, one for each connection, and their report: rates, latency, recall."""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import connection
from threading import BrokenBarrierError
from typing import TYPE_CHECKING, Any, NamedTuple

from stepgrid.drivers.client_report import PER_DOUBLING
from stepgrid.drivers.vector_search.datasets import distances
from stepgrid.drivers.vector_search.prepared_statement import SearchError

if TYPE_CHECKING:
    from stepgrid.drivers.vector_search.datasets import Dataset, Vectors
    from stepgrid.drivers.vector_search.servers import Searcher

FORK = multiprocessing.get_context("fork")  # the queries are there already
OTHER = "another client ended"
OPEN = 120.0  # seconds for all clients to connect, to encode and to end what was sent last
TOLERANCE = 1e-3  # that a distance may be above the k-th true one, as published
LOW = 5  # the percentile of queries


@dataclass(frozen=True, slots=True)
class Turn:
    """Queries that one client sent in one run."""

    client: int
    run: int
    queries: Sequence[int]
    begins: Sequence[float]  # of each query, by the monotonic clock of the machine
    ends: Sequence[float]
    cpu: float  # seconds of this process
    answers: Sequence[Sequence[int]]


class SharedState(NamedTuple):
    barrier: Any  # of all clients, before each run
    next_queries: Sequence[Any]  # a counter for each run


def search(open_one: Callable[[], Searcher], queries: Vectors, runs: int, clients: int) -> Iterator[Turn]:
    """Send all queries `runs` times; a client that is free sends the next one."""
    shared = SharedState(FORK.Barrier(clients), [FORK.Value("q", 0) for _ in range(runs)])
    clients_and_pipes = [_start(number, open_one, queries, shared) for number in range(clients)]
    try:
        yield from _collected(clients_and_pipes, runs)
    except BaseException:
        for process, _ in clients_and_pipes:
            process.terminate()  # no abort of the barrier: one that was killed may hold its lock
        raise
    finally:
        for process, pipe in clients_and_pipes:
            process.join()
            pipe.close()


def _start(number: int, open_one: Callable[[], Searcher], queries: Vectors, shared: SharedState) -> tuple[Any, Any]:
    receiver, sender = FORK.Pipe(duplex=False)
    process = FORK.Process(target=_client, args=(number, open_one, queries, shared, sender), daemon=True)
    process.start()
    sender.close()
    return process, receiver


def _client(number: int, open_one: Callable[[], Searcher], queries: Vectors, shared: SharedState, pipe: Any) -> None:
    try:
        searcher = open_one()
        requests = searcher.encode(queries)
        for run, counter in enumerate(shared.next_queries):
            shared.barrier.wait(OPEN if run == 0 else None)
            pipe.send(_turn(number, run, searcher, requests, counter))
        searcher.close()
    except BrokenBarrierError:
        pipe.send(OTHER)
    except Exception as error:  # whatever the client's library raises is what the server said
        shared.barrier.abort()
        pipe.send(str(error) or type(error).__name__)


def _turn(number: int, run: int, searcher: Searcher, requests: Sequence[bytes], counter: Any) -> Turn:
    """Send queries until none is left: between two of them a counter is raised and the clock is read, no more."""
    sent, begins, ends, replies = list[int](), list[float](), list[float](), list[Any]()
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
        sent.append(query)
    used = time.process_time() - used
    return Turn(number, run, sent, begins, ends, used, [list(searcher.ids(reply)) for reply in replies])


def _collected(clients_and_pipes: Sequence[tuple[Any, Any]], runs: int) -> Iterator[Turn]:
    """Yield turns as they come; SearchError as soon as a client fails."""
    pending = {pipe: (process, runs) for process, pipe in clients_and_pipes}
    while pending:
        for pipe in connection.wait(list(pending)):
            process, runs_left = pending.pop(pipe)
            yield _received(pipe, process, clients_and_pipes)
            if runs_left > 1:
                pending[pipe] = process, runs_left - 1


def _received(pipe: Any, process: Any, clients_and_pipes: Sequence[tuple[Any, Any]]) -> Turn:
    """Receive a turn; SearchError has the message of the first client that failed by itself."""
    try:
        received = pipe.recv()
    except EOFError:
        process.join()
        raise SearchError(f"a client ended with exit status {process.exitcode}") from None
    if isinstance(received, Turn):
        return received
    messages = (text for _, other in clients_and_pipes if other is not pipe for text in _texts(other))
    raise SearchError(next((text for text in (received, *messages) if text != OTHER), received))


def _texts(pipe: Any) -> Iterator[str]:
    with suppress(EOFError, OSError):
        while pipe.poll(1.0):
            if isinstance(text := pipe.recv(), str):
                yield text


# Lines of the report.


def runs(turns: Sequence[Turn]) -> Iterator[dict[str, Any]]:
    """Describe the runs: each lasts from the first query of any client to the last answer."""
    for run in sorted({turn.run for turn in turns}):
        run_turns = [turn for turn in turns if turn.run == run and turn.queries]
        began, ended = min(turn.begins[0] for turn in run_turns), max(turn.ends[-1] for turn in run_turns)
        queries = sum(len(turn.queries) for turn in run_turns)
        yield {"run": run, "queries": queries, "seconds": ended - began, "cpu": sum(turn.cpu for turn in run_turns)}


def intervals(turns: Sequence[Turn]) -> Iterator[dict[str, Any]]:
    """Describe the intervals: by client and second, since the first query."""
    busy_turns = [turn for turn in turns if turn.queries]
    first, last = min(turn.begins[0] for turn in busy_turns), max(turn.ends[-1] for turn in busy_turns)
    times: dict[tuple[int, int], list[float]] = {}
    for turn in busy_turns:
        for begin, end in zip(turn.begins, turn.ends, strict=True):
            times.setdefault((int(end - first), turn.client), []).append(end - begin)
    for (second, client), seconds in sorted(times.items()):
        interval = min(1.0, last - first - second)
        yield {"client": client, "second": second + interval, "interval": interval, "operations": len(seconds),
               "longest": max(seconds)}  # fmt: skip


def histogram(turns: Sequence[Turn]) -> dict[str, Any]:
    """Describe the histogram, in the buckets of all clients."""
    import numpy as np

    seconds = np.concatenate([np.subtract(turn.ends, turn.begins) for turn in turns])
    buckets = np.floor(np.log2(np.maximum(seconds * 1e6, 1)) * PER_DOUBLING).astype(int)
    counts: Mapping[int, int] = Counter(buckets.tolist())
    return {"count": len(seconds), "seconds": float(seconds.sum()), "longest": float(seconds.max()),
            "buckets": sorted(counts.items())}  # fmt: skip


def answers(turns: Sequence[Turn], run: int, queries: int) -> list[Sequence[int]]:
    """Give the answers of a run, by query."""
    answered: list[Sequence[int]] = [()] * queries
    for turn in turns:
        if turn.run == run:
            for query, ids in zip(turn.queries, turn.answers, strict=True):
                answered[query] = ids
    return answered


class Recall(NamedTuple):
    by_distance: float
    by_distance_p5: float
    by_id: float
    by_id_p5: float
    short: int  # answers with fewer than k different ids

    @classmethod
    def of(cls, answers: Sequence[Sequence[int]], dataset: Dataset, k: int) -> Recall:
        """Compare the answers of all queries, in their order, with the true neighbours."""
        import numpy as np

        near = np.array([_by_distance(answer, query, dataset, k) for query, answer in enumerate(answers)])
        true_ids = [set(line[:k].tolist()) for line in dataset.neighbours]
        same = np.array([len(set(answer) & true_ids[query]) / k for query, answer in enumerate(answers)])
        short = sum(len(set(answer)) < k for answer in answers)
        low_near, low_same = (float(np.percentile(shares, LOW)) for shares in (near, same))
        return cls(float(near.mean()), low_near, float(same.mean()), low_same, short)


def _by_distance(answer: Sequence[int], query: int, dataset: Dataset, k: int) -> float:
    """Count answers that are as near as the k-th true one; an id that comes twice is one answer."""
    ids = sorted(set(answer))
    if not ids:
        return 0.0
    answered = distances(dataset.rows[ids], dataset.queries[query], dataset.distance)
    return float((answered <= dataset.distances[query, k - 1] + TOLERANCE).sum()) / k
