from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stepgrid.plugins.driver import REQUEST, Context, forget_password, read_request, server_request
from stepgrid.plugins.server import Access

ACCESS = Access("mariadb", Path("/s"), Path("/s/mysqld.sock"), 3306, "u", "secret", "d", "innodb")


def _context(access: Access | None) -> Context:
    return Context({}, "1", Path("/data"), Path("/step"), 1, access)


def test_what_is_asked_comes_by_a_file_and_not_by_the_command_line(tmp_path: Path) -> None:
    made = server_request("stepgrid.drivers.sql", _context(ACCESS), {"sql": ["select 1"]}, 5.0)
    assert (made.argv, made.duration) == ((sys.executable, "-m", "stepgrid.drivers.sql"), 5.0)
    assert "secret" not in str((made.argv, made.env))
    (tmp_path / REQUEST).write_text(made.files[REQUEST])
    assert read_request(tmp_path) == (ACCESS, {"sql": ["select 1"]})


@pytest.mark.parametrize("access", [ACCESS, ACCESS._replace(host="db1", running=True)])
def test_the_password_is_not_kept(access: Access, tmp_path: Path) -> None:
    (tmp_path / REQUEST).write_text(
        server_request("stepgrid.drivers.sql", _context(access), {"sql": []}).files[REQUEST]
    )
    assert read_request(tmp_path) == (access, {"sql": []})
    assert read_request(tmp_path) == (access._replace(password=""), {"sql": []})


def test_nor_that_of_a_program_which_never_came_to_read_it(tmp_path: Path) -> None:
    (tmp_path / REQUEST).write_text(
        server_request("stepgrid.drivers.sql", _context(ACCESS), {"sql": []}).files[REQUEST]
    )
    forget_password(tmp_path)
    assert "secret" not in (tmp_path / REQUEST).read_text()
    (tmp_path / REQUEST).unlink()
    forget_password(tmp_path)


def test_it_needs_a_server() -> None:
    with pytest.raises(ValueError, match="it needs a server, and the engine of this build is none"):
        server_request("stepgrid.drivers.sql", _context(None), {})
