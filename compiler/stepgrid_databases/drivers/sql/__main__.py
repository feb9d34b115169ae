"""Runs the statements of a step or a probe, one after the other on one connection: a line of JSON for each.

With `counters` there is a line before the first and, where there are statements, one after the last.
"""

from __future__ import annotations

import json
import math
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from pathlib import Path
from threading import Event, Lock, Thread
from types import FrameType
from typing import Any, NamedTuple

from stepgrid.plugins.driver import read_request
from stepgrid.plugins.registry import server_engine
from stepgrid.plugins.server import Connection, ServerEngine, snapshot_counters
from stepgrid_databases.drivers import open_loop
from stepgrid_databases.drivers.client_report import MICROSECONDS, PER_DOUBLING, ReportFile

SHOWN = 20  # rows of an answer that are kept


class DeadlinePassed(Exception):
    """The step's time is over."""


def main(folder: Path) -> int:
    access, request = read_request(folder)
    assert access is not None
    engine = server_engine(access.engine)
    assert engine is not None
    _limit(float(request["timeout"]))
    number, sql = 0, "its clients were not ready"
    try:
        if request.get("rate"):
            _run_paced(partial(engine.connect, access), request, folder)
            return 0
        connection = engine.connect(access)
        look = partial(_look, engine, connection, request.get("counters") or ())
        look("before")
        for number, sql in enumerate(request["sql"], 1):
            _print(_run(connection, number, sql))
        if request["sql"]:
            look("after")
    except DeadlinePassed:
        begun = f"statement {number} was not through" if number else "no statement was sent"
        print(f"{begun} after {request['timeout']:g} s: {sql}", file=sys.stderr)
        return 1
    except _StatementError as error:
        print(error, file=sys.stderr)
        return 1
    except Exception as error:  # whatever the client's library raises is what the server said
        print(f"statement {number} failed: {error}\n{sql}", file=sys.stderr)
        return 1
    connection.close()
    return 0


def _run(connection: Connection, number: int, sql: str) -> dict[str, object]:
    began = time.perf_counter()
    rows = connection.query(sql)
    seconds = time.perf_counter() - began
    return {"statement": number, "seconds": seconds, "rows": len(rows), "sql": sql, "first": rows[:SHOWN]}


def _look(engine: ServerEngine, connection: Connection, names: Sequence[str], when: str) -> None:
    """Print the counters, and the names that this server lacks: another one of the sweep may have them."""
    if names:
        values = snapshot_counters(engine, connection, names)
        _print({when: dict(values.values), "missing": list(values.missing)})


def _print(line: dict[str, object]) -> None:
    print(json.dumps(line, default=str), flush=True)


def _limit(seconds: float) -> None:
    def over(_number: int, _frame: FrameType | None) -> None:
        raise DeadlinePassed

    signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)


# Statements in turn at a rate: begun when they are due, by whichever client is free


class _Answer(NamedTuple):
    statement: int
    due: float  # seconds of one clock, as the others
    began: float
    ended: float


class _Clients:
    """Threads that share a schedule: each has a connection of its own."""

    def __init__(self, statements: Sequence[str], moments: Iterator[float], last_start: float) -> None:
        self._statements, self._moments, self._last_start = statements, enumerate(moments), last_start
        self.under_way: dict[int, int] = {}  # client -> its statement
        self._lock, self._over = Lock(), Event()
        self.start = 0.0
        self.answers: list[_Answer] = []
        self.failure: tuple[int, str, Exception] | None = None

    def run(self, connection: Connection) -> None:
        while not self._over.is_set():
            with self._lock:
                number, moment = next(self._moments, (-1, 0.0))
                if number < 0:
                    return
            due = self.start + moment
            if time.perf_counter() > self.start + self._last_start:
                return
            time.sleep(max(0.0, due - time.perf_counter()))
            statement = number % len(self._statements)
            self.under_way[id(connection)] = statement
            began = time.perf_counter()
            try:
                connection.query(self._statements[statement])
            except Exception as error:  # of each client its own
                self.failure = self.failure or (statement + 1, self._statements[statement], error)
                self._over.set()
                return
            del self.under_way[id(connection)]
            self.answers.append(_Answer(statement, due, began, time.perf_counter()))


