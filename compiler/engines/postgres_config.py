"""The options that Postgres names in `--describe-config`, and what it says their values are.

Its listing has no defaults for numbers and booleans: they are 0 and FALSE in it, whatever they are. `postgres -C`
reads an empty configuration and knows them, one at a time.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from compiler.engines.mysqld import last
from compiler.engines.protocol import IdentityError, OptionInfo, Run

_TYPES = {"BOOLEAN": "bool", "INTEGER": "number", "REAL": "number", "STRING": "text", "ENUM": "enum"}
_DESCRIBED = ("text", "enum")  # their defaults are in the listing
_COLUMNS = 9

# options for developers that benchmarks are run with, or that make one slow: the listing leaves them out
_UNLISTED = (
    "allow_in_place_tablespaces",
    "debug_io_direct",
    "debug_parallel_query",
    "force_parallel_mode",
    "ignore_checksum_failure",
    "ignore_system_indexes",
    "jit_debugging_support",
    "jit_dump_bitcode",
    "jit_expressions",
    "jit_profiling_support",
    "jit_tuple_deforming",
    "log_btree_build_stats",
    "post_auth_delay",
    "pre_auth_delay",
    "trace_locks",
    "trace_lwlocks",
    "trace_sort",
    "wal_consistency_checking",
    "wal_debug",
    "zero_damaged_pages",
)


def catalogue(run: Run) -> Mapping[str, OptionInfo]:
    stdout, stderr = run("postgres", ("--describe-config",))
    listed = described(stdout)
    if "shared_buffers" not in listed:
        raise IdentityError(f"postgres --describe-config does not list its options; it said: {last(stdout + stderr)}")
    with empty_configuration() as folder:
        known = {name: _with_value(run, option, folder) for name, option in listed.items()}
        return {**{option.name: option for option in _unlisted(run, folder)}, **known}


def described(text: str) -> dict[str, OptionInfo]:
    """A line of tab-separated columns for each: name, context, group, type, default, least, most, two descriptions."""
    rows = (line.split("\t") for line in text.splitlines())
    return {row[0]: _option(row) for row in rows if len(row) == _COLUMNS and row[3] in _TYPES}


@contextmanager
def empty_configuration() -> Iterator[str]:
    """A folder that `postgres -C` takes for a database's."""
    with tempfile.TemporaryDirectory(prefix="postgres.") as folder:
        for file in ("postgresql.conf", "postgresql.auto.conf"):
            Path(folder, file).touch()
        yield folder


def value(run: Run, name: str, folder: str) -> str | None:
    """None where there is no such option. -C comes first: a server that is started by root refuses all else."""
    stdout, _ = run("postgres", ("-C", name, "-D", folder))
    return stdout.removesuffix("\n") if stdout else None


def _option(row: list[str]) -> OptionInfo:
    help_ = " ".join(part for part in (*row[7:9], _range(row[5], row[6]), f"({row[1]})") if part)
    return OptionInfo(row[0], _TYPES[row[3]], row[4], help_)


def _range(least: str, most: str) -> str:
    return f"{least} to {most}." if least and most else ""


def _with_value(run: Run, option: OptionInfo, folder: str) -> OptionInfo:
    if option.type in _DESCRIBED:
        return option
    found = value(run, option.name, folder)
    return option._replace(default="" if found is None else found)


def _unlisted(run: Run, folder: str) -> Iterator[OptionInfo]:
    for name in _UNLISTED:
        found = value(run, name, folder)
        if found is not None:
            kind = "bool" if found in ("on", "off") else "number" if found.isdigit() else "text"
            yield OptionInfo(name, kind, found, "An option for developers.")
