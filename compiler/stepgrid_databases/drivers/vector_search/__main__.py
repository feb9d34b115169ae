"""The client of a step: loads, indexes or searches vectors, and reports what it did.

Queries are sent by processes of their own, one for each connection. Their report has rates, latency and recall."""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from multiprocessing import connection
from pathlib import Path
from pkgutil import resolve_name
from threading import BrokenBarrierError
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from msgspec import Struct

from stepgrid.plugins.driver import read_request
from stepgrid.plugins.registry import engine
from stepgrid_databases.drivers import open_loop
from stepgrid_databases.drivers.client_report import PER_DOUBLING, ReportFile
from stepgrid_databases.drivers.vector_search import datasets, failure
from stepgrid_databases.vectors import IndexPlan, SearchPlan, VectorEngine, VectorError

if TYPE_CHECKING:
    from stepgrid.plugins.server import Access
    from stepgrid_databases.drivers.vector_search.datasets import Dataset, Vectors
    from stepgrid_databases.vectors import Searcher, VectorServer

    Action: TypeAlias = Callable[[Access, Dataset, Mapping[str, Any], ReportFile], None]

FORK = multiprocessing.get_context("fork")  # the queries are there already
OTHER = "another client ended"
OPEN = 120.0  # seconds for all clients to connect, to encode and to end what was sent last
TOLERANCE = 1e-3  # that a distance may be above the k-th true one, as published
LOW = 5  # the percentile of queries
INTERVAL = 1.0  # seconds of a load that a line is about
OTHER_TABLE = (
    "the table has {rows:,} vectors of {dimensions} dimensions, the data set has {wanted:,} of {wide}: load it first"
)
NOT_INDEXED = (
    "the search does not use the index, its plan is: {plan}. PostgreSQL prefers a scan where the table is small or "
    "ef_search is large (`enable_seqscan: off`); `exact: true` searches without the index"
)
INDEXED = "the exact search uses the index, its plan is: {plan}"


def main(folder: Path) -> int:
    access, request = read_request(folder)
    assert access is not None
    settings, file = {**request["settings"], "seed": request.get("seed", 0)}, request["file"]
    try:
        with ReportFile(folder) as report:
            dataset = datasets.get(settings["dataset"], Path(file) if file else None, Path(request["cache"]))
            report.write(
                "dataset",
                checksum=dataset.checksum,
                rows=len(dataset.rows),
                dimensions=dataset.dimensions,
                queries=len(dataset.queries),
                distance=dataset.distance,
            )
            ACTIONS[settings["action"]](access, dataset, settings, report)
    except Exception as error:  # whatever the server's library raises is what the server said
        print(failure(error), file=sys.stderr)
        return 1
    return 0


def connect(access: Access) -> VectorServer:
    plugin: object = engine(access.engine)
    if not isinstance(plugin, VectorEngine):
        raise VectorError(f"the engine {access.engine} has no vectors")
    server: VectorServer = resolve_name(plugin.vector_server)(access)
    return server


def _load(access: Access, dataset: Dataset, settings: Mapping[str, Any], report: ReportFile) -> None:
    server = connect(access)
    server.create(dataset.dimensions, settings["element"] or "vector", settings["table_options"])
    began = last = time.monotonic()
    used, reported, inserted = time.process_time(), 0, 0
    for inserted in server.insert(dataset.rows):
        now = time.monotonic()
        if now - last >= INTERVAL:
            report.write("interval", second=now - began, interval=now - last, operations=inserted - reported)
            reported, last = inserted, now
    report.write("loaded", rows=inserted, seconds=time.monotonic() - began, cpu=time.process_time() - used)
    server.close()


def _index(access: Access, dataset: Dataset, settings: Mapping[str, Any], report: ReportFile) -> None:
    server = connect(access)
    _check_table(server, dataset)
    names = ("method", "element", "m", "ef_construction", "lists")
    plan = IndexPlan(dataset.distance, **{name: settings[name] for name in names})
    began, used = time.monotonic(), time.process_time()
    messages = server.index(plan)
    spent = {"seconds": time.monotonic() - began, "cpu": time.process_time() - used}
    size = server.index_size()
    report.write("index", rows=len(dataset.rows), **spent, bytes=size.bytes, settings=size.settings, said=messages)
    server.close()


