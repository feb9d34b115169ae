"""The options that Postgres names in `--describe-config`, and what it says their values are.

Its listing has no defaults for numbers and booleans: they are 0 and FALSE in it, whatever they are. `postgres -C`
reads an empty configuration and knows them, one at a time.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from stepgrid.plugins.engine import Identity, IdentityError, OptionInfo, Run, last
from stepgrid.plugins.option_values import outside

Answer = TypeVar("Answer")

_TYPES = {"BOOLEAN": "bool", "INTEGER": "number", "REAL": "number", "STRING": "text", "ENUM": "enum"}
_DESCRIBED = ("text", "enum")  # their defaults are in the listing
_COLUMNS = 9
_UNKNOWN = "unrecognized configuration parameter"
_AVAILABLE = re.compile(r"Available values: (.+?)\.?$", re.MULTILINE)
_AT_A_TIME = 4

# options for developers that benchmarks are run with, or that make one slow: the listing leaves them out
_UNLISTED = (
    "allow_in_place_tablespaces", "debug_io_direct", "debug_parallel_query", "force_parallel_mode",
    "ignore_checksum_failure", "ignore_system_indexes", "jit_debugging_support", "jit_dump_bitcode", "jit_expressions",
    "jit_profiling_support", "jit_tuple_deforming", "log_btree_build_stats", "post_auth_delay", "pre_auth_delay",
    "trace_locks", "trace_lwlocks", "trace_sort", "wal_consistency_checking", "wal_debug", "zero_damaged_pages",
)  # fmt: skip


def catalogue(run: Run) -> Mapping[str, OptionInfo]:
    stdout, stderr = run("postgres", ("--describe-config",))
    listed = described(stdout)
    if "shared_buffers" not in listed:
        raise IdentityError(f"postgres --describe-config does not list its options; it said: {last(stdout + stderr)}")
    asked = [name for name, option in listed.items() if option.type not in _DESCRIBED]
    found = _values(run, [*asked, *_UNLISTED])
    choices = _choices(run, [name for name, option in listed.items() if option.type == "enum"])
    known = {
        name: option._replace(default=found.get(name, option.default), choices=choices.get(name, ()))
        for name, option in listed.items()
    }
    return {**{name: _unlisted(name, found[name]) for name in _UNLISTED if name in found}, **known}


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
    stdout, stderr = run("postgres", ("-C", name, "-D", folder))
    if not stdout and _UNKNOWN not in stderr:
        raise IdentityError(f"postgres -C {name} gives no value; it said: {last(stderr)}")
    return stdout.removesuffix("\n") if stdout else None


def _values(run: Run, names: Sequence[str]) -> dict[str, str]:
    """Of those that there are."""
    with empty_configuration() as folder:
        found = _several(lambda name: value(run, name, folder), names)
        return {name: said for name, said in zip(names, found, strict=True) if said is not None}


def _option(row: list[str]) -> OptionInfo:
    help_ = " ".join(part for part in (*row[7:9], _range(row[5], row[6]), f"({row[1]})") if part)
    return OptionInfo(row[0], _TYPES[row[3]], row[4], help_, row[5], row[6])


def _range(least: str, most: str) -> str:
    return f"{least} to {most}." if least and most else ""


def _choices(run: Run, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """It names them to whoever gives an enumeration a value that it does not have."""

    def asked(name: str) -> tuple[str, ...]:
        _, stderr = run("postgres", ("-C", name, "-D", folder, "-c", f"{name}=?"))
        match = _AVAILABLE.search(stderr)
        return tuple(match[1].split(", ")) if match else ()

    with empty_configuration() as folder:
        return dict(zip(names, _several(asked, names), strict=True))


def _several(ask: Callable[[str], Answer], names: Sequence[str]) -> list[Answer]:
    """At a time: to start a server some hundred times takes seconds."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        return list(pool.map(ask, names))


def _unlisted(name: str, found: str) -> OptionInfo:
    kind = "bool" if found in ("on", "off") else "number" if found.isdigit() else "text"
    return OptionInfo(name, kind, found, "An option for developers.")


# What a postgres binary says it is.

_SAID = re.compile(r"^\S+ \(PostgreSQL\) (?P<version>\S+).*$", re.MULTILINE)
ASSERTIONS = "Assertions are enabled (configured with --enable-cassert): they make it slow"
_FACTS = {"block size": "block_size", "WAL block size": "wal_block_size"}


def identify(run: Run) -> Identity:
    stdout, stderr = run("postgres", ("--version",))
    match = _SAID.search(stdout)
    if match is None:
        raise IdentityError(f"postgres --version does not say which version it is; it said: {last(stdout + stderr)}")
    with empty_configuration() as folder:
        asserting = value(run, "debug_assertions", folder)
        asked = {fact: value(run, name, folder) for fact, name in _FACTS.items()}
    assertions = None if asserting is None else asserting == "on"
    facts = {"said": match[0], **{fact: said for fact, said in asked.items() if said is not None}}
    return Identity(match["version"], (ASSERTIONS,) if assertions else (), assertions, facts)


# What values they take.

BOOLEANS = ("true", "false", "on", "off", "yes", "no", "1", "0", "t", "f", "y", "n")
_NUMBER = re.compile(r"([+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|0x[0-9a-fA-F]+)\s*(B|kB|MB|GB|TB|us|ms|s|min|h|d)?")


_UNITS = {"K": "kB", "M": "MB", "G": "GB", "T": "TB"}


def value_fault(info: Mapping[str, Any], text: str) -> str | None:
    if info.get("type") != "number":
        return None
    match = _NUMBER.fullmatch(text)
    if match is None:
        size = re.fullmatch(r"(\d+)\s*([KMGT])i?B", text, re.IGNORECASE)
        hint = f"; did you mean `{size[1]}{_UNITS[size[2].upper()]}`?" if size else ""
        return f"takes a number, with a unit such as kB, MB, GB, ms, s or min, not `{text}`{hint}"
    least, most = info.get("least"), info.get("most")
    if match[4] or text.startswith("0x") or not least or not most:
        return None  # with a unit it counts something else than the range does
    if float(least) <= float(text) <= float(most):
        return None
    return f"{outside('', least, most, text)}: in its own unit, where none is given"
