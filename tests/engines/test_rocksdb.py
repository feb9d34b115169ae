from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from stepgrid.plugins.engine import IdentityError, Run
from stepgrid.plugins.engines import engine

ROCKSDB = engine("rocksdb")
RELEASES = (
    "6.0.2",
    "6.11.4",
    "6.19.3",
    "6.22.1",
    "7.3.1",
    "7.4.3",
    "7.6.0",
    "7.7.2",
    "8.5.4",
    "8.6.7",
    "9.10.0",
    "11.8.1",
)


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


def test_no_release_loses_a_capability() -> None:
    assert all(ROCKSDB.capabilities(old) <= ROCKSDB.capabilities(new) for old, new in pairwise(RELEASES))


def test_a_version_that_is_no_number_can_nothing() -> None:
    assert ROCKSDB.capabilities("main") == frozenset()


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


@pytest.mark.parametrize(
    ("version", "stderr", "expected"),
    [
        ("db_bench version 7.8.3\n", "RocksDB:    version 7.8\n", "7.8.3"),
        ("db_bench\n", "RocksDB:    version 6.11\n", "6.11"),
    ],
)
def test_without_a_log(version: str, stderr: str, expected: str) -> None:
    assert ROCKSDB.identify(_binary(LOADED, stderr, version, None)).version == expected


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


def test_a_help_without_options() -> None:
    with pytest.raises(IdentityError, match=r"^db_bench --help does not list its options; it said: nothing$"):
        ROCKSDB.catalogue(lambda program, argv: ("", ""))


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