def _search(access: Access, dataset: Dataset, settings: Mapping[str, Any], report: ReportFile) -> None:
    server = connect(access)
    _check_table(server, dataset)
    names = ("k", "exact", "ef_search", "probes")
    plan = SearchPlan(dataset.distance, **{name: settings[name] for name in names})
    _check_plan(server, plan, dataset, report)
    import numpy as np

    moments, count = [], len(dataset.queries)
    if settings.get("rate"):
        schedule = [(0.0, settings["rate"])]
        moments = list(islice(open_loop.moments(schedule, settings.get("arrivals"), settings["seed"]), count))
    send = partial(_send_queries, partial(server.searcher, plan), dataset.queries)
    turns = list(send(settings["runs"], settings["clients"], moments))
    for line in _describe_runs(turns):
        report.write("run", **line)
    for line in _describe_intervals(turns):
        report.write("interval", **line)
    sent = [np.subtract(turn.ends, turn.begins) for turn in turns]
    report.write("histogram", **_describe_latencies([np.subtract(turn.ends, turn.due) for turn in turns]))
    if moments:
        report.write("service", operation="", left=0, **_describe_latencies(sent))
    answers: list[Sequence[int]] = [()] * len(dataset.queries)
    for turn in turns:
        if turn.run == settings["runs"] - 1:  # the last run, as published
            for query, ids in zip(turn.queries, turn.answers, strict=True):
                answers[query] = ids
    report.write("recall", **Recall.of(answers, dataset, plan.k)._asdict())
    server.close()


def _check_table(server: VectorServer, dataset: Dataset) -> None:
    table = server.table()
    if table != (len(dataset.rows), dataset.dimensions):
        wanted = {"wanted": len(dataset.rows), "wide": dataset.dimensions}
        raise VectorError(OTHER_TABLE.format(**table._asdict(), **wanted))


def _check_plan(server: VectorServer, plan: SearchPlan, dataset: Dataset, report: ReportFile) -> None:
    """Check the plan of a connection that is like those that search."""
    searcher = server.searcher(plan)
    text, indexed = searcher.explain(dataset.queries[0])
    searcher.close()
    report.write("plan", text=text, indexed=indexed)
    if indexed == plan.exact:
        raise VectorError((INDEXED if indexed else NOT_INDEXED).format(plan=text))


# Queries, by processes of their own.


class Turn(Struct, frozen=True):
    """Queries that one client sent in one run."""

    client: int
    run: int
    queries: Sequence[int]
    begins: Sequence[float]  # of each query, by the monotonic clock of the machine
    due: Sequence[float]  # when it was to begin; without a rate, when it did
    ends: Sequence[float]
    cpu: float  # seconds of this process
    answers: Sequence[Sequence[int]]


class SharedState(NamedTuple):
    barrier: Any  # of all clients, before each run
    next_queries: Sequence[Any]  # a counter for each run
    starts: Sequence[Any]  # of each run, by its first query
    moments: Sequence[float]  # of the queries, since their run's start; empty without a rate


def _send_queries(
    open_one: Callable[[], Searcher], queries: Vectors, runs: int, clients: int, moments: Sequence[float] = ()
) -> Iterator[Turn]:
    """Send all queries `runs` times; a client that is free sends the next one, when it is due."""
    counters, starts = ([FORK.Value(code, 0) for _ in range(runs)] for code in ("q", "d"))
    shared = SharedState(FORK.Barrier(clients), counters, starts, moments)
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
        for run in range(len(shared.next_queries)):
            shared.barrier.wait(OPEN if run == 0 else None)
            pipe.send(_turn(number, run, searcher, requests, shared))
        searcher.close()
    except BrokenBarrierError:
        pipe.send(OTHER)
    except Exception as error:  # whatever the client's library raises is what the server said
        shared.barrier.abort()
        pipe.send(str(error) or type(error).__name__)


