"""The bench of the insert benchmark's client: what its Python client sends, and how its rounds are judged."""

import re

import pytest

from bench import client_rounds, insert_client, insert_python
from bench.client_arms import Cost

ROW = re.compile(r"\('2020-01-01 00:00:00',\d{1,3},\d{1,5},\d{1,4},\d{1,3},'[A-Za-z0-9+/=]{10,20}'\)")


def test_rows_of_the_python_client_are_those_of_the_insert_benchmark():
    rows = [insert_python.row("2020-01-01 00:00:00") for _ in range(1000)]
    assert all(map(ROW.fullmatch, rows))
    assert len(set(rows)) == 1000


def rounds(ours, python, bare, count=6):
    return [{"ours": Cost(ours, 1.0, 9), "python": Cost(python, 1.0, 9), "bare": Cost(bare, 1.0, 9)}] * count


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (rounds(1.0, 4.0, 1.0), "4.000 [4.000, 4.000]; at least 4\n"),
        (rounds(1.0, 3.9, 1.0), "3.900 [3.900, 3.900]; not at least 4\n"),
        (rounds(1.0, 9.0, 1.0, 5), "9.000 [too few pairs]; not at least 4\n"),
        (rounds(1.6, 9.0, 1.0), "1.300 [1.300, 1.300]; at most 1.3\n"),
        (rounds(1.7, 9.0, 1.0), "1.350 [1.350, 1.350]; not at most 1.3\n"),
    ],
)
def test_an_interval_decides(made, said, capsys):
    held = client_rounds.judged("row", made, insert_client.LIMITS)
    assert said in capsys.readouterr().out
    assert held is ("not" not in said and made[0]["python"].user >= 4)
