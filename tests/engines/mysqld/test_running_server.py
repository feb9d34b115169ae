"""What MySQL 8.0.40 and MariaDB 11.8.6 say of themselves, of more rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stepgrid.engines.mysqld import running_server
from stepgrid.plugins.engine import IdentityError
from stepgrid.plugins.server import ServerStart
from tests.engines.told import Told


def _variables(**values: str) -> dict[str, list[Any]]:
    return {"show global variables": [{"Variable_name": name, "Value": value} for name, value in values.items()]}


MYSQL = _variables(
    version="8.0.40-debug",
    version_comment="Source distribution",
    version_compile_os="Linux",
    version_compile_machine="x86_64",
    innodb_buffer_pool_size="134217728",
)
MARIADB = _variables(version="11.8.6-MariaDB-0+deb13u1-log", version_comment="Debian n/a")


def test_what_it_is() -> None:
    found = running_server.described(Told(MYSQL), "mysql")
    assert (found.identity.version, found.identity.assertions) == ("8.0.40", True)
    assert found.identity.warnings == ("this is a debug build: assertions and checks make it slow",)
    assert found.identity.facts == {"said": "8.0.40-debug Source distribution", "for": "Linux on x86_64"}
    option = found.options["innodb_buffer_pool_size"]
    assert (option.type, option.default) == ("", "134217728")
    maria = running_server.described(Told(MARIADB), "mariadb").identity
    assert (maria.version, maria.warnings, maria.assertions) == ("11.8.6", (), False)


@pytest.mark.parametrize(
    ("variables", "engine", "said"),
    [
        (MYSQL, "mariadb", "it is MySQL 8.0.40-debug, and the build's engine is mariadb"),
        (MARIADB, "mysql", "it is MariaDB 11.8.6-MariaDB-0+deb13u1-log, and the build's engine is mysql"),
        ({}, "mysql", "it is MySQL of no version, and the build's engine is mysql"),
    ],
)
def test_another_engines(variables: dict[str, list[Any]], engine: str, said: str) -> None:
    with pytest.raises(IdentityError) as caught:
        running_server.described(Told(variables), engine)
    assert str(caught.value) == said


def test_since_when_and_as_which_process(tmp_path: Path) -> None:
    def since(file: str) -> ServerStart:
        values: list[Any] = [
            {"Variable_name": "datadir", "Value": f"{tmp_path}/"},
            {"Variable_name": "pid_file", "Value": file},
        ]
        return running_server.since(Told({"Uptime": [{"Value": "77"}], "'pid_file'": values}))

    (tmp_path / "here.pid").write_text("1234\n")
    assert since("here.pid") == ServerStart(77.0, 1234, f"{tmp_path}/")
    assert since(f"{tmp_path}/here.pid").pid == 1234
    assert since("/on/another/machine.pid").pid is None
