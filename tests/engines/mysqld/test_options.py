"""What mysqld and mariadbd say they are and which options they take; the real ones are in tests/integration."""

from __future__ import annotations

import string
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.plugins.engine import IdentityError, Run
from stepgrid.plugins.registry import require_builder
from stepgrid_databases.engines.mysqld.options import choices, parse_help, prefixed_option

HELP = """\
  -h, --datadir=name  Path to the database root directory
  --max-connections=# The number of simultaneous clients allowed

Variables (--variable-name=value)
--------------------------------- -------------
datadir                                                      /var/lib/mysql/
max-connections                                              151
"""


def server(version: str = "", help_: str = HELP, complaint: str = "") -> tuple[Run, list[str]]:
    asked: list[str] = []

    def run(program: str, arguments: Sequence[str]) -> tuple[str, str]:
        asked.append(" ".join((program, *arguments)))
        return (version if "--version" in arguments else help_), complaint

    return run, asked


@pytest.mark.parametrize(
    ("engine", "line", "version"),
    [
        ("mysql", "/x/bin/mysqld  Ver 5.7.22 for linux-glibc2.12 on x86_64 (MySQL Community Server (GPL))", "5.7.22"),
        ("mysql", "/x/bin/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))", "9.7.4"),
        ("mariadb", "mariadbd  Ver 10.5.23-MariaDB-0+deb11u1 for debian-linux-gnu on x86_64 (Debian 11)", "10.5.23"),
        ("mariadb", "mariadbd  Ver 11.8.6-MariaDB-0 from Debian for debian-linux-gnu on x86_64 (-- Help)", "11.8.6"),
    ],
)
def test_the_version(engine: str, line: str, version: str) -> None:
    found = require_builder(engine).identify(server(f"{line}\n")[0])
    assert (found.version, found.warnings, found.assertions) == (version, (), False)
    assert found.facts is not None
    assert found.facts["said"] == line[line.index("Ver") :]


def test_a_debug_build_says_so_with_every_figure() -> None:
    found = require_builder("mysql").identify(server("mysqld  Ver 8.0.31-debug for Linux on x86_64 (Source)\n")[0])
    assert found.version == "8.0.31"
    assert found.warnings == ("this is a debug build: assertions and checks make it slow",)
    assert found.assertions is True


def test_one_that_does_not_start() -> None:
    run, _ = server(complaint="mysqld: error while loading shared libraries: libaio.so.1\n")
    with pytest.raises(IdentityError) as caught:
        require_builder("mysql").identify(run)
    assert str(caught.value) == (
        "mysqld --version does not say which version it is; it said: "
        "mysqld: error while loading shared libraries: libaio.so.1"
    )


def test_no_option_file_of_the_host_is_read() -> None:
    run, asked = server("mysqld  Ver 8.0.31 for Linux on x86_64 (x)\n")
    require_builder("mysql").identify(run)
    assert set(require_builder("mysql").catalogue(run) or {}) == {"datadir", "max_connections"}
    assert asked == ["mysqld --no-defaults --version", "mysqld --no-defaults --verbose --help"]


def test_mariadb_names_the_options_of_myrocks_as_well() -> None:
    run, asked = server()
    require_builder("mariadb").catalogue(run)
    assert asked == ["mariadbd --no-defaults --verbose --help --plugin-load-add=ha_rocksdb"]


def test_letters_of_table_names_need_a_data_directory_to_be_told() -> None:
    """Without one MySQL 8 takes the file system for one that does not tell A from a."""
    asked: list[str] = []

    def run(program: str, arguments: Sequence[str]) -> tuple[str, str]:
        asked.append(arguments[-1].partition("=")[0])
        there = arguments[-1].startswith("--datadir=")
        help_ = HELP.replace("\nVariables", "\n  --lower-case-table-names[=#]  Letters\nVariables")
        return f"{help_}lower-case-table-names    {0 if there else 2}\n", ""

    found = require_builder("mysql").catalogue(run) or {}
    assert (found["lower_case_table_names"].default, found["datadir"].default) == ("0", "/var/lib/mysql/")
    assert asked == ["--help", "--datadir"]


