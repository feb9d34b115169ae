"""Options and identity of mysqld and mariadbd: what a binary lists, which names and values it takes, lint rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from tempfile import gettempdir
from typing import TYPE_CHECKING

from stepgrid.model.records import Catalogue
from stepgrid.plugins.durability import (
    BINARY_LOG,
    COMMIT,
    GROUP,
    NONE,
    OS,
    OTHER,
    SYNC,
    TORN_PAGES,
    Default,
    Promise,
    Switch,
)
from stepgrid.plugins.engine import EqualOptions, Identity, IdentityError, OptionInfo, Run, last_lines

if TYPE_CHECKING:
    from stepgrid.lint.rule import Facts, Rule, Verdict

# what options can move, by patterns of their names
EFFECTS: Mapping[str, tuple[str, ...]] = {
    "*buffer_pool* *cache_size* *key_buffer*": ("cache", "disk", "cpu"),
    "*flush_log* sync_binlog log_bin *doublewrite* *flush_method* *use_fdatasync": ("disk",),
    "*io_capacity* *io_threads* *read_ahead* *redo* innodb_log_* *flush_neighbors *change_buffering": ("disk", "stall"),
    "*compress* *page_size* *block_size*": ("cpu", "size", "cache", "disk"),
    "*adaptive_hash* *spin* thread_* query_cache* *lock_schedule*": ("cpu", "lock"),
    "optimizer_* sort_buffer* join_buffer* tmp_table* *max_heap_table* *stats_*": ("cpu", "cache", "disk"),
    "*purge* performance_schema* *checksum* character_set_* collation_* *binlog_format": ("cpu", "disk"),
}

BOOLEANS = ("true", "false", "on", "off", "1", "0")
_VERSION = re.compile(
    r"\bVer (?P<version>\d+(?:\.\d+)+)(?P<suffix>(?!\.?\d)\S*) (?:from \S+ )?for (?P<host>\S+ on \S+)"
)
_SLOW = {
    "debug": "this is a debug build: assertions and checks make it slow",
    "asan": "this build checks every access to memory (asan), which makes it slow",
    "tsan": "this build checks its threads (tsan), which makes it slow",
    "ubsan": "this build checks for undefined behaviour (ubsan), which makes it slow",
    "msan": "this build checks every access to memory (msan), which makes it slow",
    "valgrind": "this build is made for valgrind, which makes it slow",
}


def identify(run: Run, program: str) -> Identity:
    stdout, stderr = run(program, ("--no-defaults", "--version"))
    match = _VERSION.search(stdout)
    if match is None:
        raise IdentityError(
            f"{program} --version does not say which version it is; it said: {last_lines(stdout + stderr)}"
        )
    facts = {"said": stdout[match.start() :].strip().splitlines()[0], "for": match["host"]}
    return identity(match["version"], match["suffix"], facts)


def identity(version: str, suffix: str, facts: Mapping[str, str]) -> Identity:
    """Warn of a slow build, by the words behind its version."""
    marks = re.findall(r"[a-z]+", suffix.lower())
    warnings = tuple(sentence for mark, sentence in _SLOW.items() if mark in marks)
    return Identity(version, warnings, "debug" in marks, facts)


def catalogue(run: Run, program: str, plugins: Sequence[str] = ()) -> Mapping[str, OptionInfo]:
    """List the options; `plugins`: arguments that make it list those of plugins as well."""
    arguments = ("--no-defaults", "--verbose", "--help", *plugins)
    stdout, stderr = run(program, arguments)
    options = parse_help(stdout)
    if "datadir" not in options or "max_connections" not in options:
        raise IdentityError(
            f"{program} --verbose --help does not list its options; it said: {last_lines(stdout + stderr)}"
        )
    case = "lower_case_table_names"
    if case in options and options[case].default == "2":
        # what MySQL 8 says where there is no data directory: with one, however empty, it looks at the file system
        stdout, _ = run(program, (*arguments, f"--datadir={gettempdir()}"))
        options[case] = parse_help(stdout).get(case, options[case])
    return options


# Help: a description of each option, then a table of the values.

# in a default, in place of what differs from machine to machine
_BASE, _HOST = "{basedir}", "{hostname}"
_ENTRY = re.compile(
    r"^  (?:-\S, )?--(?P<name>[A-Za-z][\w.-]*)(?P<argument>\[=(?:#|name)\]|=(?:#|name))?(?: +(?P<help>\S.*)| ?)$"
)


def parse_help(text: str) -> dict[str, OptionInfo]:
    """Name options as option files do, with underscores; prefixes such as skip_ and loose_ are no options."""
    descriptions, _, table = text.partition("Variables (--variable-name=value)")
    defaults = _defaults(table)  # has more names, of variables that are no options
    local_names = _local_names(defaults)
    options = {}
    for name, argument, help_ in _descriptions(descriptions):
        default, kind = defaults.get(name, ""), _type(argument, help_)
        if default == "(No default value)" or name == "basedir":
            default = ""
        for pattern, placeholder in local_names if kind == "text" else ():
            default = pattern.sub(placeholder, default)
        words = choices(help_, default) if kind == "enum" else ()
        options[name] = OptionInfo(name, kind, default, help_, choices=words)
    return options


def _descriptions(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield (name, argument, help); lines that are further indented continue the help."""
    entry: list[str] = []
    for line in text.splitlines():
        if match := _ENTRY.match(line):
            if entry:
                yield entry[0], entry[1], " ".join(filter(None, entry[2:]))
            entry = [match["name"].replace("-", "_"), match["argument"] or "", (match["help"] or "").strip()]
        elif entry and line.startswith("      "):
            entry.append(line.strip())
    if entry:
        yield entry[0], entry[1], " ".join(filter(None, entry[2:]))


