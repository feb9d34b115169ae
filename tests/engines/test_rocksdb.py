"""What db_bench says of itself, shapes of its help, manifests as RocksDB writes them."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.plugins.engine import EngineEvent, IdentityError, OptionInfo, Run
from stepgrid.plugins.registry import engine
from stepgrid_databases.engines import rocksdb
from stepgrid_databases.engines.rocksdb import tree_levels

ROCKSDB = engine("rocksdb")


@pytest.mark.parametrize(
    ("capability", "without", "having"),
    [
        ("multiread_batched", "6.0.2", "6.11.4"),
        ("waitforcompaction", "6.11.4", "6.19.3"),
        ("flush", "6.11.4", "6.20.3"),
        ("prepopulate_block_cache", "6.19.3", "6.22.1"),
        ("cache_type", "7.3.1", "7.4.3"),
        ("hyper_clock_cache", "7.6.0", "7.7.2"),
        ("auto_hyper_clock_cache", "8.5.4", "8.6.7"),
        ("waitforcompaction_universal", "8.6.7", "8.7.3"),
        ("enable_blob_files", "6.17.3", "6.18.1"),
    ],
)
def test_capabilities_by_release(capability: str, without: str, having: str) -> None:
    assert capability not in ROCKSDB.capabilities(without)
    assert capability in ROCKSDB.capabilities(having)


def _binary(stdout: str, stderr: str, version: str, log: str | None) -> Run:
    """What db_bench leaves behind, without running it: the real ones run in tests/integration."""

    def run(program: str, argv: Sequence[str]) -> tuple[str, str]:
        assert program == "db_bench"
        if argv[0] == "--version":
            return version, ""
        folder = next(flag.removeprefix("--db=") for flag in argv if flag.startswith("--db="))
        if log is not None:
            Path(folder, "LOG").write_text(log)
        return stdout, stderr

    return run


LOADED = "fillseq      :     292.400 micros/op 3396 ops/sec;    0.4 MB/s\n"


def test_the_log_knows_the_patch_level() -> None:
    """6.11.4 prints `db_bench` for a version, and 6.11 in front of a benchmark."""
    log = (
        "2026/11/20-12:24:15.227185 7f8f RocksDB version: 6.11.4\n2026/11/20-12:24:15.2 7f8f Compile date Aug 27 2022\n"
    )
    found = ROCKSDB.identify(_binary(LOADED, "RocksDB:    version 6.11\n", "db_bench\n", log))
    assert (found.version, found.warnings, found.assertions) == ("6.11.4", (), False)
    assert found.facts == {"compiled": "Aug 27 2022"}


def test_what_it_says_against_itself_is_kept() -> None:
    warnings = (
        "WARNING: Optimization is disabled: benchmarks unnecessarily slow\nWARNING: Assertions are enabled; slow\n"
    )
    found = ROCKSDB.identify(_binary(warnings + LOADED, "", "db_bench version 7.8.3\n", None))
    assert found.warnings == ("Optimization is disabled: benchmarks unnecessarily slow", "Assertions are enabled; slow")
    assert found.assertions is True


def test_a_binary_that_does_not_run() -> None:
    broken = _binary("", "db_bench: error while loading shared libraries: libsnappy.so.1\n", "", None)
    with pytest.raises(IdentityError) as caught:
        ROCKSDB.identify(broken)
    assert str(caught.value) == (
        "db_bench did not get through a load of 10 keys; it said: "
        "db_bench: error while loading shared libraries: libsnappy.so.1"
    )


def test_a_binary_that_says_nothing_of_itself() -> None:
    with pytest.raises(IdentityError, match=r"^db_bench does not say which RocksDB it is; it said: fillseq .*$"):
        ROCKSDB.identify(_binary(LOADED, "", "", None))


def test_flags_of_other_programs_are_not_options() -> None:
    """Debian's shared library brings them along: db_bench accepts them and does nothing."""
    text = "".join(
        f"  Flags from {file}:\n    -{flag} (What it is.) type: bool default: false\n\n"
        for file, flag in {
            "./tools/db_bench_tool.cc": "benchmarks",
            "./tools/block_cache_analyzer/block_cache_trace_analyzer.cc": "skew_labels",
            "./tools/io_tracer_parser_tool.cc": "io_trace_file",
            "/build/gflags-2.2.2/src/gflags_reporting.cc": "help",
            "./plugin/speed/flags.cc": "use_dynamic_delay",
        }.items()
    )
    assert set(ROCKSDB.catalogue(lambda program, argv: (text, ""))) == {"benchmarks", "use_dynamic_delay"}


OTHERS = re.compile(r"/gflags\w*\.cc$")

