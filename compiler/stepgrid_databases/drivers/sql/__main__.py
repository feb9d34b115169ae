"""Runs the statements of a step or a probe, one after the other on one connection: a line of JSON for each.

With `counters` there is a line before the first and, where there are statements, one after the last.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import FrameType

from stepgrid.plugins.driver import read_request
from stepgrid.plugins.registry import server_engine
from stepgrid.plugins.server import Connection, ServerEngine, snapshot_counters

SHOWN = 20  # rows of an answer that are kept


class DeadlinePassed(Exception):
    """The step's time is over."""


def main(folder: Path) -> int:
    access, request = read_request(folder)
    assert access is not None
    engine = server_engine(access.engine)
    assert engine is not None
    _limit(float(request["timeout"]))
    number, sql = 0, "(before the first)"
    try:
        connection = engine.connect(access)
        look = partial(_look, engine, connection, request.get("counters") or ())
        look("before")
        for number, sql in enumerate(request["sql"], 1):
            _print(_run(connection, number, sql))
        if request["sql"]:
            look("after")
    except DeadlinePassed:
        print(f"statement {number} was not through after {request['timeout']:g} s: {sql}", file=sys.stderr)
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


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
