"""RocksDB, embedded in db_bench: the program is client and engine in one."""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stepgrid.language.sources import PublishedLibrary
from stepgrid.plugins.counters import CACHE_HITS, CACHE_MISSES, COMMITS, FSYNCS, SYNCS
from stepgrid.plugins.durability import NONE, OS, SYNC
from stepgrid.plugins.engine import (
    Built,
    EngineBase,
    EngineEvent,
    EqualOptions,
    Identity,
    IdentityError,
    OptionInfo,
    Release,
    Renaming,
    Run,
    last_lines,
    range_fault,
)

if TYPE_CHECKING:
    from stepgrid.build.recipe import Recipe
    from stepgrid.lint.rule import Rule

# The first release that can, from db_bench's source at the release tags (tests/engines/test_rocksdb_source.py).
# `waitforcompaction` can hang under universal compaction before 8.7: for that there is a name of its own.
SINCE: Mapping[str, Release] = {
    "benchmark_read_rate_limit": (5, 1),
    "max_background_jobs": (5, 7),
    "mixgraph": (6, 0),
    "multiread_batched": (6, 2),
    "enable_blob_files": (6, 18),
    "waitforcompaction": (6, 19),
    "flush": (6, 19),
    "compact0": (6, 19),
    "compact1": (6, 19),
    "memstats": (6, 19),
    "prepopulate_block_cache": (6, 22),
    "async_io": (7, 2),
    "cache_type": (7, 4),
    "use_blob_cache": (7, 5),
    "prepopulate_blob_cache": (7, 6),
    "cache_low_pri_pool_ratio": (7, 6),
    "hyper_clock_cache": (7, 7),
    "multireadwhilewriting": (7, 9),
    "auto_hyper_clock_cache": (8, 6),
    "fixed_hyper_clock_cache": (8, 6),
    "waitforcompaction_universal": (8, 7),
}

# the first release that has the new name, or not the old one, from the same source
RENAMINGS = (
    Renaming("disable_data_sync", (5, 3)),
    Renaming("mix_ave_kv_size", (6, 26)),
    *(
        Renaming(name, (7, 0))
        for name in (
            "base_background_compactions", "hard_rate_limit", "new_table_reader_for_compaction_inputs",
            "rate_limit_delay_max_milliseconds", "soft_rate_limit",
        )
    ),
    Renaming("use_block_based_filter", (7, 4)),
    Renaming("use_clock_cache", (7, 4), "cache_type", words={"false": "lru_cache", "true": "clock_cache"}),
    Renaming("use_clock_cache", (7, 7), "cache_type", words={"false": "lru_cache", "true": "hyper_clock_cache"}),
    Renaming("use_tiered_volatile_cache", (8, 10), "use_tiered_cache"),
    Renaming("check_flush_compaction_key_order", (9, 0)),
    Renaming("compaction_fadvice", (9, 0)),
    Renaming("random_access_max_buffer_size", (9, 11)),
    Renaming("max_write_buffer_number_to_maintain", (10, 2)),
)  # fmt: skip

# gflags' own options, and those of tools that a shared library carries along: db_bench takes them and does nothing
_OTHER_PROGRAMS = re.compile(r"/gflags\w*\.cc$|_analyzer\w*\.cc$|_parser\w*\.cc$")

# what db_bench compares these with; an older one takes another word for snappy, and says so among its output
_COMPRESSION = ("none", "snappy", "zlib", "bzip2", "lz4", "lz4hc", "xpress", "zstd")
_CACHES = (
    "lru_cache", "clock_cache", "fast_lru_cache", "hyper_clock_cache", "fixed_hyper_clock_cache",
    "auto_hyper_clock_cache",
)  # fmt: skip

# options of db_bench that change neither the files of a database nor the shape of its tree
_READ_OPTIONS = (
    "*cache_size", "cache_*", "*_cache_numshardbits", "pin_*", "*_pinning", "compressed_secondary_cache_*",
    "use_blob_cache", "use_compressed_secondary_cache", "secondary_cache_uri", "readahead_size", "*auto_readahead_size",
    "adaptive_readahead", "num_file_reads_for_auto_readahead", "async_io", "mmap_read", "use_direct_reads",
    "open_files", "file_opening_threads", "multiread_*", "optimize_multiget_for_io", "verify_checksum",
    "advise_random_on_open", "statistics", "stats_level", "perf_level", "report_*", "histogram",
)  # fmt: skip