def _defaults(table: str) -> dict[str, str]:
    """Read the table below its rule; the last of two values counts: a plugin and its own option may share a name."""
    defaults: dict[str, str] = {}
    lines = iter(table.splitlines())
    for line in lines:
        if line.startswith("-----"):
            break
    for line in lines:
        if not line.strip():
            break
        name, _, value = line.partition(" ")
        defaults[name.replace("-", "_")] = value.strip()
    return defaults


def _local_names(defaults: Mapping[str, str]) -> list[tuple[re.Pattern[str], str]]:
    """Match the base folder and the host name in defaults, each with its placeholder."""
    names = []
    if base := defaults.get("basedir", "").rstrip("/"):
        names.append((re.compile(rf"^{re.escape(base)}(?=/)"), _BASE))
    if host := re.fullmatch(r"(?:.*/)?([^/]+)\.pid", defaults.get("pid_file", "")):
        names.append((re.compile(rf"(?<![^/]){re.escape(host[1])}(?=[.-]|$)"), _HOST))
    return names


def _type(argument: str, help_: str) -> str:
    if not argument:
        return "bool"
    if "#" in argument:
        return "number"  # with a suffix K, M, G …, and of some with a fraction
    if re.search(r"\b[Aa]ny combination of", help_):
        return "set"
    return "enum" if re.search(r"\bOne of: |\b[Pp]ossible values (?:are|for)", help_) else "text"


def choices(help_: str, default: str) -> tuple[str, ...]:
    """Read the words of an enumeration, where the help lists all of them clearly, the default among them."""
    complete = re.search(r"\bOne of: (.+)$", help_)  # MariaDB writes it itself
    match = complete or re.search(r"\bPossible values are:? ([^;]+?)(?:; default is \w+)?\.?$", help_)
    if match is None:
        return ()
    names = tuple(re.split(r",? (?:and|or) |, ", re.sub(r"(?<!\s)\s*+\([^()]*+\)", "", match[1]).rstrip(".")))
    if not complete and "FORCE" in names:
        return ()  # a plugin's: it takes FORCE_PLUS_PERMANENT as well, which MySQL does not list
    plain = all(re.fullmatch(r"[A-Za-z][\w-]*", name) for name in names)
    return names if plain and default.lower() in (name.lower() for name in names) else ()


def prefixed_option(name: str, catalogue: Catalogue) -> OptionInfo | None:
    """Describe the values of an option that is written with a prefix, if the server takes the name."""
    prefix, _, option = name.partition("_")
    info = catalogue.get(option)
    if prefix == "loose":  # a server passes over what it does not know, which a plugin may bring later
        return info or prefixed_option(option, catalogue) or OptionInfo()
    if info is None:
        return None
    number = info.type == "number"
    if prefix in ("skip", "disable", "enable") and not number:
        return OptionInfo(type="switch")
    return info if prefix == "maximum" and number else None


