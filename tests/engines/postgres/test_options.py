"""What postgres says of itself; the real one is in tests/integration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from stepgrid.plugins.engine import IdentityError, Run
from stepgrid.plugins.registry import require_builder
from stepgrid_databases.engines.postgres.options import described

POSTGRES = require_builder("postgres")

# Postgres 18.6, of 348 lines
LISTING = "\n".join(
    "\t".join(row)
    for row in [
        ("autovacuum", "sighup", "Vacuuming", "BOOLEAN", "FALSE", "", "", "Starts the autovacuum subprocess.", ""),
        (
            "archive_timeout",
            "sighup",
            "WAL",
            "INTEGER",
            "0",
            "0",
            "1073741823",
            "Sets the time to wait.",
            "0 disables.",
        ),
        ("log_line_prefix", "sighup", "Logging", "STRING", "%m [%p] ", "", "", "Controls each log line.", ""),
        ("random_page_cost", "user", "Query Tuning", "REAL", "0", "0", "1.79769e+308", "Sets the estimate.", ""),
        ("shared_buffers", "postmaster", "Memory", "INTEGER", "0", "16", "1073741823", "Sets the number.", ""),
        ("wal_level", "postmaster", "WAL", "ENUM", "replica", "", "", "Sets the level of information.", ""),
    ]
)
VALUES = {
    "autovacuum": "on",
    "archive_timeout": "0",
    "random_page_cost": "4",
    "shared_buffers": "16384",
    "debug_io_direct": "",
    "jit_expressions": "on",
    "post_auth_delay": "0",
    "debug_assertions": "off",
    "block_size": "8192",
}


HINT = "Available values: minimal, replica, logical."


def server(version: str = "", listing: str = LISTING, values: Mapping[str, str] = VALUES) -> Run:
    def run(program: str, arguments: Sequence[str]) -> tuple[str, str]:
        assert program == "postgres"
        if arguments[0] == "--version":
            return version, ""
        if arguments[0] == "--describe-config":
            return listing, ""
        option, name, _, folder = arguments[:4]
        assert option == "-C"  # first: all else is refused when it is started by root
        assert Path(folder, "postgresql.conf").read_text() == ""
        if arguments[4:]:
            assert arguments[4:] == ("-c", f"{name}=?")
            return "", f'FATAL:  invalid value for parameter "{name}": "?"\nHINT:  {HINT}\n'
        if name in values:
            return f"{values[name]}\n", ""
        return "", f'FATAL:  unrecognized configuration parameter "{name}"\n'

    return run


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("postgres (PostgreSQL) 18.6 (Debian 18.6-3)", "18.6"),
        ("postgres (PostgreSQL) 12.22", "12.22"),
        ("postgres.real (PostgreSQL) 19devel", "19devel"),
    ],
)
def test_the_version(line: str, version: str) -> None:
    found = POSTGRES.identify(server(f"{line}\n"))
    assert (found.version, found.warnings, found.assertions) == (version, (), False)
    assert found.facts == {"said": line, "block size": "8192"}


def test_assertions_travel_with_every_figure() -> None:
    found = POSTGRES.identify(server("postgres (PostgreSQL) 18.6\n", values={"debug_assertions": "on"}))
    assert found.assertions is True
    assert found.warnings == ("Assertions are enabled (configured with --enable-cassert): they make it slow",)


def test_one_that_does_not_start() -> None:
    with pytest.raises(IdentityError, match=r"^postgres --version does not say which version it is; it said: nothing$"):
        POSTGRES.identify(server())


def test_one_that_does_not_find_its_files() -> None:
    def run(program: str, arguments: Sequence[str]) -> tuple[str, str]:
        lost = 'FATAL:  could not open directory "/usr/lib": No such file or directory\n'
        return ("postgres (PostgreSQL) 17.11\n", "") if arguments[0] == "--version" else ("", lost)

    with pytest.raises(IdentityError) as caught:
        POSTGRES.identify(run)
    assert str(caught.value) == (
        'postgres -C debug_assertions gives no value; it said: FATAL:  could not open directory "/usr/lib": '
        "No such file or directory"
    )


def test_defaults_are_asked_for_where_the_listing_has_none() -> None:
    found = POSTGRES.catalogue(server()) or {}
    assert {name: found[name].default for name in found if name in described(LISTING)} == {
        "autovacuum": "on",
        "archive_timeout": "0",
        "log_line_prefix": "%m [%p] ",
        "random_page_cost": "4",
        "shared_buffers": "16384",
        "wal_level": "replica",
    }


def test_options_for_developers_that_this_release_has() -> None:
    found = POSTGRES.catalogue(server()) or {}
    assert {name: found[name].type for name in found.keys() - described(LISTING).keys()} == {
        "debug_io_direct": "text",
        "jit_expressions": "bool",
        "post_auth_delay": "number",
    }
