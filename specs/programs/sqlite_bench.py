"""SQLite by Python's own module: fills a table, changes rows in short transactions, reads rows by an index.

    python3 sqlite_bench.py load FILE --rows 200000 --seed 1
    python3 sqlite_bench.py commits FILE --rows 200000 --seed 2 --seconds 1 --journal wal --synchronous full
    python3 sqlite_bench.py lookups FILE --rows 200000 --seed 3 --seconds 1 --cache 2048

It prints its figures, one on a line, and needs nothing but Python.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence

ROWS_OF_A_TRANSACTION = 10
ROWS_OF_A_LOOKUP = 100  # on average
KEYS = 2**40
PAYLOAD = 200  # bytes of a row
WARMUP = 0.2  # of the seconds: the page cache of a new connection is empty


def main() -> None:
    args = parse()
    connection = sqlite3.connect(args.file, isolation_level=None)
    print("sqlite:", sqlite3.sqlite_version)
    try:
        {"load": load, "commits": commits, "lookups": lookups}[args.step](connection, args)
    finally:
        connection.close()


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="SQLite by Python's own module")
    parser.add_argument("step", choices=("load", "commits", "lookups"))
    parser.add_argument("file")
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--journal", default="delete", choices=("delete", "wal"))
    parser.add_argument("--synchronous", default="full", choices=("off", "normal", "full"))
    parser.add_argument("--cache", type=int, default=2048, help="KiB of SQLite's own page cache")
    return parser.parse_args()


def load(connection: sqlite3.Connection, args: argparse.Namespace) -> None:
    """The key of the index is random: neighbours in it lie far apart in the table."""
    values = random.Random(args.seed)
    rows = ((n, values.randrange(KEYS), bytes(PAYLOAD)) for n in range(args.rows))
    connection.execute("create table t (id integer primary key, k integer, payload blob)")
    connection.execute("begin")
    connection.executemany("insert into t values (?, ?, ?)", rows)
    connection.execute("create index t_k on t (k)")
    connection.execute("commit")


def commits(connection: sqlite3.Connection, args: argparse.Namespace) -> None:
    configure(connection, args)
    values = random.Random(args.seed)

    def transaction() -> None:
        connection.execute("begin immediate")
        for _ in range(ROWS_OF_A_TRANSACTION):
            change = (values.randbytes(PAYLOAD), values.randrange(args.rows))
            connection.execute("update t set payload = ? where id = ?", change)
        connection.execute("commit")

    measure(transaction, args.seconds)


def lookups(connection: sqlite3.Connection, args: argparse.Namespace) -> None:
    configure(connection, args)
    values = random.Random(args.seed)
    query = "select sum(length(payload)) from t indexed by t_k where k between ? and ?"
    width = KEYS * ROWS_OF_A_LOOKUP // args.rows

    def lookup() -> None:
        first = values.randrange(KEYS)
        connection.execute(query, (first, first + width)).fetchone()

    measure(lookup, args.seconds)


def configure(connection: sqlite3.Connection, args: argparse.Namespace) -> None:
    """SQLite answers a pragma that it does not obey with the mode that stays."""
    mode = connection.execute(f"pragma journal_mode = {args.journal}").fetchone()[0]
    if mode != args.journal:
        sys.exit(f"journal mode: asked for {args.journal}, SQLite keeps {mode}")
    connection.execute(f"pragma synchronous = {args.synchronous}")
    connection.execute(f"pragma cache_size = -{args.cache}")


def measure(operation: Callable[[], None], seconds: float) -> None:
    repeat(operation, seconds * WARMUP)
    took, elapsed = repeat(operation, seconds)
    took.sort()
    print(f"operations: {len(took)}")
    print(f"operations per second: {len(took) / elapsed:.3f}")
    print(f"median: {percentile(took, 0.50):.3f} us")
    print(f"99th percentile: {percentile(took, 0.99):.3f} us")


def repeat(operation: Callable[[], None], seconds: float) -> tuple[list[float], float]:
    """The time of each, and of all of them."""
    took: list[float] = []
    began = before = time.perf_counter()
    while before - began < seconds:
        operation()
        now = time.perf_counter()
        took.append(now - before)
        before = now
    return took, before - began


def percentile(ordered: Sequence[float], share: float) -> float:
    return 1e6 * ordered[min(int(share * len(ordered)), len(ordered) - 1)]


if __name__ == "__main__":
    main()
