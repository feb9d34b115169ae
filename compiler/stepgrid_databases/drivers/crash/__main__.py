"""The program of a step of kind crash: a load, the end of a server or of db_bench, and what is there afterwards.

A transaction is due at a time of its own, whatever became of those before it: what waits for a server that recovers
counts from then. It writes a row and raises a counter, so that a lost row, and half a transaction, can be told. Rows
and counter belong to a session, which is one connection of a client: its first transaction makes the counter.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from stepgrid.host.disk import cut_power
from stepgrid.host.processes import supervision
from stepgrid.host.processes.signals import die_with_parent
from stepgrid.host.sampling import ProcessGroup
from stepgrid.plugins.driver import POWER, read_request
from stepgrid.plugins.registry import server_engine
from stepgrid.plugins.server import Access, Connection
from stepgrid_databases.drivers.crash import BEGINNING
from stepgrid_databases.drivers.crash.parser import TRANSACTIONS, UNANSWERED
from stepgrid_databases.drivers.db_bench.output import result_lines

TABLE = "stepgrid_crash"
COLUMNS = "session int NOT NULL, id bigint NOT NULL, n bigint NOT NULL, PRIMARY KEY (session, id)"
PAUSE = 0.02  # seconds between two attempts to connect
PATIENCE = 1800.0  # seconds for the end, and for the first answer: there may be much to write or to recover
LOGS = ("[0-9]*.log", "#rocksdb/[0-9]*.log")  # of RocksDB, alone and in a server


def main(folder: Path) -> int:
    access, request = read_request(folder)
    try:
        if access:
            crash_server(access, request, folder)
        else:
            crash_program(request, folder)
    except Exception as error:  # whatever the client's library raises is what the server said
        print(f"{BEGINNING}{error}", file=sys.stderr)
        return 1
    return 0


def report(**values: Any) -> None:
    print(json.dumps(values), flush=True)


def log_bytes(data: str) -> dict[str, int]:
    """Add up RocksDB's log; nothing for another engine."""
    files = [path.stat().st_size for pattern in LOGS for path in Path(data).glob(pattern)]
    return {"log_bytes": sum(files)} if files else {}


# A server: its clients go on where it is started again


class KnownCommit(NamedTuple):
    session: int
    id: int
    due: float
    second: float


class Load:
    """A load that clients share, on the clock of time.monotonic()."""

    def __init__(self, access: Access, request: Mapping[str, Any]) -> None:
        engine = server_engine(access.engine)
        assert engine is not None
        self.engine, self.access = engine, access
        self.rate, self.threads, self.seed = float(request["rate"]), int(request["threads"]), int(request["seed"])
        self.sql, self.rows = tuple(request["sql"]), int(request["rows"] or 1)
        self.began, self.end = 0.0, float("inf")
        self.is_down, self.is_up = threading.Event(), threading.Event()
        self.sessions = itertools.count(1)

    def connect(self) -> Connection:
        return self.engine.connect(self.access)