def value_fault(info: OptionInfo, text: str) -> str | None:
    kind = info.type
    if kind == "number" and not re.fullmatch(r"[+-]?\d+(\.\d+)?[kmgtpe]?", text, re.IGNORECASE):
        size = re.fullmatch(r"(\d+)([KMGT])B", text, re.IGNORECASE)
        hint = f"; did you mean `{size[1]}{size[2].upper()}iB`?" if size else ""
        return f"takes a number, with one letter of K, M, G, T, P or E after it, not `{text}`{hint}"
    if kind == "switch" and text.lower() not in ("on", "true", "1", "0"):  # a prefix: any value but 0 is the same
        return f"takes ON, or 0 for the contrary, not `{text}`, which the server takes for ON"
    return None


# Lint rules: caches larger than the memory, and the window of deletes by which MyRocks starts a compaction.

_DELETES = "rocksdb_compaction_sequential_deletes"
_WINDOW = f"{_DELETES}_window"


@cache  # the same objects for both engines: a spec with both has each rule once
def rules() -> Sequence[Rule]:
    from stepgrid.lint.rule import Rule, each_step
    from stepgrid.lint.spec_rules import cache_over_memory

    checks = each_step((_WINDOW,), _check_sequential_deletes, (_DELETES,))
    return (
        Rule("sequential-deletes", "as many deletes as the window has keys", checks),
        cache_over_memory("innodb_buffer_pool_size", "rocksdb_block_cache_size"),
    )


def _check_sequential_deletes(facts: Facts) -> Verdict | None:
    from stepgrid.lint.rule import Verdict

    deletes, window = facts.amount(_DELETES, 0), facts.amount(_WINDOW, 0)
    if deletes <= 0 or deletes < window:
        return None
    if window <= 0:
        message = f"`{_DELETES}` does nothing: its window is 0"
        return Verdict(_DELETES, message, f"add `{_WINDOW}: {deletes + 1:.0f}`")
    message = (
        f"{deletes:,.0f} sequential deletes in a window of {window:,.0f} keys: the number must be below the window"
    )
    return Verdict(_DELETES, message, f"`{_DELETES}: {window - 1:.0f}`")


# Durability, with the defaults of releases from their manuals

_FLUSH = {"0": NONE, "1": SYNC, "2": OS}
_NO_SYNC = tuple(("innodb_flush_method", word, {SYNC: OS}) for word in ("nosync", "3"))  # its number in the enumeration
_NO_LOG = (("rocksdb_write_disable_wal", "1", {SYNC: NONE, OS: NONE}),)
_BINARY_LOG = {"0": OS, "1": SYNC, OTHER: GROUP}
_NO_BINARY_LOG = ("skip_log_bin", "disable_log_bin")


def promises(log_bin: Default, sync_binlog: Default) -> tuple[Promise, ...]:
    """Make the table of an engine; MySQL and MariaDB differ in the defaults of their binary logs."""
    switch = Switch("log_bin", log_bin, NONE, _NO_BINARY_LOG)
    return (
        Promise(COMMIT, "innodb_flush_log_at_trx_commit", "1", _FLUSH, storage_engine="innodb", changes=_NO_SYNC),
        Promise(COMMIT, "rocksdb_flush_log_at_trx_commit", "1", _FLUSH, storage_engine="rocksdb", changes=_NO_LOG),
        Promise(BINARY_LOG, "sync_binlog", sync_binlog, _BINARY_LOG, switch),
        Promise(
            TORN_PAGES, "innodb_doublewrite", "1", {"0": "unprotected", "detect_only": "detected", OTHER: "protected"},
            storage_engine="innodb",
        ),
    )  # fmt: skip


def _equal(memory: str, flush: str, storage_engine: str) -> EqualOptions:
    levels = ((NONE, 0, 0), (OS, 2, 0), (SYNC, 1, 1))
    durability = {word: {flush: level, "sync_binlog": binary_log} for word, level, binary_log in levels}
    return EqualOptions(memory, durability=durability, storage_engine=storage_engine)


EQUAL = (
    _equal("innodb_buffer_pool_size", "innodb_flush_log_at_trx_commit", "innodb"),
    _equal("rocksdb_block_cache_size", "rocksdb_flush_log_at_trx_commit", "rocksdb"),
)