_WRITTEN_OPTIONS = ("trace_file", "block_cache_trace_file", "report_file", "backup_dir", "restore_dir", "*_path")

# what options can move, by patterns of their names
_EFFECTS: Mapping[str, tuple[str, ...]] = {
    "*compression* *block_size* *block_restart* format_version index_type": ("cpu", "size", "cache", "disk"),
    "*cache* *bloom* *filter* *prefix*": ("cache", "cpu", "disk", "lock"),
    "sync disable_wal *wal* *bytes_per_sync use_fsync *direct* *readahead* *mmap*": ("disk",),
    "*write_buffer* *level* *compaction* *rate*limit* *stall* *background*": ("stall", "disk", "cpu", "size"),
    "*memtable* *concurrent* *pipelined* *checksum* *xxh*": ("cpu", "lock"),
}

_WRITES = {word: {"disable_wal": word == NONE, "sync": word == SYNC} for word in (NONE, OS, SYNC)}

_COUNTER_NAMES: Mapping[str, Sequence[str]] = {
    FSYNCS: ("rocksdb.wal.synced",),
    SYNCS: ("rocksdb.wal.synced",),
    COMMITS: ("rocksdb.write.self", "rocksdb.write.other"),
    CACHE_HITS: ("rocksdb.block.cache.hit",),
    CACHE_MISSES: ("rocksdb.block.cache.miss",),
}

_SMALL_LOAD = ("--benchmarks=fillseq", "--num=10", "--seed=1")


class RocksDB(EngineBase):
    name = "rocksdb"
    programs: tuple[str, ...] = ("db_bench",)
    kinds: tuple[str, ...] = ("db_bench", "quiesce", "crash", "command")
    immutable: tuple[str, ...] = ("*.sst", "*.blob")
    storage_engines: tuple[str, ...] = ("rocksdb",)
    default_storage_engine = "rocksdb"
    systems: tuple[str, ...] = ("make", "cmake")
    first_releases = SINCE
    read_options = _READ_OPTIONS
    option_effects = _EFFECTS
    written_options = _WRITTEN_OPTIONS
    bookkeeping = ("LOG*", "LOCK", "MANIFEST-*", "CURRENT", "OPTIONS-*", "IDENTITY", "*.log")
    counter_names = _COUNTER_NAMES
    renamings = RENAMINGS
    choices: Mapping[str, Sequence[str]] = {
        "compression_type": _COMPRESSION,
        "blob_compression_type": _COMPRESSION,
        "blob_db_compression_type": _COMPRESSION,
        "compressed_secondary_cache_compression_type": _COMPRESSION,
        "cache_type": _CACHES,
    }

    repository = "https://github.com/facebook/rocksdb.git"
    # the library of a release and the tree of the same release make its program in seconds
    libraries: Mapping[str, PublishedLibrary] = {
        "org.rocksdb:rocksdbjni": PublishedLibrary("linux64", repository, "v{}", one_jar_from=11),
        "io.github.speedb-io:speedbjni": PublishedLibrary("", "https://github.com/speedb-io/speedb.git", "speedb/v{}"),
    }
    version_file = "include/rocksdb/version.h"
    booleans = ("true", "false", "t", "f", "yes", "no", "y", "n", "1", "0")
    counts_choices = False
    event_log = "LOG"
    equal = (EqualOptions("cache_size", durability=_WRITES),)
    known_options = Path(__file__).with_name("known_options.json")

    def value_fault(self, info: OptionInfo, text: str) -> str | None:
        return number_fault(info.type, text)

    def identify(self, run: Run) -> Identity:
        with tempfile.TemporaryDirectory(prefix="db_bench.") as folder:
            stdout, stderr = run("db_bench", (*_SMALL_LOAD, f"--db={folder}"))
            path = Path(folder, "LOG")
            log = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        output = f"{stdout}\n{stderr}"
        if "micros/op" not in stdout:
            raise IdentityError(f"db_bench did not get through a load of 10 keys; it said: {last_lines(output)}")
        return _identity(log, f"{' '.join(run('db_bench', ('--version',)))}\n{output}")

    def catalogue(self, run: Run) -> Mapping[str, OptionInfo]:
        stdout, stderr = run("db_bench", ("--help",))
        options = gflags_options(stdout or stderr, _OTHER_PROGRAMS)
        if "benchmarks" not in options:
            raise IdentityError(f"db_bench --help does not list its options; it said: {last_lines(stdout + stderr)}")
        return options

    def levels(self, database: Path) -> Sequence[Mapping[str, float | str]]:
        return tree_levels(database)

    def events(self, lines: Iterable[str]) -> Iterable[EngineEvent]:
        return log_events(lines)

    def version_in(self, text: str) -> str:
        from stepgrid_databases.engines.recipes.rocksdb import version_in

        return version_in(text)

    def recipes(self) -> Sequence[Recipe]:
        from stepgrid_databases.engines.recipes.rocksdb import RocksDBCMake, RocksDBLibrary, RocksDBMake

        return RocksDBLibrary(), RocksDBMake(), RocksDBCMake()

    def rules(self) -> Sequence[Rule]:
        from stepgrid.lint.spec_rules import cache_over_memory

        return [cache_over_memory("cache_size")]


