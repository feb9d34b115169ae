"""Rows as PostgreSQL 12.22, 17.11 and 18.6 gave them: they are the same in all three."""

from __future__ import annotations

from typing import Any

import pytest

from stepgrid.engines.postgres import connection as postgres_connection
from stepgrid.engines.postgres import quiesce
from stepgrid.plugins.engines import served
from tests.engines.postgres.test_server import ACCESS
from tests.engines.told import Told

IDLE: dict[str, Any] = {
    "checkpoints": 0,
    "autovacuum": 0,
    "vacuums": 0,
    "unflushed": 0,
    "since_checkpoint": 208,
    "most": 1073741824,
}
BUSY = {**IDLE, "checkpoints": 1, "unflushed": 32, "since_checkpoint": 81572872}


def answers(row: dict[str, Any], due: int) -> Told:
    return Told({"pg_stat_activity": [row], "AS due": [{"due": due}], "CHECKPOINT": []})


def test_an_idle_server() -> None:
    postgres = served("postgres")
    assert postgres is not None
    assert all(seen.idle for seen in postgres.busy(answers(IDLE, 0), ACCESS))


def test_a_busy_server_says_with_what() -> None:
    seen = quiesce.busy(answers({**BUSY, "autovacuum": 2, "vacuums": 3}, 4), ACCESS)
    assert [(thing.what, thing.value) for thing in seen if not thing.idle] == [
        ("checkpoints", 1),
        ("autovacuum workers", 2),
        ("vacuums", 3),
        ("tables due for autovacuum", 4),
    ]


def test_a_log_that_the_next_checkpoint_is_far_from_is_nothing_to_wait_for() -> None:
    """A log that is written and not flushed is: less than a page of it is not."""
    small, large = ({**IDLE, "unflushed": size, "since_checkpoint": size} for size in (4096, 2 * 1073741824))
    assert all(seen.idle for seen in quiesce.busy(answers(small, 0), ACCESS))
    unlike = [seen.what for seen in quiesce.busy(answers(large, 0), ACCESS) if not seen.idle]
    assert unlike == ["log not flushed", "log since the checkpoint"]


def test_settling_is_a_checkpoint() -> None:
    connection = Told({})
    with quiesce.settle(connection, ACCESS):
        pass
    assert connection.asked == ["CHECKPOINT"]


def test_a_server_that_ran_before_makes_its_own() -> None:
    connection = Told({})
    with quiesce.settle(connection, ACCESS._replace(running=True)):
        pass
    assert connection.asked == []


@pytest.mark.parametrize(
    ("release", "options"),
    [(110022, "ANALYZE"), (120022, "ANALYZE, INDEX_CLEANUP ON"), (180006, "ANALYZE, INDEX_CLEANUP ON")],
)
def test_all_tables_are_vacuumed(release: int, options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    others = Told({})
    monkeypatch.setattr(postgres_connection, "connect", lambda access: others)
    tables = [{"name": "public.t"}, {"name": 's."T 1"'}]
    quiesce.analyze(Told({"server_version_num": [{"release": release}], "pg_class": tables}), ACCESS)
    assert sorted(others.asked) == [f"VACUUM ({options}) public.t", f'VACUUM ({options}) s."T 1"']