def test_a_help_without_options() -> None:
    with pytest.raises(IdentityError) as caught:
        require_builder("mariadb").catalogue(server(help_="", complaint="[ERROR] Aborting\n")[0])
    assert str(caught.value) == "mariadbd --verbose --help does not list its options; it said: [ERROR] Aborting"


# MariaDB 11.8.6 of Debian, with MyRocks, in a build's folder; lines may end with blanks, before a ~
MARIADB = """\
/x/attempt/prefix/usr/sbin/mariadbd  Ver 11.8.6-MariaDB-0+deb13u1 from Debian for debian-linux-gnu on x86_64
Usage: /x/attempt/prefix/usr/sbin/mariadbd [OPTIONS]
The following options may be given as the first argument:
--print-defaults          Print the program argument list and exit.
--defaults-file=#         Only read default options from the given file #.

  --alter-algorithm[=name] ~
                      Unused. One of: DEFAULT, COPY, INPLACE, NOCOPY, INSTANT.
                      Deprecated, will be removed in a future release.
  -a, --ansi          Use ANSI SQL syntax instead of MariaDB syntax. This mode
                      will also set transaction isolation level 'serializable'
  --aria-block-size=# Block size to be used for Aria index pages
  --autocommit        Set default value for autocommit (0 or 1)
                      (Defaults to on; use --skip-autocommit to disable.)
  -b, --basedir=name  Path to installation directory. All paths are usually
                      resolved relative to this
  -T, --debug-exit-info[=#] ~
                      Used for debugging. Use at your own risk
  --general-log-file=name ~
                      Log connections and queries to given file
  --innodb-flush-method=name ~
                      With which method to flush data. One of: fsync, O_DSYNC, ~
                      littlesync, nosync, O_DIRECT, O_DIRECT_NO_FSYNC.
  --log-output=name   How logs should be written. Any combination of: NONE, ~
                      FILE, TABLE, or ALL to set all combinations
  --long-query-time=# Alias for log_slow_query_time
  --pid-file=name     Pid file used by mysqld_safe
  --plugin-dir=name   Directory for plugins
  --rocksdb-block-cache-size=# ~
                      block_cache size for RocksDB
  --wsrep-notify-cmd=name ~
  --wsrep-provider=name ~
                      Path to replication provider library

Variables (--variable-name=value)
and boolean options {FALSE|TRUE}                             Value (after reading options)
------------------------------------------------------------ -------------
alter-algorithm                                              DEFAULT
aria-block-size                                              8192
autocommit                                                   TRUE
basedir                                                      /x/attempt/prefix/usr/
debug-exit-info                                              (No default value)
general-log-file                                             db-7.log
innodb-flush-method                                          O_DIRECT
log-output                                                   FILE
long-query-time                                              10
pid-file                                                     /var/lib/mysql/db-7.pid
plugin-dir                                                   /x/attempt/prefix/usr/lib/mysql/plugin/
rocksdb-block-cache-size                                     536870912
version-comment                                              from Debian
wsrep-notify-cmd                                             ~
wsrep-provider                                               ON
wsrep-provider                                               none

To see what variables a running server is using, type
'SELECT * FROM INFORMATION_SCHEMA.GLOBAL_VARIABLES' instead of 'mariadbd --verbose --help'.
""".replace("~", "")


def test_defaults() -> None:
    found = {name: option.default for name, option in parse_help(MARIADB).items()}
    assert (found["autocommit"], found["rocksdb_block_cache_size"]) == ("TRUE", "536870912")
    assert (found["ansi"], found["debug_exit_info"], found["wsrep_notify_cmd"]) == ("", "", "")
    assert found["wsrep_provider"] == "none"  # the plugin has that name too, and comes before its option


