"""A client of the insert benchmark as one writes it in Python. Its rows and batches are those of ours."""

from __future__ import annotations

import base64
import os
import random
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

INSERT = "INSERT INTO {table} (dateandtime,cashregisterid,customerid,productid,price,data) VALUES "


def row(when: str) -> str:
    size = random.randint(10, 20)
    noise = base64.b64encode(os.urandom(size)).decode()[: (size + 1) // 2]
    data = noise + "a" * (size - len(noise))
    return (
        f"('{when}',{random.randrange(1000)},{random.randrange(100000)},{random.randrange(10000)},"
        f"{random.randrange(500)},'{data}')"
    )


def insert(asked: Mapping[str, Any], send: Callable[[str, tuple[int, ...]], None]) -> int:
    head, done = INSERT.format(table=asked["table"]), 0
    while done < asked["rows"]:
        when = datetime.now().strftime("%Y-%m-%d %H:%M:%S")
        send(head + ",".join([row(when) for _ in range(asked["rows_per_commit"])]), ())
        done += int(asked["rows_per_commit"])
    return done


def query(asked: Mapping[str, Any], send: Callable[[str, tuple[int, ...]], None]) -> int:
    ends, done = time.monotonic() + asked["seconds"], 0
    while time.monotonic() < ends:
        sql, values = random.choice(asked["queries"])
        send(sql, (random.randrange(values),))
        done += 1
    return done


def loop(asked: Mapping[str, Any], cursor: Any) -> int:
    def send(sql: str, values: tuple[int, ...]) -> None:
        cursor.execute(sql, values or None)
        if values:
            cursor.fetchall()

    return (insert if asked["action"] == "insert" else query)(asked, send)


if __name__ == "__main__":
    from bench.python_client import main

    main(loop)