class LoadClient(threading.Thread):
    """A client: one transaction after the other, each when it is due, on a new connection where one has failed."""

    def __init__(self, load: Load, number: int) -> None:
        super().__init__(daemon=True)
        self.load, self.number = load, number
        self.commits: list[KnownCommit] = []
        self.unanswered: list[float] = []
        self.last_error: Exception | None = None
        self._random = random.Random(load.seed + number)
        self._connection, self._session, self._id = load.connect(), next(load.sessions), 0

    def run(self) -> None:
        load = self.load
        for count in itertools.count():
            due = load.began + (count * load.threads + self.number) / load.rate
            if due > load.end:
                return
            time.sleep(max(0.0, due - time.monotonic()))
            if not self.commit(due):
                self.unanswered.append(due)

    def commit(self, due: float) -> bool:
        """Try until the end of the load, with a new row each time: the last one may be there, and nobody said so."""
        while time.monotonic() < self.load.end:
            try:
                self.transact()
            except Exception as error:  # a lost connection, a deadlock
                self.last_error = error
                self._connect()
            else:
                self.commits.append(KnownCommit(self._session, self._id, due, time.monotonic()))
                return True
        return False

    def transact(self) -> None:
        self._id += 1
        rows = [f"({self._session}, {row}, 0)" for row in ((0, 1) if self._id == 1 else (self._id,))]
        statements = (
            "BEGIN",
            f"INSERT INTO {TABLE} VALUES {', '.join(rows)}",
            f"UPDATE {TABLE} SET n = n + 1 WHERE session = {self._session} AND id = 0",
            *(sql.replace("{id}", str(self._random.randint(1, self.load.rows))) for sql in self.load.sql),
            "COMMIT",
        )
        for statement in statements:
            self._connection.query(statement)

    def _connect(self) -> None:
        with suppress(Exception):
            self._connection.close()
        while time.monotonic() < self.load.end:
            if self.load.is_down.is_set():
                self.load.is_up.wait()
            try:
                self._connection, self._session, self._id = self.load.connect(), next(self.load.sessions), 0
                return
            except Exception as error:
                self.last_error = error
                time.sleep(PAUSE)


def crash_server(access: Access, request: Mapping[str, Any], folder: Path) -> None:
    load, pid = Load(access, request), int(request["pid"])
    clients = make_clients(load)
    if request["how"] == POWER:  # what was there before the load is not asked for
        subprocess.run(["sync", "--file-system", request["data"]], check=True)
    load.began = time.monotonic()
    for client in clients:
        client.start()
    time.sleep(float(request["before"]))
    if idle := next((client for client in clients if not client.commits), None):
        raise RuntimeError(f"a client committed nothing within {request['before']:g} s: {idle.last_error}")
    load.is_down.set()
    crash = time.monotonic()
    end_processes(pid, load.engine.stop if request["how"] == "stop" else None)
    end, is_rocksdb = time.monotonic(), access.storage_engine == "rocksdb"
    log = log_bytes(request["data"]) if is_rocksdb and request["how"] != POWER else {}  # its disk is mounted again
    report(crash=crash - load.began, end=end - load.began, **log)
    answer = await_answer(load)
    load.end = answer + float(request["after"])
    load.is_up.set()
    report(answer=answer - load.began)
    for client in clients:
        client.join()
    with (folder / TRANSACTIONS).open("w", encoding="utf-8") as file:
        for client in clients:
            file.writelines(
                f"{commit.due - load.began:.4f} {commit.second - load.began:.4f}\n" for commit in client.commits
            )
            file.writelines(f"{due - load.began:.4f} {UNANSWERED}\n" for due in client.unanswered)
    check_rows(load, clients, end)


def make_clients(load: Load) -> Sequence[LoadClient]:
    """Make the table; run the statements once, as one that is wrong never commits."""
    with closing(load.connect()) as connection:
        with suppress(Exception):  # of MySQL and MariaDB, whose tables are durable: there is no such variable
            connection.query("SET synchronous_commit = on")
        connection.query(f"DROP TABLE IF EXISTS {TABLE}")
        connection.query(f"CREATE TABLE {TABLE} ({COLUMNS})")
    clients = [LoadClient(load, number) for number in range(load.threads)]
    clients[0].transact()
    return clients


def end_processes(pid: int, number: signal.Signals | None) -> None:
    """End the server: all its processes at once, or by its signal for an orderly end."""
    if number:
        os.killpg(pid, number)
    for member in () if number else (pid, *ProcessGroup(pid).members()):
        with suppress(ProcessLookupError):
            os.kill(member, signal.SIGKILL)
    with suppress(ProcessLookupError):  # it is gone already
        if supervision.wait(pid, PATIENCE) is None:
            raise TimeoutError(f"the server did not end within {PATIENCE:g} s")