def test_a_default_names_neither_the_folder_nor_the_host() -> None:
    found = {name: option.default for name, option in parse_help(MARIADB).items()}
    assert (found["basedir"], found["plugin_dir"]) == ("", "{basedir}/lib/mysql/plugin/")
    assert (found["pid_file"], found["general_log_file"]) == ("/var/lib/mysql/{hostname}.pid", "{hostname}.log")


_NAMES = st.text(string.ascii_lowercase + string.digits + "-", min_size=1, max_size=70).map(lambda text: f"o{text}")
_VALUES = st.text(string.ascii_letters + string.digits + "=,:;/ ", max_size=50).map(str.strip)


@given(st.dictionaries(_NAMES.filter(lambda name: name not in ("basedir", "pid-file")), _VALUES, max_size=8))
def test_every_option_has_the_value_of_the_table(values: dict[str, str]) -> None:
    entries = "".join(f"  --{name}=name \n                      About it\n" for name in values)
    rows = "".join(f"{name:<60} {value}\n" for name, value in values.items())
    text = f"{entries}\nVariables (--variable-name=value)\n{'-' * 60} -------------\n{rows}\nTo see more\n"
    found = parse_help(text)
    same = {name.replace("-", "_"): value for name, value in values.items()}
    assert {name: option.default for name, option in found.items()} == same
    assert {option.help for option in found.values()} <= {"About it"}


@pytest.mark.parametrize(
    ("help_", "default", "expected"),
    [
        ("With which method to flush data.. One of: fsync, O_DSYNC, O_DIRECT", "O_DIRECT", "fsync O_DSYNC O_DIRECT"),
        ("Compression used. One of: none, zlib, or snappy", "zlib", "none zlib snappy"),
        (
            "Enable it. One of: ON, OFF, FORCE (don't start if it fails), FORCE_PLUS (like FORCE, but not removed).",
            "ON",
            "ON OFF FORCE FORCE_PLUS",
        ),
        (
            "Possible values are REDUNDANT, and DYNAMIC. COMPRESSED is not allowed. One of: redundant, dynamic",
            "dynamic",
            "redundant dynamic",
        ),
        ("The scheduler. Possible values are ON, OFF, and DISABLED (it cannot be activated)", "ON", "ON OFF DISABLED"),
        ("Possible values are NONE and CRC32; default is CRC32.", "CRC32", "NONE CRC32"),
        ("Possible values are OFF, COMMIT or ROLLBACK.", "OFF", "OFF COMMIT ROLLBACK"),
        ("Possible values are ON, OFF, FORCE (don't start if the plugin fails to load).", "ON", ""),
        ("Possible values are CRC32 (fast) write crc32, allow others; INNODB write innodb", "crc32", ""),
        ("One of: a, b", "c", ""),
        ("Size of it", "1", ""),
    ],
)
def test_what_they_are(help_: str, default: str, expected: str):
    assert choices(help_, default) == tuple(expected.split())


CATALOGUE = {"log_bin": {"type": "text"}, "autocommit": {"type": "bool"}, "sort_buffer_size": {"type": "number"}}
SWITCH = {"type": "switch"}


@pytest.mark.parametrize(
    ("name", "info"),
    [
        ("skip_log_bin", SWITCH),
        ("disable_log_bin", SWITCH),
        ("enable_autocommit", SWITCH),
        ("loose_autocommit", {"type": "bool"}),
        ("loose_skip_autocommit", SWITCH),
        ("loose_of_a_plugin", {}),
        ("maximum_sort_buffer_size", {"type": "number"}),
        ("maximum_autocommit", None),
        ("skip_sort_buffer_size", None),
        ("skip_loose_autocommit", None),
        ("skip_nothing", None),
        ("other_autocommit", None),
        ("skip", None),
    ],
)
def test_names_with_a_prefix(name: str, info: dict[str, str] | None) -> None:
    assert prefixed_option(name, CATALOGUE) == info
