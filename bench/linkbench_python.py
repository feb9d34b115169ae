"""A client of LinkBench as one writes it in Python: ids by Zipf, data of a link drawn letter by letter, a cursor."""

from __future__ import annotations

import random
import string
import time
from collections.abc import Callable, Mapping
from typing import Any

FIRST_TYPE, TYPES = 123_456_789, 2
COLUMNS = "id1, id2, link_type, visibility, data, time, version"
EXPONENTS = {"getnode": 0.625, "getlinklist": 0.8, "addlink": 0.741}
LETTERS = string.ascii_letters + string.digits
MEDIAN, SPREAD, MOST = 23, 1.0, 254  # bytes of a link's data

Act = Callable[[Any, Mapping[str, str], int], None]  # of a cursor, the statements and an id


def statements(server: str) -> Mapping[str, str]:
    """Those of ours, where servers differ: in what a row does that is there."""
    postgres = server == "postgres"
    force = "" if postgres else " FORCE INDEX (id1_type)"
    link = "ON CONFLICT DO NOTHING" if postgres else "ON DUPLICATE KEY UPDATE version = version + 1"
    count = (
        "ON CONFLICT (id, link_type) DO UPDATE SET count = counttable.count + 1, version = counttable.version + 1, "
        "time = excluded.time"
        if postgres
        else "ON DUPLICATE KEY UPDATE count = count + 1, version = version + 1, time = VALUES(time)"
    )
    return {
        "node": "SELECT id, type, version, time, data FROM nodetable WHERE id = %d",
        "list": f"SELECT {COLUMNS} FROM linktable{force} WHERE id1 = %d AND link_type = %d AND time >= 0 AND "
        "time <= 4611686018427387904 AND visibility = 1 ORDER BY time DESC LIMIT 10000 OFFSET 0",
        "link": f"INSERT INTO linktable ({COLUMNS}) VALUES (%d, %d, %d, 1, '%s', %d, 0) {link}",
        "count": f"INSERT INTO counttable (id, link_type, count, time, version) VALUES (%d, %d, 1, %d, 0) {count}",
    }


def zipf(ids: int, exponent: float) -> int:
    """By the continuous distribution, which is near enough for what it costs."""
    power = 1 - exponent
    return int((random.random() * ((ids + 1) ** power - 1) + 1) ** (1 / power))


def getnode(cursor: Any, known: Mapping[str, str], node: int) -> None:
    cursor.execute(known["node"] % node)
    cursor.fetchall()


def getlinklist(cursor: Any, known: Mapping[str, str], node: int) -> None:
    cursor.execute(known["list"] % (node, FIRST_TYPE + random.randrange(TYPES)))
    cursor.fetchall()


def addlink(cursor: Any, known: Mapping[str, str], node: int) -> None:
    kind, now = FIRST_TYPE + random.randrange(TYPES), int(time.time() * 1000)
    size = min(MOST, int(MEDIAN * random.lognormvariate(0, SPREAD) + 0.5))
    data = "".join(random.choices(LETTERS, k=size))
    cursor.execute("BEGIN")
    cursor.execute(known["link"] % (node, random.randrange(1, 1_000_000), kind, data, now))
    if cursor.rowcount == 1:
        cursor.execute(known["count"] % (node, kind, now))
    cursor.execute("COMMIT")


def loop(asked: Mapping[str, Any], cursor: Any) -> int:
    act: Act = {"getnode": getnode, "getlinklist": getlinklist, "addlink": addlink}[asked["work"]]
    known, exponent = asked["statements"], EXPONENTS[asked["work"]]
    ends, done = time.monotonic() + asked["seconds"], 0
    while time.monotonic() < ends:
        act(cursor, known, zipf(asked["ids"], exponent))
        done += 1
    return done


if __name__ == "__main__":
    from bench.python_client import main

    main(loop)