def await_answer(load: Load) -> float:
    """Ask until there is an answer; return when."""
    limit, reason = time.monotonic() + PATIENCE, "nothing"
    while time.monotonic() < limit:
        try:
            with closing(load.connect()) as connection:
                connection.query("select 1")
                return time.monotonic()
        except Exception as error:  # of each client its own
            reason = str(error)
            time.sleep(PAUSE)
    raise TimeoutError(f"the server did not answer within {PATIENCE:g} s; its client was told: {reason}")


def check_rows(load: Load, clients: Sequence[LoadClient], end: float) -> None:
    """Compare the rows with the commits that clients were told of. Only the last ones before the end may be lost."""
    commits: dict[int, set[int]] = {}
    for commit in (commit for client in clients for commit in client.commits):
        commits.setdefault(commit.session, set()).add(commit.id)
    earlier = {commit.session for client in clients for commit in client.commits if commit.second < end}
    checked = lost = 0
    with closing(load.connect()) as connection:
        for session, ids in commits.items():
            rows = connection.query(f"SELECT id, n FROM {TABLE} WHERE session = {session}")
            counts = {int(row["id"]): int(row["n"]) for row in rows}
            counter, missing = counts.pop(0, 0), ids - counts.keys()
            if counter != len(counts):
                raise ValueError(f"half a transaction: session {session} has {len(counts)} rows, counted {counter}")
            if missing and (session not in earlier or min(missing) < max(ids & counts.keys(), default=0)):
                raise ValueError(f"row {min(missing)} of session {session} is lost, and later ones are not")
            checked, lost = checked + len(ids) * (session in earlier), lost + len(missing)
    report(rows=checked, lost=lost)


# db_bench: the engine is in the program; the keys that it has said it wrote are acknowledged

_PROGRESS = re.compile(r"thread \d+: \(\d+,(\d+)\) ops and ")


class ProgramRun:
    """A run of db_bench, whose lines come with their times."""

    def __init__(self, argv: Sequence[str]) -> None:
        self._child = subprocess.Popen(
            list(argv), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", preexec_fn=die_with_parent(),
        )  # fmt: skip
        self.killed: float | None = None

    def lines(self, output: Path) -> Iterator[tuple[float, str]]:
        assert self._child.stdout is not None
        with output.open("w", encoding="utf-8") as file:
            for line in self._child.stdout:
                yield time.monotonic(), line
                file.write(line)
        status = self._child.wait()
        if status and self.killed is None:
            raise ChildProcessError(f"db_bench ended with status {status}: {line.strip()}")

    def kill(self) -> None:
        self.killed = time.monotonic()
        self._child.kill()


def crash_program(request: Mapping[str, Any], folder: Path) -> None:
    run, began, last, acknowledged = ProgramRun(request["load"]), 0.0, 0.0, 0
    timer = threading.Timer(float(request["before"]), run.kill)
    for last, line in run.lines(folder / "load.out"):
        if match := _PROGRESS.search(line):
            if not began:
                began = last
                if request["how"] != "stop":
                    timer.start()
            acknowledged = int(match[1])
            report(second=last - began, written=acknowledged)
    timer.cancel()
    if request["how"] == POWER:
        cut_power(Path(request["data"]))
    report(crash=(run.killed or last) - began, end=time.monotonic() - began, **log_bytes(request["data"]))
    pause = answer = 0.0
    for now, line in ProgramRun(request["reopen"]).lines(folder / "reopen.out"):
        result = next(result_lines(line), None)
        if result and result.name == "readrandom":
            answer = now
            report(answer=now - began)
        elif result and result.name == "readtocache":
            pause = now - answer
            count = (result.operations or 0) if " MB/s" in line else 0  # of an empty database it says 1
            report(rows=acknowledged, lost=max(0, acknowledged - count))
        elif pause and (match := _PROGRESS.search(line)):
            report(second=now - began - pause, written=int(match[1]))


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