def _identity(log: str, output: str) -> Identity:
    """Read the version from the database's LOG, since 6.11 prints its patch level nowhere else, or from the output."""
    version = (
        re.search(r"^\S+ \S+ RocksDB version: (\d+(?:\.\d+)+)", log, re.MULTILINE)
        or re.search(r"^db_bench version (\d+(?:\.\d+)+)", output, re.MULTILINE)
        or re.search(r"^RocksDB: +version (\d+(?:\.\d+)+)", output, re.MULTILINE)
    )
    if version is None:
        raise IdentityError(f"db_bench does not say which RocksDB it is; it said: {last_lines(output)}")
    warnings = tuple(dict.fromkeys(re.findall(r"^WARNING: (.+)$", output, re.MULTILINE)))
    assertions = any("Assertions are enabled" in warning for warning in warnings)
    matches = {
        "git": re.search(r"Git sha ([0-9a-f]{7,})", log),
        "compiled": re.search(r"Compile date (.+)", log),
        "default compression": re.search(r"^Compression: (.+)$", output, re.MULTILINE),
    }
    facts = {name: match[1].strip() for name, match in matches.items() if match}
    return Identity(version[1], warnings, assertions, facts)


# Options, as a program built on gflags names them in its --help.

_FILE = re.compile(r"^  Flags from (.+):$")
_FLAG = re.compile(
    r"^-(?P<name>\w+) \((?P<help>.*)\) type: (?P<type>\w+) default: (?P<default>.*?)(?: currently: .*)?$", re.DOTALL
)
_WHOLE = re.compile(r"[+-]?(\d+|0[xX][0-9a-fA-F]+)")
_REAL = re.compile(r"[+-]?(\d++\.?\d*+|\.\d++)([eE][+-]?\d++)?|[+-]?inf", re.IGNORECASE)
_RANGES: Mapping[str, tuple[int, int]] = {
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
}


