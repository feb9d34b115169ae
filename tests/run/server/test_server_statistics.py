from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from stepgrid.plugins.server import ObjectSize, ServerStatistics, StatisticsReader
from stepgrid.run.attempt import AFTER, BEFORE
from stepgrid.run.server import keep_statistics
from stepgrid.run.server_process import Server


class Engine:
    def __init__(self, looks: Sequence[StatisticsReader]) -> None:
        self._looks, self.closed = looks, 0

    def connect(self, _access: object) -> Engine:
        return self

    def close(self) -> None:
        self.closed += 1

    def looks(self, _connection: object) -> Sequence[StatisticsReader]:
        return self._looks


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(cast(Any, None), tmp_path / "server", cast(Any, None), tmp_path)


@pytest.fixture
def step(tmp_path: Path) -> Path:
    folder = tmp_path / "0-read"
    folder.mkdir()
    return folder


Keep = Callable[..., dict[str, Any]]


@pytest.fixture
def keep(server: Server, step: Path) -> Keep:
    def kept(engine: Engine, when: str = BEFORE) -> dict[str, Any]:
        keep_statistics(cast(Any, engine), server, step, when)
        found: dict[str, Any] = json.loads((step / "statistics" / f"{when}.json").read_text())
        return {name: value for name, value in found.items() if name != "seconds"}

    return kept


def test_what_is_kept(keep: Keep, step: Path) -> None:
    tables = StatisticsReader("tables", lambda: ServerStatistics(sizes={"data_bytes": 9.0}, text="t\n"))
    engine = Engine(
        [tables, StatisticsReader("status", lambda: ServerStatistics({"Questions": 7.0}, {"Threads_running": 1.0}))]
    )
    assert keep(engine) == {
        "counters": {"Questions": 7.0},
        "gauges": {"Threads_running": 1.0},
        "sizes": {"data_bytes": 9.0},
        "garbage": {},
        "work": {},
        "state": {},
        "objects": [],
        "refused": {},
    }
    assert [path.name for path in (step / "statistics" / "before").iterdir()] == ["tables.txt"]
    assert engine.closed == 1


def test_rows_of_tables_and_levels_are_kept_without_what_is_not_known(keep: Keep) -> None:
    told = ServerStatistics(objects=[ObjectSize("d", "t", bytes=8.0)], levels=[{"level": "L0", "files": 1.0}])
    found = keep(Engine([StatisticsReader("tables", lambda: told)]))
    assert found["objects"] == [{"schema_name": "d", "table_name": "t", "bytes": 8.0}]
    assert found["levels"] == [{"level": "L0", "files": 1.0}]


def test_what_a_step_has_left_is_not_read_before_it(keep: Keep) -> None:
    engine = Engine([StatisticsReader("left", lambda: ServerStatistics(garbage={"dead_rows": 3.0}), after_only=True)])
    assert keep(engine)["garbage"] == {}
    assert keep(engine, AFTER)["garbage"] == {"dead_rows": 3.0}


def test_a_view_that_is_missing_is_said_once(keep: Keep, server: Server, step: Path) -> None:
    def lack() -> ServerStatistics:
        raise LookupError("the server has no view `tombs`")

    engine = Engine([StatisticsReader("tombs", lack)])
    keep(engine)
    assert keep(engine, AFTER)["refused"] == {"tombs": "the server has no view `tombs`"}
    assert server.warnings == ["the server has no view `tombs`"]


def test_after_a_step_they_are_read_in_the_opposite_order(keep: Keep) -> None:
    order: list[str] = []

    def look(name: str) -> StatisticsReader:
        def read() -> ServerStatistics:
            order.append(name)
            return ServerStatistics()

        return StatisticsReader(name, read)

    engine = Engine([look("tables"), look("status")])
    keep(engine)
    keep(engine, AFTER)
    assert order == ["tables", "status", "status", "tables"]


def test_what_cannot_be_read_is_a_warning(keep: Keep, server: Server) -> None:
    def fail() -> ServerStatistics:
        raise RuntimeError(1142, "SELECT command denied\n  to you")

    assert keep(
        Engine([StatisticsReader("status", fail), StatisticsReader("b", lambda: ServerStatistics({"x": 1.0}))])
    )["counters"] == {"x": 1.0}
    assert server.warnings == [
        "read: the server's status before it could not be read: SELECT command denied to you",
    ]


def test_a_server_that_lets_nobody_in(keep: Keep, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_access: object) -> Engine:
        raise ConnectionError("Too many connections")

    engine = Engine([])
    monkeypatch.setattr(engine, "connect", refuse)
    assert keep(engine, AFTER)["counters"] == {}
    assert server.warnings == ["read: the server's statistics after it could not be read: Too many connections"]


def test_a_server_that_does_not_answer(keep: Keep, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPGRID_STATISTICS", "1")
    over = threading.Event()

    def hang() -> ServerStatistics:
        over.wait()
        return ServerStatistics()

    keep(Engine([StatisticsReader("status", lambda: ServerStatistics({"x": 1.0})), StatisticsReader("tables", hang)]))
    assert server.warnings == [
        "read: the server's statistics before it could not be read: it did not answer within 1 s",
    ]
    over.set()
