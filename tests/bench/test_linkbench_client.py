"""The bench of LinkBench's client: what its Python client sends."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from bench import linkbench_python

IDS, DRAWS = 1000, 20_000


class Cursor:
    """Keeps what it gets."""

    rowcount = 1

    def __init__(self) -> None:
        self.seen: list[str] = []

    def execute(self, sql: str) -> None:
        self.seen.append(sql)

    def fetchall(self) -> list[Any]:
        return []


@pytest.mark.parametrize("server", ["mariadb", "postgres"])
def test_an_addlink_is_a_transaction_that_counts_the_link(server: str) -> None:
    cursor = Cursor()
    linkbench_python.addlink(cursor, linkbench_python.statements(server), 7)
    begin, link, count, commit = cursor.seen
    assert (begin, commit) == ("BEGIN", "COMMIT")
    values = r"\(7, \d+, (123456789|123456790), 1, '[A-Za-z0-9]+', \d{13}, 0\)"
    assert re.match(rf"INSERT INTO linktable \(.*\) VALUES {values} ON", link)
    assert re.match(r"INSERT INTO counttable \(.*\) VALUES \(7, \d+, 1, \d{13}, 0\)", count)


def test_ids_are_those_of_zipf() -> None:
    random.seed(1)
    drawn = [linkbench_python.zipf(IDS, 0.8) for _ in range(DRAWS)]
    assert (min(drawn), max(drawn) <= IDS) == (1, True)
    expected = sum(rank**-0.8 for rank in range(1, 11)) / sum(rank**-0.8 for rank in range(1, IDS + 1))
    assert sum(node <= 10 for node in drawn) / DRAWS == pytest.approx(expected, rel=0.2)