def _turn(number: int, run: int, searcher: Searcher, requests: Sequence[bytes], shared: SharedState) -> Turn:
    """Send queries until none is left: between two of them a counter is raised and the clock is read, no more."""
    sent, begins, ends, due, replies = list[int](), list[float](), list[float](), list[float](), list[Any]()
    clock, send, count = time.perf_counter, searcher.search, len(requests)
    start, moments = shared.starts[run], shared.moments
    lock, next_query = shared.next_queries[run].get_lock(), shared.next_queries[run].get_obj()
    used = time.process_time()
    while True:
        with lock:
            query = next_query.value
            next_query.value = query + 1
            if query == 0:
                start.value = clock()
        if query >= count:
            break
        if moments:
            due.append(start.value + moments[query])
            time.sleep(max(0.0, due[-1] - clock()))
        begins.append(clock())
        replies.append(send(requests[query]))
        ends.append(clock())
        sent.append(query)
    used = time.process_time() - used
    return Turn(number, run, sent, begins, due or begins, ends, used, [list(searcher.ids(reply)) for reply in replies])


def _collected(clients_and_pipes: Sequence[tuple[Any, Any]], runs: int) -> Iterator[Turn]:
    """Yield turns as they come; VectorError as soon as a client fails."""
    pending = {pipe: (process, runs) for process, pipe in clients_and_pipes}
    while pending:
        for pipe in connection.wait(list(pending)):
            process, runs_left = pending.pop(pipe)
            yield _received(pipe, process, clients_and_pipes)
            if runs_left > 1:
                pending[pipe] = process, runs_left - 1


def _received(pipe: Any, process: Any, clients_and_pipes: Sequence[tuple[Any, Any]]) -> Turn:
    """Receive a turn; VectorError has the message of the first client that failed by itself."""
    try:
        received = pipe.recv()
    except EOFError:
        process.join()
        raise VectorError(f"a client ended with exit status {process.exitcode}") from None
    if isinstance(received, Turn):
        return received
    messages = (text for _, other in clients_and_pipes if other is not pipe for text in _texts(other))
    raise VectorError(next((text for text in (received, *messages) if text != OTHER), received))


def _texts(pipe: Any) -> Iterator[str]:
    with suppress(EOFError, OSError):
        while pipe.poll(1.0):
            if isinstance(text := pipe.recv(), str):
                yield text


# Lines of the report.


def _describe_runs(turns: Sequence[Turn]) -> Iterator[dict[str, Any]]:
    """Describe runs: each lasts from the first query of any client to the last answer."""
    for run in sorted({turn.run for turn in turns}):
        run_turns = [turn for turn in turns if turn.run == run and turn.queries]
        began, ended = min(turn.begins[0] for turn in run_turns), max(turn.ends[-1] for turn in run_turns)
        queries = sum(len(turn.queries) for turn in run_turns)
        yield {"run": run, "queries": queries, "seconds": ended - began, "cpu": sum(turn.cpu for turn in run_turns)}


def _describe_intervals(turns: Sequence[Turn]) -> Iterator[dict[str, Any]]:
    """Describe intervals: by client and second, since the first query."""
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


def _describe_latencies(times: Sequence[Any]) -> dict[str, Any]:
    """Describe the latencies of all clients by their histogram."""
    import numpy as np

    seconds = np.concatenate(times)
    buckets = np.floor(np.log2(np.maximum(seconds * 1e6, 1)) * PER_DOUBLING).astype(int)
    counts: Mapping[int, int] = Counter(buckets.tolist())
    return {"count": len(seconds), "seconds": float(seconds.sum()), "longest": float(seconds.max()),
            "buckets": sorted(counts.items())}  # fmt: skip


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
    answered = datasets.distances(dataset.rows[ids], dataset.queries[query], dataset.distance)
    return float((answered <= dataset.distances[query, k - 1] + TOLERANCE).sum()) / k


ACTIONS: Mapping[str, Action] = {"load": _load, "index": _index, "search": _search}


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