# shapes of db_bench --help: gflags' own, defaults on the next line, help with line ends, quotes and brackets of its own
HELP = """db_bench:
USAGE:
db_bench [OPTIONS]...

  Flags from /build/gflags-2.2.2/src/gflags.cc:
    -flagfile (load flags from file) type: string default: ""

  Flags from ./tools/db_bench_tool.cc:
    -benchmarks (Comma-separated list of operations. Available benchmarks:
      \tfillseq       -- write N values in sequential key order in async mode
      \tflush - flush the memtable(s)
      ) type: string
      default: "fillseq,stats"
    -compressed_secondary_cache_compress_format_version
      (compress_format_version can have two values.) type: uint32 default: 2
    -cache_size (Number of bytes to use as a cache of uncompressed data)
      type: int64 default: 33554432
    -compression_ratio (Arrange to generate values that shrink to this fraction
      of their original size after compression) type: double default: 0.5
    -db (Use the db with the following name.) type: string default: ""
    -help (show help on all flags [tip: all flags can have two dashes])
      type: bool default: false currently: true
    -odd (says type: int32 default: 5 in its help) type: string
      default: "a (b) type: c"



"""


def test_every_flag_but_those_of_other_files() -> None:
    found = rocksdb.gflags_options(HELP, OTHERS)
    assert list(found) == [
        "benchmarks",
        "compressed_secondary_cache_compress_format_version",
        "cache_size",
        "compression_ratio",
        "db",
        "help",
        "odd",
    ]
    assert found["cache_size"] == OptionInfo(
        "cache_size", "int64", "33554432", "Number of bytes to use as a cache of uncompressed data"
    )
    assert (found["compression_ratio"].type, found["compression_ratio"].default) == ("double", "0.5")
    assert found["benchmarks"].default == "fillseq,stats"
    assert found["benchmarks"].help.endswith("flush - flush the memtable(s) ")
    assert found["db"].default == ""
    assert found["help"].default == "false"
    assert found["compressed_secondary_cache_compress_format_version"].default == "2"


words = st.lists(st.text(alphabet="abcxyz.,:=-()[]%", min_size=1, max_size=12), max_size=30).map(" ".join)


