"""Options and identity of a postgres binary: what it lists, what it says their values are, which values it takes.

`--describe-config` has no defaults for numbers and booleans: they are 0 and FALSE in it, whatever they are. `postgres
-C` reads an empty configuration and knows them, one at a time.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from stepgrid.model.records import replace
from stepgrid.plugins.engine import Identity, IdentityError, OptionInfo, Run, last_lines, range_fault

# what options can move, by patterns of their names
EFFECTS: Mapping[str, tuple[str, ...]] = {
    "shared_buffers *cache*bytes*": ("cache", "disk", "cpu"),
    "fsync synchronous_commit full_page_writes wal_* commit_*": ("disk",),
    "*io_concurrency* io_* max_wal_size checkpoint_* bgwriter_* backend_flush_after": ("disk",),
    "default_toast_compression wal_compression": ("cpu", "size", "disk"),
    "enable_* *_page_cost cpu_*cost effective_cache_size *collapse_limit jit*": ("cpu", "cache", "disk"),
    "work_mem maintenance_work_mem hash_mem* temp_* default_statistics_target": ("cpu", "disk"),
    "autovacuum* vacuum* huge_pages max_parallel* *_workers*": ("cpu", "disk"),
}

ASSERTIONS = "Assertions are enabled (configured with --enable-cassert): they make it slow"
FACTS = {"block size": "block_size", "WAL block size": "wal_block_size"}  # fact -> the option that tells it
BOOLEANS = ("true", "false", "on", "off", "yes", "no", "1", "0", "t", "f", "y", "n")

# options for developers that benchmarks are run with, or that make one slow: the listing leaves them out
_UNLISTED = (
    "allow_in_place_tablespaces", "debug_io_direct", "debug_parallel_query", "force_parallel_mode",
    "ignore_checksum_failure", "ignore_system_indexes", "jit_debugging_support", "jit_dump_bitcode", "jit_expressions",
    "jit_profiling_support", "jit_tuple_deforming", "log_btree_build_stats", "post_auth_delay", "pre_auth_delay",
    "trace_locks", "trace_lwlocks", "trace_sort", "wal_consistency_checking", "wal_debug", "zero_damaged_pages",
)  # fmt: skip
_STARTS_AT_A_TIME = 4  # of some hundred, which take seconds
Answer = TypeVar("Answer")


def identify(run: Run) -> Identity:
    stdout, stderr = run("postgres", ("--version",))
    match = re.search(r"^\S+ \(PostgreSQL\) (?P<version>\S+).*$", stdout, re.MULTILINE)
    if match is None:
        raise IdentityError(
            f"postgres --version does not say which version it is; it said: {last_lines(stdout + stderr)}"
        )
    with _empty_configuration() as folder:
        answer = _value(run, "debug_assertions", folder)
        values = {fact: _value(run, option, folder) for fact, option in FACTS.items()}
    assertions = None if answer is None else answer == "on"
    facts = {"said": match[0], **{fact: value for fact, value in values.items() if value is not None}}
    return Identity(match["version"], (ASSERTIONS,) if assertions else (), assertions, facts)


def catalogue(run: Run) -> Mapping[str, OptionInfo]:
    stdout, stderr = run("postgres", ("--describe-config",))
    listed = described(stdout)
    if "shared_buffers" not in listed:
        raise IdentityError(
            f"postgres --describe-config does not list its options; it said: {last_lines(stdout + stderr)}"
        )
    names = [*(name for name, option in listed.items() if option.type not in ("text", "enum")), *_UNLISTED]
    enumerations = [name for name, option in listed.items() if option.type == "enum"]
    with _empty_configuration() as folder:
        answers = _ask_several(lambda name: _value(run, name, folder), names)
        choices = _ask_several(lambda name: _choices(run, name, folder), enumerations)
    values = {name: value for name, value in answers.items() if value is not None}
    options = {}
    for name in _UNLISTED:
        if (value := values.get(name)) is not None:
            kind = "bool" if value in ("on", "off") else "number" if value.isdigit() else "text"
            options[name] = OptionInfo(name, kind, value, "An option for developers.")
    for name, option in listed.items():
        default, words = values.get(name, option.default), tuple(choices.get(name, ()))
        options[name] = replace(option, default=default, choices=words)
    return options


_TYPES = {"BOOLEAN": "bool", "INTEGER": "number", "REAL": "number", "STRING": "text", "ENUM": "enum"}


def described(text: str) -> dict[str, OptionInfo]:
    """Parse the listing: a line of tab-separated columns for each option."""
    options = {}
    for columns in (line.split("\t") for line in text.splitlines()):
        if len(columns) != 9 or columns[3] not in _TYPES:
            continue
        name, context, _, kind, default, least, most, *descriptions = columns
        limits = f"{least} to {most}." if least and most else ""
        help_ = " ".join(part for part in (*descriptions, limits, f"({context})") if part)
        options[name] = OptionInfo(name, _TYPES[kind], default, help_, least, most)
    return options


@contextmanager
def _empty_configuration() -> Iterator[str]:
    """Make a folder that `postgres -C` takes for a database's."""
    with tempfile.TemporaryDirectory(prefix="postgres.") as folder:
        for file in ("postgresql.conf", "postgresql.auto.conf"):
            Path(folder, file).touch()
        yield folder


def _value(run: Run, name: str, folder: str) -> str | None:
    """Ask for one option, if it exists. -C comes first: a server that is started by root refuses all else."""
    stdout, stderr = run("postgres", ("-C", name, "-D", folder))
    if not stdout and "unrecognized configuration parameter" not in stderr:
        raise IdentityError(f"postgres -C {name} gives no value; it said: {last_lines(stderr)}")
    return stdout.removesuffix("\n") if stdout else None


def _choices(run: Run, name: str, folder: str) -> tuple[str, ...]:
    """Set an enumeration to a word that it does not have: the complaint names all that it has."""
    _, stderr = run("postgres", ("-C", name, "-D", folder, "-c", f"{name}=?"))
    match = re.search(r"Available values: (.+?)\.?$", stderr, re.MULTILINE)
    return tuple(match[1].split(", ")) if match else ()


def _ask_several(ask: Callable[[str], Answer], names: Sequence[str]) -> dict[str, Answer]:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_STARTS_AT_A_TIME) as pool:
        return dict(zip(names, pool.map(ask, names), strict=True))


_NUMBER = re.compile(r"([+-]?(\d++\.?\d*+|\.\d++)([eE][+-]?\d++)?|0x[0-9a-fA-F]++)\s*+(B|kB|MB|GB|TB|us|ms|s|min|h|d)?")
_UNITS = {"K": "kB", "M": "MB", "G": "GB", "T": "TB"}


def value_fault(info: OptionInfo, text: str) -> str | None:
    if info.type != "number":
        return None
    match = _NUMBER.fullmatch(text)
    if match is None:
        size = re.fullmatch(r"(\d+)\s*([KMGT])i?B", text, re.IGNORECASE)
        hint = f"; did you mean `{size[1]}{_UNITS[size[2].upper()]}`?" if size else ""
        return f"takes a number, with a unit such as kB, MB, GB, ms, s or min, not `{text}`{hint}"
    least, most = info.least, info.most
    if match[4] or text.startswith("0x") or not least or not most:
        return None  # with a unit it counts something else than the range does
    if float(least) <= float(text) <= float(most):
        return None
    return f"{range_fault('', least, most, text)}: in its own unit, where none is given"
