"""What mysqld and mariadbd say they are; the real ones are in tests/integration."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from stepgrid.plugins.engine import IdentityError, Run
from stepgrid.plugins.engines import building

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
    found = building(engine).identify(server(f"{line}\n")[0])
    assert (found.version, found.warnings, found.assertions) == (version, (), False)
    assert found.facts is not None
    assert found.facts["said"] == line[line.index("Ver") :]


def test_a_debug_build_says_so_with_every_figure() -> None:
    found = building("mysql").identify(server("mysqld  Ver 8.0.31-debug for Linux on x86_64 (Source)\n")[0])
    assert found.version == "8.0.31"
    assert found.warnings == ("this is a debug build: assertions and checks make it slow",)
    assert found.assertions is True


def test_a_build_that_checks_its_memory() -> None:
    found = building("mysql").identify(server("mysqld  Ver 8.0.31-asan for Linux on x86_64 (Source)\n")[0])
    assert found.warnings == ("this build checks every access to memory (asan), which makes it slow",)
    assert found.assertions is False


def test_one_that_does_not_start() -> None:
    run, _ = server(complaint="mysqld: error while loading shared libraries: libaio.so.1\n")
    with pytest.raises(IdentityError) as caught:
        building("mysql").identify(run)
    assert str(caught.value) == (
        "mysqld --version does not say which version it is; it said: "
        "mysqld: error while loading shared libraries: libaio.so.1"
    )


def test_no_option_file_of_the_host_is_read() -> None:
    run, asked = server("mysqld  Ver 8.0.31 for Linux on x86_64 (x)\n")
    building("mysql").identify(run)
    assert set(building("mysql").catalogue(run) or {}) == {"datadir", "max_connections"}
    assert asked == ["mysqld --no-defaults --version", "mysqld --no-defaults --verbose --help"]


def test_mariadb_names_the_options_of_myrocks_as_well() -> None:
    run, asked = server()
    building("mariadb").catalogue(run)
    assert asked == ["mariadbd --no-defaults --verbose --help --plugin-load-add=ha_rocksdb"]


def test_letters_of_table_names_need_a_data_directory_to_be_told() -> None:
    """Without one MySQL 8 takes the file system for one that does not tell A from a."""
    asked: list[str] = []

    def run(program: str, arguments: Sequence[str]) -> tuple[str, str]:
        asked.append(arguments[-1].partition("=")[0])
        there = arguments[-1].startswith("--datadir=")
        help_ = HELP.replace("\nVariables", "\n  --lower-case-table-names[=#]  Letters\nVariables")
        return f"{help_}lower-case-table-names    {0 if there else 2}\n", ""

    found = building("mysql").catalogue(run) or {}
    assert (found["lower_case_table_names"].default, found["datadir"].default) == ("0", "/var/lib/mysql/")
    assert asked == ["--help", "--datadir"]


def test_a_help_without_options() -> None:
    with pytest.raises(IdentityError) as caught:
        building("mariadb").catalogue(server(help_="", complaint="[ERROR] Aborting\n")[0])
    assert str(caught.value) == "mariadbd --verbose --help does not list its options; it said: [ERROR] Aborting"
