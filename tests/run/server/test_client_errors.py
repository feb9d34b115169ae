from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from stepgrid.run.server_process import Server, explain_refusal


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(cast(Any, None), tmp_path / "server", cast(Any, None), tmp_path)


@pytest.mark.parametrize(
    "said",
    [
        "FATAL: error 1040: Too many connections",
        'connection to server on socket "/s" failed: FATAL:  sorry, too many clients already',
        "FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute",
        "User u already has more than 'max_user_connections' active connections",
    ],
)
def test_no_connection_is_free(said: str, server: Server, tmp_path: Path) -> None:
    (tmp_path / "stderr").write_text(f"{said}\n")
    server.folder.mkdir()
    (server.folder / "effective.json").write_text(json.dumps({"values": {"max_connections": "8"}, "differs": {}}))
    assert explain_refusal(server, tmp_path) == (
        "the server had no free connection (it has 8): raise `max_connections`, or lower the number of the "
        "step's clients"
    )


def test_its_limit_is_not_known(server: Server, tmp_path: Path) -> None:
    (tmp_path / "stdout").write_text("Too many connections\n")
    assert explain_refusal(server, tmp_path) == (
        "the server had no free connection: raise `max_connections`, or lower the number of the step's clients"
    )


def test_another_reason(server: Server, tmp_path: Path) -> None:
    (tmp_path / "stderr").write_text("ERROR 1064: You have an error in your SQL syntax\n")
    assert explain_refusal(server, tmp_path) is None