def gflags_options(text: str, other_files: re.Pattern[str]) -> dict[str, OptionInfo]:
    """Parse the options of all source files that the pattern does not match."""
    options = {}
    for file, entry in _entries(text):
        match = None if other_files.search(file) else _FLAG.match(entry)
        if match:
            default = match["default"]
            if match["type"] == "string":
                default = default.removeprefix('"').removesuffix('"')
            options[match["name"]] = OptionInfo(match["name"], match["type"], default, match["help"])
    return options


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Join entries, which gflags wraps at 80 columns and indents; yield (source file, entry)."""
    file, entry = "", ""
    for line in [*text.splitlines(), ""]:
        heading = _FILE.match(line)
        begins = line.startswith("    -")
        if (heading or begins or not line.strip()) and entry and _FLAG.match(entry):
            yield file, entry
            entry = ""
        if heading:
            file, entry = heading[1], ""
        elif begins:
            entry = line.strip()
        elif entry and line.strip():
            entry = f"{entry} {line.strip()}"


def number_fault(kind: str, text: str) -> str | None:
    """Say why a text is no value of this type; types that hold no numbers take any."""
    if kind not in (*_RANGES, "double"):
        return None
    if not (_REAL if kind == "double" else _WHOLE).fullmatch(text):
        return f"takes a number ({kind}), not `{text}`{_size_advice(text)}"
    if kind == "double":
        return None
    least, most = _RANGES[kind]
    return (
        None if least <= int(text, 0 if "x" in text.lower() else 10) <= most else range_fault(kind, least, most, text)
    )


def _size_advice(text: str) -> str:
    if size := re.fullmatch(r"(\d+)\s*([KMGT])i?B?", text, re.IGNORECASE):
        return f"; did you mean `{size[1]}{size[2].upper()}iB`? sizes are written in KiB, MiB or GiB"
    if re.match(r"\d+\s*[A-Za-z]", text):
        return "; sizes are written in KiB, MiB or GiB"
    return "; a size has no sign" if re.match(r"[+-]\d+\s*[A-Za-z]", text) else ""


# Levels of an LSM tree, by the MANIFEST of its folder: no program has to open the database for that.
#
# The file is a log of edits, in records that may be cut at the ends of blocks; an edit is a sequence of tagged fields.

_BLOCK, _HEADER = 32768, 7  # bytes; a header is a checksum, a length and a type
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_ADDED, _DELETED = (7, 100, 102, 103), 6  # a file
_FAMILY, _NEW_FAMILY, _DROPPED_FAMILY = 200, 201, 202
_FULLEST, _WITH_PATH = 103, 102  # of the ways to add a file: those with fields of their own, with a path's number
_END_OF_FILE, _END_OF_BLOB = 1, 0  # of such fields
_IGNORABLE = 1 << 13  # in the tag of a field that says how long it is
_NOT_IGNORABLE = (8196, 8197)  # these do not, whatever their tags say: logs, of some releases that were told to
# all other tags: numbers, texts, and fields of their own up to a tag that ends them
_FORMS: Mapping[int, str] = {
    1: "t",  # the comparator
    **dict.fromkeys((2, 3, 4, 9, 10, 203, 300), "n"),
    5: "nt",
    **dict.fromkeys((400, 8194), "nnntt*"),  # a file of blobs
    **dict.fromkeys((401, 8195), "nnn*"),  # and what of it is garbage
}


def tree_levels(database: Path) -> list[dict[str, float | str]]:
    """Sum files and bytes of each column family and level, over all trees in a folder and below it.

    ValueError: a manifest is damaged, or of an unknown release.
    """
    sizes: dict[tuple[str, int], list[int]] = defaultdict(list)
    for current in sorted(database.rglob("CURRENT")):
        manifest = current.parent / current.read_text(encoding="utf-8").strip()
        try:
            for family, level, file_sizes in _Tree(manifest.read_bytes()).levels():
                sizes[family, level] += file_sizes
        except IndexError:
            raise ValueError("a manifest ends within an edit") from None
    return [
        {"family": family, "level": f"L{level}", "files": float(len(files)), "bytes": float(sum(files))}
        for (family, level), files in sorted(sizes.items())
    ]


class _Tree:
    """Files by column family and level after all edits of a manifest."""

    def __init__(self, manifest: bytes) -> None:
        self._names = {0: "default"}
        self._files: dict[tuple[int, int], dict[int, int]] = {}  # family, level -> number -> bytes
        for record in _records(manifest):
            self._apply(_Edit(record))

    def levels(self) -> Iterator[tuple[str, int, list[int]]]:
        for (family, level), files in self._files.items():
            if files:
                yield self._names[family], level, [*files.values()]

    def _apply(self, edit: _Edit) -> None:
        family = 0
        while not edit.ended:
            tag = edit.number()
            if tag == _FAMILY:
                family = edit.number()
            elif tag == _NEW_FAMILY:
                self._names[family] = edit.text().decode("utf-8", "replace")
            elif tag == _DROPPED_FAMILY:
                self._files = {key: files for key, files in self._files.items() if key[0] != family}
            elif tag in _ADDED:
                level, file, size = edit.added_file(tag)
                self._files.setdefault((family, level), {})[file] = size
            elif tag == _DELETED:
                level, file = edit.number(), edit.number()
                self._files.get((family, level), {}).pop(file, None)
            else:
                edit.skip(tag)


class _Edit:
    """Cursor over the fields of an edit; reading past its end raises IndexError."""

    def __init__(self, record: bytes) -> None:
        self._record, self._offset = record, 0

    @property
    def ended(self) -> bool:
        return self._offset >= len(self._record)

    def number(self) -> int:
        """Read seven bits a byte, the lowest first."""
        value = shift = 0
        while True:
            byte = self._record[self._offset]
            self._offset += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def text(self) -> bytes:
        size = self.number()
        self._offset += size
        if self._offset > len(self._record):
            raise IndexError
        return self._record[self._offset - size : self._offset]

    def added_file(self, tag: int) -> tuple[int, int, int]:
        """Read (level, number of the file, bytes)."""
        level, file = self.number(), self.number()
        if tag == _WITH_PATH:
            self.number()
        size = self.number()
        self.text(), self.text()  # the smallest key and the largest
        if tag != _ADDED[0]:
            self.number(), self.number()  # and of their sequence numbers
        if tag == _FULLEST:
            self._skip_until(_END_OF_FILE)
        return level, file, size

    def skip(self, tag: int) -> None:
        form = _FORMS.get(tag, "t" if tag & _IGNORABLE and tag not in _NOT_IGNORABLE else None)
        if form is None:
            raise ValueError(f"a manifest has a field {tag}, which is not known")
        for kind in form:
            if kind == "n":
                self.number()
            elif kind == "t":
                self.text()
            else:
                self._skip_until(_END_OF_BLOB)

    def _skip_until(self, end: int) -> None:
        while self.number() != end:
            self.text()


def _records(manifest: bytes) -> Iterator[bytes]:
    """Join the parts of each record. An unfinished last record was never committed: it is ignored, as by RocksDB."""
    parts, offset = list[bytes](), 0
    while offset + _HEADER <= len(manifest):
        rest_of_block = _BLOCK - offset % _BLOCK
        if rest_of_block < _HEADER:
            offset += rest_of_block
            continue
        size, kind = int.from_bytes(manifest[offset + 4 : offset + 6], "little"), manifest[offset + 6]
        begin = offset + _HEADER
        offset = begin + size
        if kind not in (_FULL, _FIRST, _MIDDLE, _LAST) or offset > len(manifest):
            return
        parts = [*([] if kind in (_FULL, _FIRST) else parts), manifest[begin:offset]]
        if kind in (_FULL, _LAST):
            yield b"".join(parts)


# Events by the log: jobs, and stalls of writers. Its lines have local time; the events among them, that of the world.

_EVENT = re.compile(r"EVENT_LOG_v1 (\{.*\})")
_JOB = re.compile(r"(flush|compaction)_(started|finished)")
_STALL = re.compile(r"\] (Stopping|Stalling) writes because (.+?)(?: rate \d+)?\s*$")
_STALLS = {"Stopping": "write stop", "Stalling": "write slowdown"}
_ANY_STALL = "stall"  # as a key: there is one at a time
_RELAXED = "] Increasing compaction threads because"  # and all writers are let through
_ZONE = 900.0  # seconds: time zones differ by multiples of it


class _Moment(NamedTuple):
    """A line that begins something of a kind, or ends it."""

    time: float
    key: str  # which job, or any stall
    kind: str = ""
    cause: str = ""


def log_events(lines: Iterable[str]) -> Iterator[EngineEvent]:
    """Yield flushes, compactions and stalls of writers.

    A stall is logged when it begins, and again while it goes on. A flush or a compaction that ends can end it.
    """
    running: dict[str, _Moment] = {}
    for moment in sorted(_moments(lines)):
        for key in (moment.key,) if moment.kind else (moment.key, _ANY_STALL):
            if begin := running.pop(key, None):
                yield EngineEvent(begin.time, moment.time - begin.time, begin.kind, begin.cause)
        if moment.kind:
            running[moment.key] = moment
    yield from (EngineEvent(begin.time, math.inf, begin.kind, begin.cause) for begin in running.values())


def _moments(lines: Iterable[str]) -> Iterator[_Moment]:
    zone = 0.0
    for line in lines:
        with suppress(ValueError, KeyError, TypeError):  # a line that is cut off
            if event := _EVENT.search(line) if "EVENT_LOG_v1" in line else None:
                record = json.loads(event[1])
                time, job = record["time_micros"] / 1e6, _JOB.fullmatch(record["event"])
                zone = round((_stamp(line) - time) / _ZONE) * _ZONE
                if job:
                    kind, cause = (job[1], record.get(f"{job[1]}_reason", "")) if job[2] == "started" else ("", "")
                    yield _Moment(time, f"{job[1]} {record['job']}", kind, cause)
            elif stall := _STALL.search(line) if " writes because " in line else None:
                yield _Moment(_stamp(line) - zone, _ANY_STALL, _STALLS[stall[1]], stall[2])
            elif _RELAXED in line:
                yield _Moment(_stamp(line) - zone, _ANY_STALL)


def _stamp(line: str) -> float:
    return datetime.strptime(line.partition(" ")[0], "%Y/%m/%d-%H:%M:%S.%f").replace(tzinfo=UTC).timestamp()


ENGINE: Built = RocksDB()
