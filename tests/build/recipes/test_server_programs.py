import subprocess
from pathlib import Path

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.ready_programs import find_server_programs, make_startable
from stepgrid.build.record import absolute
from stepgrid.plugins.registry import require_builder
from tests.build.ordering import order


def there(prefix: Path, *places: str) -> Path:
    for place in places:
        (prefix / place).parent.mkdir(parents=True, exist_ok=True)
        (prefix / place).touch()
    return prefix


def test_a_wrapper_elsewhere_is_not_taken_for_the_client(tmp_path: Path):
    own = "usr/lib/postgresql/17/bin"
    prefix = there(tmp_path, *(f"{own}/{name}" for name in ("postgres", "initdb", "pg_ctl", "psql")), "usr/bin/psql")
    found = find_server_programs(prefix, require_builder("postgres"), "debian postgresql-17 (trixie)")
    assert {name: str(path.relative_to(prefix)) for name, path in found.items()} == {
        name: f"{own}/{name}" for name in ("postgres", "initdb", "pg_ctl", "psql")
    }


def test_clients_are_elsewhere_than_the_server(tmp_path: Path):
    found = find_server_programs(there(tmp_path, "usr/sbin/mysqld", "usr/bin/mysql"), require_builder("mysql"), "x")
    assert found == {"mysqld": tmp_path / "usr/sbin/mysqld", "mysql": tmp_path / "usr/bin/mysql"}


def test_names_of_before_mariadb_10_5(tmp_path: Path):
    found = find_server_programs(there(tmp_path, "bin/mysqld", "bin/mysql"), require_builder("mariadb"), "x")
    assert found == {"mariadbd": tmp_path / "bin/mysqld", "mariadb": tmp_path / "bin/mysql"}


def test_a_link_of_merged_folders_is_no_second_place(tmp_path: Path):
    there(tmp_path, "usr/bin/sysbench")
    (tmp_path / "bin").symlink_to("usr/bin")
    assert find_server_programs(tmp_path, require_builder("sysbench"), "x") == {
        "sysbench": tmp_path / "usr/bin/sysbench"
    }


def test_a_server_that_is_not_there(tmp_path: Path):
    with pytest.raises(BuildError) as caught:
        find_server_programs(
            there(tmp_path, "usr/bin/mysql", "usr/bin/mysqladmin"),
            require_builder("mysql"),
            "debian mysql-client-core (sid)",
        )
    assert str(caught.value) == (
        "debian mysql-client-core (sid) has no program mysqld; its programs are: mysql, mysqladmin"
    )


def test_a_client_whose_libraries_lie_elsewhere_in_the_build(tmp_path: Path):
    plugins = "usr/lib/x86_64-linux-gnu/libmariadb3/plugin"
    for folder in ("prefix/bin", "prefix/share/sysbench", f"system/prefix/{plugins}"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "prefix/bin/sysbench").write_text("#!/bin/sh\necho $MARIADB_PLUGIN_DIR $LUA_PATH\n")
    (tmp_path / "prefix/bin/sysbench").chmod(0o755)
    asked, programs = order(tmp_path, {"path": "x"}, engine="sysbench"), {"sysbench": tmp_path / "prefix/bin/sysbench"}
    found = make_startable(asked, programs, "system/prefix")
    assert found.facts == {"client plugins": f"system/prefix/{plugins}", "lua": "prefix/share/sysbench"}
    done = subprocess.run(
        absolute(tmp_path, found.programs["sysbench"]), env={"LUA_PATH": "mine"}, capture_output=True, text=True
    )
    assert done.stdout == f"{tmp_path}/system/prefix/{plugins} mine;{tmp_path}/prefix/share/sysbench/?.lua\n"


def test_without_libraries_of_its_own_it_is_told_of_its_workloads_alone(tmp_path: Path):
    program = there(tmp_path, "prefix/bin/sysbench", "prefix/share/sysbench/oltp.lua") / "prefix/bin/sysbench"
    found = make_startable(order(tmp_path, {"path": "x"}, engine="sysbench"), {"sysbench": program})
    assert found.facts == {"lua": "prefix/share/sysbench"}
