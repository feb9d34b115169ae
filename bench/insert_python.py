"""A client of the insert benchmark as one writes it in Python: `python insert_python.py REQUEST`, a file of JSON.

Its rows and batches are those of ours. It prints what it did, and the CPU seconds of its loop, its start left out.
"""

from __future__ import annotations

import base64
import json
import os
import random
import resource
import sys
import time
from collections.abc import Callable
from datetime import datetime
from importlib import import_module
from pathlib import Path
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


def insert(asked: dict[str, Any], send: Callable[[str, tuple[int, ...]], None]) -> int:
    head, done = INSERT.format(table=asked["table"]), 0
    while done < asked["rows"]:
        when = datetime.now().strftime("%Y-%m-%d %H:%M:%S")
        send(head + ",".join([row(when) for _ in range(asked["rows_per_commit"])]), ())
        done += int(asked["rows_per_commit"])
    return done


def query(asked: dict[str, Any], send: Callable[[str, tuple[int, ...]], None]) -> int:
    ends, done = time.monotonic() + asked["seconds"], 0
    while time.monotonic() < ends:
        sql, values = random.choice(asked["queries"])
        send(sql, (random.randrange(values),))
        done += 1
    return done


def sender(asked: dict[str, Any]) -> Callable[[str, tuple[int, ...]], None]:
    if asked["server"] == "postgres":
        import psycopg

        connection = psycopg.connect(**asked["connection"], autocommit=True, prepare_threshold=0)
        cursor: Any = connection.cursor()
    else:
        driver: Any = import_module("MySQLdb")  # mysqlclient: of this bench alone, without types
        cursor = driver.connect(**asked["connection"], autocommit=True).cursor()

    def send(sql: str, values: tuple[int, ...]) -> None:
        cursor.execute(sql, values or None)
        if values:
            cursor.fetchall()

    return send


def main() -> None:
    asked = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    send = sender(asked)
    before = resource.getrusage(resource.RUSAGE_SELF)
    done = (insert if asked["action"] == "insert" else query)(asked, send)
    after = resource.getrusage(resource.RUSAGE_SELF)
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    print(json.dumps({"done": done, "user": user, "system": system}))


if __name__ == "__main__":
    main()