def _run_paced(connect: Callable[[], Connection], request: Mapping[str, Any], folder: Path) -> None:
    """Run for the duration, write the report; raise what the first statement that failed raised."""
    length, file = float(request["duration"]), folder / open_loop.FILE
    schedule = open_loop.parse_text(file.read_text(encoding="utf-8") if file.exists() else str(request["rate"]))

    def due() -> Iterator[float]:
        moments = open_loop.moments(schedule, request.get("arrivals"), request["seed"])
        return takewhile(lambda moment: moment < length, moments)

    due_count = sum(1 for _ in due())  # a list of all would be gigabytes
    clients = _Clients(request["sql"], due(), length + open_loop.grace(length))
    connections = _connect_all(connect, request.get("clients") or 1)
    threads = [Thread(target=clients.run, args=(connection,), daemon=True) for connection in connections]
    with ReportFile(folder) as report:
        clients.start = time.perf_counter()
        for thread in threads:
            thread.start()
        try:
            _report_intervals(report, clients, threads)
        except DeadlinePassed:
            raise _StatementError(_late_text(clients, request)) from None
        if clients.failure:
            number, sql, error = clients.failure
            raise _StatementError(f"statement {number} failed: {error}\n{sql}")
        report.write("schedule", asked=due_count, length=length, left=due_count - len(clients.answers))
        for statement, answers in sorted(_by_statement(clients.answers).items()):
            times = _distribution([answer.ended - answer.due for answer in answers])
            ends = {"began": answers[0].began, "ended": max(answer.ended for answer in answers)}
            report.write("role", operation=f"statement {statement + 1}", retries=0, **ends, **times)
        service = _distribution([answer.ended - answer.began for answer in clients.answers])
        report.write("service", operation="", left=0, **service)
    for connection in connections:
        connection.close()


class _StatementError(Exception):
    """What a server said of a statement, with the statement; or why there is no answer."""


def _connect_all(connect: Callable[[], Connection], count: int) -> list[Connection]:
    connections: list[Connection] = []
    try:
        while len(connections) < count:
            connections.append(connect())
    except DeadlinePassed:
        raise _StatementError(f"{len(connections)} of {count} clients had connected when the time was over") from None
    except Exception as error:
        raise _StatementError(f"client {len(connections) + 1} of {count} could not connect: {error}") from error
    return connections


def _late_text(clients: _Clients, request: Mapping[str, Any]) -> str:
    counts = Counter(clients.under_way.values())
    texts = (f"statement {at + 1} of {count} clients: {request['sql'][at]}" for at, count in sorted(counts.items()))
    end = f"after {request['timeout']:g} s not all statements had an answer"
    return "\n".join((f"{end}, {len(clients.answers)} had", *texts))


def _report_intervals(report: ReportFile, clients: _Clients, threads: Sequence[Thread]) -> None:
    """Count the answers of each second until all clients are done."""
    count, before = 0, 0.0
    for thread in threads:
        while thread.is_alive():
            thread.join(max(0.01, clients.start + before + 1 - time.perf_counter()))
            second = time.perf_counter() - clients.start
            if second >= before + 1:
                total = len(clients.answers)
                report.write("interval", second=second, interval=second - before, operations=total - count)
                count, before = total, second


def _by_statement(answers: Sequence[_Answer]) -> Mapping[int, list[_Answer]]:
    groups: dict[int, list[_Answer]] = defaultdict(list)
    for answer in answers:
        groups[answer.statement].append(answer)
    return groups


def _distribution(times: Sequence[float]) -> dict[str, Any]:
    buckets = Counter(int(math.log2(max(seconds * MICROSECONDS, 1.0)) * PER_DOUBLING) for seconds in times)
    longest = max(times, default=0.0)
    return {"count": len(times), "seconds": sum(times), "longest": longest, "buckets": sorted(buckets.items())}


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