@given(st.from_regex(r"\A[a-z][a-z0-9_]{0,40}\Z"), words, st.integers(-(2**40), 2**40))
def test_wrapping_at_80_columns_loses_nothing(name: str, about: str, default: int) -> None:
    entry = f"-{name} ({about}) type: int64 default: {default}"
    lines = textwrap.wrap(entry, 76, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    text = "  Flags from tools/db_bench_tool.cc:\n" + "\n".join(f"    {line}" for line in lines) + "\n\n"
    assert rocksdb.gflags_options(text, OTHERS) == {name: OptionInfo(name, "int64", str(default), about)}


BLOCK, HEADER = 32768, 7


def number(value: int) -> bytes:
    return bytes([value & 127 | 128]) + number(value >> 7) if value > 127 else bytes([value])


def text(value: bytes) -> bytes:
    return number(len(value)) + value


def field(tag: int, *values: int | bytes) -> bytes:
    return number(tag) + b"".join(text(value) if isinstance(value, bytes) else number(value) for value in values)


def added(level: int, file: int, size: int, key: bytes = b"key") -> bytes:
    return field(103, level, file, size, key, key, 1, 9, 12, b"unique", 5, b"\x07", 1)


def deleted(level: int, file: int) -> bytes:
    return field(6, level, file)


def log(*edits: bytes) -> bytes:
    """In blocks; of checksums nobody reads any."""
    written = b""
    for edit in edits:
        rest, first = edit, True
        while first or rest:
            left = BLOCK - len(written) % BLOCK
            if left < HEADER:
                written += bytes(left)
                continue
            part, rest = rest[: left - HEADER], rest[left - HEADER :]
            kind = (1 if first else 4) if not rest else (2 if first else 3)
            written += bytes(4) + len(part).to_bytes(2, "little") + bytes([kind]) + part
            first = False
    return written


@pytest.fixture
def database(tmp_path: Path) -> Callable[[bytes], Path]:
    def write(manifest: bytes) -> Path:
        return made(tmp_path, manifest)

    return write


def made(folder: Path, manifest: bytes) -> Path:
    (folder / "CURRENT").write_text("MANIFEST-000005\n")
    (folder / "MANIFEST-000005").write_bytes(manifest)
    return folder


def row(family: str, level: str, files: int, size: int) -> dict[str, object]:
    return {"family": family, "level": level, "files": float(files), "bytes": float(size)}


def test_files_that_came_and_went(database: Callable[[bytes], Path]) -> None:
    first = field(1, b"leveldb.BytewiseComparator") + field(2, 4) + field(3, 9) + field(4, 700) + added(0, 8, 300)
    ways = (
        field(7, 1, 10, 5, b"a", b"b")
        + field(100, 1, 11, 6, b"a", b"b", 1, 2)
        + field(102, 1, 12, 0, 7, b"", b"", 1, 2)
    )
    moved = field(300, 2) + deleted(0, 8) + added(6, 8, 300) + field(5, 1, b"cursor")
    found = tree_levels(database(log(first, ways, moved)))
    assert found == [row("default", "L1", 3, 18), row("default", "L6", 1, 300)]


def test_column_families(database: Callable[[bytes], Path]) -> None:
    new = field(200, 1) + field(201, b"hot") + field(203, 1)
    files = field(200, 1) + added(0, 8, 300), added(0, 9, 20)
    manifest = log(new, *files, field(200, 2) + field(201, b"gone"), field(200, 2) + added(3, 7, 1))
    dropped = log(field(200, 2) + field(202))
    found = tree_levels(database(manifest + dropped))
    assert found == [row("default", "L0", 1, 20), row("hot", "L0", 1, 300)]


def test_what_is_not_of_the_tree_is_passed_over(database: Callable[[bytes], Path]) -> None:
    blobs = field(400, 9, 5, 5000, b"", b"", 0) + field(401, 9, 1, 100, 0) + field(8194, 9, 5, 5000, b"x", b"y", 0)
    ignorable = field(8193, b"id") + field(8198, b"whatever it is") + field(9999, b"of a later release")
    assert tree_levels(database(log(blobs + ignorable + added(2, 3, 4)))) == [row("default", "L2", 1, 4)]


def test_a_field_that_is_not_known(database: Callable[[bytes], Path]) -> None:
    with pytest.raises(ValueError, match=r"^a manifest has a field 500, which is not known$"):
        tree_levels(database(log(field(500, 1))))
    with pytest.raises(ValueError, match=r"^a manifest ends within an edit$"):
        tree_levels(database(log(added(0, 1, 2)[:9])))


@given(st.lists(st.integers(0, BLOCK * 2), max_size=9), st.integers(0, 40))
def test_edits_of_any_length_and_a_last_one_that_was_cut(
    tmp_path_factory: pytest.TempPathFactory, keys: list[int], cut: int
) -> None:
    edits = [added(1, number, 100, b"k" * size) for number, size in enumerate(keys)]
    manifest = log(*edits, added(0, 99, 5))
    whole = [] if cut else [row("default", "L0", 1, 5)]
    many = [row("default", "L1", len(keys), len(keys) * 100)] if keys else []
    lost = manifest[: len(manifest) - min(cut, 20)]
    assert tree_levels(made(tmp_path_factory.mktemp("db"), lost)) == [*whole, *many]


# The log of RocksDB 9.10.0, without what is left out here; its lines are of a host that is 5.5 hours ahead
STAMP = "2026/11/26-11:01:08."
LOG = f"""\
{STAMP}836070 139 EVENT_LOG_v1 {{"time_micros": 1795671068836000, "job": 3, "event": "flush_started", \
"num_memtables": 1, "flush_reason": "Write Buffer Full"}}
{STAMP}880000 139 EVENT_LOG_v1 {{"time_micros": 1795671068880000, "job": 3, "event": "table_file_creation"}}
{STAMP}910519 164 [WARN] [db/column_family.cc:982] [default] Stopping writes because we have 2 immutable memtables \
(waiting for flush), max_write_buffer_number is set to 2
{STAMP}920000 138 EVENT_LOG_v1 {{"time_micros": 1795671068920000, "job": 6, "event": "compaction_started", \
"compaction_reason": "LevelL0FilesNum", "files_L0": [73, 72]}}
{STAMP}943500 139 [WARN] [db/column_family.cc:1040] [default] Stalling writes because we have 6 level-0 files rate 83886
{STAMP}943800 139 (Original Log Time {STAMP}942998) EVENT_LOG_v1 {{"time_micros": 1795671068942981, "job": 3, \
"event": "flush_finished", "output_compression": "NoCompression"}}
{STAMP}960000 139 [db/column_family.cc:1079] [default] Increasing compaction threads because we have 3 level-0 files
{STAMP}970000 139 EVENT_LOG_v1 {{"time_micros": 17956710
"""


def test_events_of_a_log() -> None:
    found = [(round(event.began - 1795671068, 4), round(event.seconds, 4), *event[2:]) for event in _log_events(LOG)]
    assert found == [
        (0.836, 0.107, "flush", "Write Buffer Full"),
        (0.9105, 0.0325, "write stop", "we have 2 immutable memtables (waiting for flush), max_write_buffer_number is "
         "set to 2"),
        (0.9435, 0.0165, "write slowdown", "we have 6 level-0 files"),
        (0.92, math.inf, "compaction", "LevelL0FilesNum"),
    ]  # fmt: skip


def _log_events(text: str) -> Sequence[EngineEvent]:
    return [*rocksdb.log_events(text.splitlines(keepends=True))]
