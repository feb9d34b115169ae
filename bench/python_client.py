"""What straightforward clients in Python share: a connection, and the CPU seconds of their loop without their start."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

Loop = Callable[[Mapping[str, Any], Any], int]  # of the request and a cursor: what it has done


def main(loop: Loop) -> None:
    """`python CLIENT REQUEST`, a file of JSON. It prints what it did."""
    asked = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    cursor = _cursor(asked)
    before = resource.getrusage(resource.RUSAGE_SELF)
    done = loop(asked, cursor)
    after = resource.getrusage(resource.RUSAGE_SELF)
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    print(json.dumps({"done": done, "user": user, "system": system}))


def _cursor(asked: Mapping[str, Any]) -> Any:
    """Of a connection in autocommit; PostgreSQL's prepares what it gets with parameters."""
    if asked["server"] == "postgres":
        import psycopg

        return psycopg.connect(**asked["connection"], autocommit=True, prepare_threshold=0).cursor()
    driver: Any = import_module("MySQLdb")  # mysqlclient: of this bench alone, without types
    return driver.connect(**asked["connection"], autocommit=True).cursor()
