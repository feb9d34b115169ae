"""Excerpts of what real servers print, shortened; and help made up of any names and values."""

from __future__ import annotations

import string

from hypothesis import given
from hypothesis import strategies as st

from stepgrid.engines.mysqld.option_help import options

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


def test_names_are_those_of_option_files() -> None:
    """What may only stand first, and variables that are no options, are none."""
    assert list(options(MARIADB)) == [
        "alter_algorithm",
        "ansi",
        "aria_block_size",
        "autocommit",
        "basedir",
        "debug_exit_info",
        "general_log_file",
        "innodb_flush_method",
        "log_output",
        "long_query_time",
        "pid_file",
        "plugin_dir",
        "rocksdb_block_cache_size",
        "wsrep_notify_cmd",
        "wsrep_provider",
    ]


def test_types_as_far_as_they_are_told() -> None:
    kinds = {name: option.type for name, option in options(MARIADB).items()}
    assert [name for name, kind in kinds.items() if kind == "bool"] == ["ansi", "autocommit"]
    assert [name for name, kind in kinds.items() if kind == "enum"] == ["alter_algorithm", "innodb_flush_method"]
    assert [name for name, kind in kinds.items() if kind == "set"] == ["log_output"]
    numbers = ["aria_block_size", "debug_exit_info", "long_query_time", "rocksdb_block_cache_size"]
    assert [name for name, kind in kinds.items() if kind == "number"] == numbers


def test_defaults() -> None:
    found = {name: option.default for name, option in options(MARIADB).items()}
    assert (found["autocommit"], found["rocksdb_block_cache_size"]) == ("TRUE", "536870912")
    assert (found["ansi"], found["debug_exit_info"], found["wsrep_notify_cmd"]) == ("", "", "")
    assert found["wsrep_provider"] == "none"  # the plugin has that name too, and comes before its option


def test_a_default_names_neither_the_folder_nor_the_host() -> None:
    found = {name: option.default for name, option in options(MARIADB).items()}
    assert (found["basedir"], found["plugin_dir"]) == ("", "{basedir}/lib/mysql/plugin/")
    assert (found["pid_file"], found["general_log_file"]) == ("/var/lib/mysql/{hostname}.pid", "{hostname}.log")


def test_a_description_of_several_lines_is_one() -> None:
    found = options(MARIADB)
    assert found["basedir"].help == ("Path to installation directory. All paths are usually resolved relative to this")
    assert found["wsrep_notify_cmd"].help == ""


def test_nothing_of_a_complaint() -> None:
    assert options("mysqld: error while loading shared libraries: libaio.so.1: cannot open shared object file\n") == {}


_NAMES = st.text(string.ascii_lowercase + string.digits + "-", min_size=1, max_size=70).map(lambda text: f"o{text}")
_VALUES = st.text(string.ascii_letters + string.digits + "=,:;/ ", max_size=50).map(str.strip)


@given(st.dictionaries(_NAMES.filter(lambda name: name not in ("basedir", "pid-file")), _VALUES, max_size=8))
def test_every_option_has_the_value_of_the_table(values: dict[str, str]) -> None:
    entries = "".join(f"  --{name}=name \n                      About it\n" for name in values)
    rows = "".join(f"{name:<60} {value}\n" for name, value in values.items())
    text = f"{entries}\nVariables (--variable-name=value)\n{'-' * 60} -------------\n{rows}\nTo see more\n"
    found = options(text)
    same = {name.replace("-", "_"): value for name, value in values.items()}
    assert {name: option.default for name, option in found.items()} == same
    assert {option.help for option in found.values()} <= {"About it"}
