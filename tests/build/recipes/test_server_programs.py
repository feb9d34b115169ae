from pathlib import Path

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.recipes.server_programs import PROGRAMS, find
from stepgrid.plugins.engines import building


def there(prefix: Path, *places: str) -> Path:
    for place in places:
        (prefix / place).parent.mkdir(parents=True, exist_ok=True)
        (prefix / place).touch()
    return prefix


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_needed_is_what_the_engine_asks_for(name: str):
    assert PROGRAMS[name].needed == building(name).programs


def test_a_wrapper_elsewhere_is_not_taken_for_the_client(tmp_path: Path):
    own = "usr/lib/postgresql/17/bin"
    prefix = there(tmp_path, *(f"{own}/{name}" for name in ("postgres", "initdb", "pg_ctl", "psql")), "usr/bin/psql")
    found = find(prefix, "postgres", "debian postgresql-17 (trixie)")
    assert {name: str(path.relative_to(prefix)) for name, path in found.items()} == {
        name: f"{own}/{name}" for name in ("postgres", "initdb", "pg_ctl", "psql")
    }


def test_clients_are_elsewhere_than_the_server(tmp_path: Path):
    found = find(there(tmp_path, "usr/sbin/mysqld", "usr/bin/mysql"), "mysql", "x")
    assert found == {"mysqld": tmp_path / "usr/sbin/mysqld", "mysql": tmp_path / "usr/bin/mysql"}


def test_names_of_before_mariadb_10_5(tmp_path: Path):
    found = find(there(tmp_path, "bin/mysqld", "bin/mysql"), "mariadb", "x")
    assert found == {"mariadbd": tmp_path / "bin/mysqld", "mariadb": tmp_path / "bin/mysql"}


def test_a_link_of_merged_folders_is_no_second_place(tmp_path: Path):
    there(tmp_path, "usr/bin/sysbench")
    (tmp_path / "bin").symlink_to("usr/bin")
    assert find(tmp_path, "sysbench", "x") == {"sysbench": tmp_path / "usr/bin/sysbench"}


def test_a_server_that_is_not_there(tmp_path: Path):
    with pytest.raises(BuildError) as caught:
        find(there(tmp_path, "usr/bin/mysql", "usr/bin/mysqladmin"), "mysql", "debian mysql-client-core (sid)")
    assert str(caught.value) == (
        "debian mysql-client-core (sid) has no program mysqld; its programs are: mysql, mysqladmin"
    )
