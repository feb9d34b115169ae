"""How mysqld and mariadbd are configured, initialized and started."""

from pathlib import Path

import pytest

from stepgrid.plugins.registry import server_engine
from stepgrid.plugins.server import Access, ServerHome
from stepgrid_databases.engines.mysqld.server import MysqldServing, quote, render, system_tables

TABLES = ("mariadb_system_tables.sql", "mariadb_performance_tables.sql", "mariadb_system_tables_data.sql")


def _engine(name):
    found = server_engine(name)
    assert isinstance(found, MysqldServing)
    return found


@pytest.fixture
def home(tmp_path):
    access = Access("mariadb", Path("/s"), Path("/s/mysqld.sock"), 3306, "u", "secret", "d", "innodb")
    programs = {"mariadbd": ("/b/my server",), "mysqld": ("/b/mysqld",)}
    for number, name in enumerate(TABLES):
        (tmp_path / name).write_text(f"create {number};\n")
    return ServerHome(programs, "11.8.6", Path("/d"), Path("/f"), access, build_folders={"system tables": tmp_path})


def test_mariadb_makes_its_tables_by_the_sql_of_the_build(home, golden):
    (command,) = _engine("mariadb").initialize(home)
    assert command.argv == ("sh", "-c", "exec '/b/my server' --defaults-file=/f/my.cnf --bootstrap < bootstrap.sql")
    golden(command.files["bootstrap.sql"])


def test_mysql_makes_them_itself_since_5_7(home):
    (command,) = _engine("mysql").initialize(home._replace(version="8.0.31"))
    assert command.argv == ("/b/mysqld", "--defaults-file=/f/my.cnf", "--initialize-insecure")
    (older,) = _engine("mysql").initialize(home._replace(version="5.6.35"))
    assert older.argv[0] == "sh"


def test_the_password_is_that_of_this_start_and_in_no_command_line(home):
    command = _engine("mariadb").serve(home)
    assert command.argv == ("/b/my server", "--defaults-file=/f/my.cnf", "--init-file=/s/init.sql")
    assert command.secrets == ("/s/init.sql",)  # beside the socket: its folder goes with the server
    statements = command.files["/s/init.sql"].splitlines()
    assert "where grantee like '''u''@%' and grantee <> '''u''@''localhost'''" in statements[0]  # others are dropped
    assert statements[1:3] == ["prepare earlier from @earlier;", "execute earlier;"]
    assert statements[3:] == [
        "create user if not exists 'u'@'localhost';",
        "alter user 'u'@'localhost' identified by 'secret';",
        "grant all on *.* to 'u'@'localhost' with grant option;",
        "create database if not exists d;",
    ]


def test_myrocks_is_loaded_where_it_is_asked_for(home):
    mariadb, rocks = _engine("mariadb"), home._replace(access=home.access._replace(storage_engine="rocksdb"))
    assert mariadb.lines(home, {"innodb_io_capacity": 1}) == ()
    assert mariadb.lines(home, {"rocksdb_max_open_files": 1}) == ("plugin_load_add = ha_rocksdb",)
    assert mariadb.lines(rocks, {}) == ("plugin_load_add = ha_rocksdb",)
    assert _engine("mysql").lines(home, {}) == ("loose_mysqlx = OFF",)
    assert _engine("mysql").lines(rocks, {}) == ("loose_mysqlx = OFF", "loose_rocksdb = ON")


def test_a_build_without_that_sql(home, tmp_path):
    with pytest.raises(LookupError) as caught:
        system_tables(home._replace(build_folders={"system tables": tmp_path / "gone"}))
    assert caught.value.args[0] == (
        "the build has no SQL for the system tables (mariadb_system_tables.sql and the like)"
    )


ACCESS = Access("mariadb", Path("/s"), Path("/s/mysqld.sock"), 3306, "u", "p", "d", "innodb")
HOME = ServerHome({}, "11.8.6", Path("/live/data"), Path("/attempt/server"), ACCESS, Path("/live/scratch"))


@pytest.mark.parametrize(
    ("name", "given", "written"),
    [
        ("a", True, "ON"),
        ("a", False, "OFF"),
        ("skip_log_bin", True, "1"),  # skip_log_bin=OFF would turn the log off as well
        ("skip-log-bin", False, "0"),
        ("a", 1048576, "1048576"),
        ("a", "O_DIRECT", "O_DIRECT"),
        ("a", "index_merge=on,mrr=off", "index_merge=on,mrr=off"),
        ("a", "", ""),
        ("a", "a # b", '"a # b"'),
        ("a", " a", '" a"'),
        ("a", 'a "b"', '"a \\"b\\""'),
        ("a", "C:\\x", '"C:\\\\x"'),
        ("a", "1\nuser = root", '"1\\nuser = root"'),
    ],
)
def test_a_value_as_an_option_file_has_it(name, given, written):
    assert quote(given, name) == written


def test_what_the_spec_asks_for_comes_last(golden):
    text = render(HOME, {"innodb_buffer_pool_size": 64, "skip_log_bin": True}, ("plugin_load_add = ha_rocksdb",))
    golden(text)
