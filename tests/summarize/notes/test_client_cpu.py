"""A client that works more than its server is named before anyone believes its rates."""

from __future__ import annotations

from stepgrid.summarize.data.points import Point
from stepgrid.summarize.notes.client_cpu import sentences
from tests.summarize import made


def point(arm: str, *cpu: tuple[float, float]) -> Point:
    return made.point(
        *(
            made.run(arm, load, 9.0, client_cpu_us_per_op=client, server_cpu_us_per_op=server)
            for load, (client, server) in enumerate(cpu)
        )
    )


def test_clients_that_used_more_than_their_server() -> None:
    points = [point("slow", (90, 50), (80, 50), (10, 50)), point("equal", (50, 50)), point("quick", (9, 50))]
    assert list(sentences([("search", ("arm",), points), ("load", ("arm",), points[1:])])) == [
        "search: the client used more CPU than its server, in µs per operation: arm=slow: 80 against 50"
    ]


def test_few_are_named_and_an_engine_without_a_server_has_no_client() -> None:
    (said,) = sentences([("search", (), [point(str(number), (2.0, 1.0)) for number in range(6)])])
    assert said.endswith(": 2 against 1, 2 against 1, 2 against 1, 2 against 1, and 2 more")
    assert list(sentences([("readww", (), [made.point(made.run("a", 0, 9.0))])])) == []
