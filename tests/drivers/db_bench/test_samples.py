"""Figures of real outputs, read off by eye. Several benchmarks shared one output: the statistics are of all of them."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepgrid.plugins.registry import driver

SAMPLES = Path(os.environ.get("STEPGRID_SAMPLES") or Path(__file__).resolve().parents[3].parent / "shared/samples")
pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="STEPGRID_SAMPLES says where the samples are")

GB, MB = 2**30, 2**20
BULLSEYE = "engines/db_bench-bullseye.fillseq-stats.txt"
BOOKWORM = "engines/db_bench-7.8.3-debian.fillseq-readrandom-overwrite-stats.txt"
TRIXIE = "engines/db_bench-trixie.fillseq-stats.txt"
WARNING = "Assertions are enabled; benchmarks unnecessarily slow"

STATES = {
    BULLSEYE: {
        "lsm_bytes": 105.12 * MB, "lsm_files": 4, "l0_files": 4, "compaction_seconds": 1.73,
        "compaction_cpu_seconds": 0.65, "compactions": 4, "uptime_seconds": 10.7, "flush_bytes": 110224917,
        "write_amplification": 9.80 / 23.30, "compaction_write_mb_per_s": 9.80, "compaction_read_bytes": 0,
        # the counters of compactions are of a later moment: of one that began behind the dump
        "compaction_write_bytes": 60.9 * 1.73 * MB, "ingest_bytes": 262000000, "wal_bytes": 262000000,
        "stall_pct": 0, "stall_seconds": 0, "stalls": 0, "block_cache_hit_pct": 100 * 105086 / (105086 + 210604),
    },
    "engines/db_bench-6.29.5-built.txt": {
        "lsm_bytes": 0, "lsm_files": 0, "write_amplification": 0, "ingest_bytes": 39300000,
        "uptime_seconds": 0.5,
    },
    "engines/db_bench-6.29.5-jni.txt": {
        "lsm_bytes": 29.65 * MB, "compaction_seconds": 0.88, "compaction_cpu_seconds": 0.29,
        "block_cache_hit_pct": 100 * 2524 / (2524 + 16555),
    },
    BOOKWORM: {
        "lsm_bytes": 53.84 * MB, "l0_bytes": 53.84 * MB, "l0_files": 2, "compaction_seconds": 0.65,
        "compaction_cpu_seconds": 0.32, "compactions": 2, "uptime_seconds": 5.3, "flush_bytes": 56457026,
        "write_amplification": 56457026 / 131000000, "block_cache_hit_pct": 100 * 110975 / (110975 + 77286),
    },
    "engines/db_bench-7.8.3-readwhilewriting.txt": {
        "lsm_bytes": 58.76 * MB, "lsm_files": 3, "compactions": 0, "write_amplification": 0,
        "ingest_bytes": 27883350, "block_cache_hit_pct": 100 * 90808 / (90808 + 212363),
    },
    TRIXIE: {
        "lsm_bytes": 107.68 * MB, "compaction_seconds": 3.04, "compaction_cpu_seconds": 0.86, "uptime_seconds": 17.3,
        "pending_compaction_bytes": 112908957, "write_amplification": 6.21 / 14.41,
        "stall_write_buffer_manager_stops": 0, "stall_delays": 0, "stall_stops": 0, "stalls": 0,
    },
    "engines/db_bench-9.9.3-built.txt": {
        "lsm_bytes": 61.44 * MB, "compaction_seconds": 4.17, "compaction_cpu_seconds": 1.18, "compactions": 5,
        "compaction_keys_in": 1662000, "compaction_keys_dropped": 662000, "write_amplification": 177334149 / 262000000,
    },
    "engines/db_bench-9.9.3-jni.txt": {
        "lsm_bytes": 51.94 * MB, "compaction_seconds": 4.61, "compaction_cpu_seconds": 2.56,
        "compaction_read_bytes": 19.8 * 4.61 * MB, "write_amplification": 150336848 / 262000000,
    },
    "engines/db_bench-10.4.2-jni.txt": {  # WPreComp(GB) is there: by position these would be 46.9 and 0.63
        "compaction_seconds": 0.63, "compaction_cpu_seconds": 0.30, "compactions": 1, "compaction_keys_in": 460000,
        "lsm_bytes": 29.65 * MB, "l0_files": 1,
    },
    "published/db_bench/stdout-6.17-point.txt": {  # the last of four dumps
        "lsm_bytes": 86.60 * MB, "lsm_files": 12, "l0_files": 0, "compaction_seconds": 1.68,
        "compaction_cpu_seconds": 1.37, "compactions": 24, "compaction_keys_in": 1817000, "uptime_seconds": 23.3,
        "flush_bytes": 0.130 * GB, "write_amplification": 14.41 / 6.21,
    },
}  # fmt: skip

# what stands behind the dump makes these more precise
FINER = (
    *("ingest_bytes", "wal_bytes", "flush_bytes", "compaction_write_bytes", "compaction_read_bytes", "keys_written"),
    *("write_amplification", "write_amplification_published"),
)


def _folder(sample: str, tmp_path: Path) -> Path:
    (tmp_path / "stdout").write_bytes((SAMPLES / sample).read_bytes())
    (tmp_path / "stderr").write_text("RocksDB:    version 1.2.3\n")
    return tmp_path


def test_facts_warnings_and_rates_of_a_step(tmp_path: Path) -> None:
    folder = _folder(BOOKWORM, tmp_path)
    (folder / "stderr").write_bytes((SAMPLES / "engines/db_bench-7.8.3-debian.stderr.txt").read_bytes())
    (folder / "report.csv").write_bytes((SAMPLES / "engines/db_bench-7.8.3-debian.report.csv").read_bytes())
    found = driver("db_bench").parse(folder, {"benchmarks": ["overwrite", "stats"]})
    assert found.facts == {
        "version": "7.8.3",
        "compression": "Snappy",
        "memtablerep": "SkipListFactory",
        "key_bytes": "16",
        "value_bytes": "100",
    }
    assert found.warnings == (WARNING,)
    assert found.qps == [(1.0, 194192.0), (2.0, 179217.0)]


def test_rates_of_a_later_benchmark_are_not_taken_for_the_measured_one(tmp_path: Path) -> None:
    """db_bench writes the file anew for every benchmark: these rates are overwrite's."""
    folder = _folder(BOOKWORM, tmp_path)
    (folder / "report.csv").write_bytes((SAMPLES / "engines/db_bench-7.8.3-debian.report.csv").read_bytes())
    found = driver("db_bench").parse(folder, {"benchmarks": ["fillseq", "readrandom", "overwrite", "stats"]})
    assert found.metrics["qps"] == 281571
    assert found.qps == []


def test_a_background_writer_is_named(tmp_path: Path) -> None:
    folder = _folder("engines/db_bench-7.8.3-readwhilewriting.txt", tmp_path)
    step = {"benchmarks": ["readwhilewriting", "stats"], "write_rate": 2 << 20}
    assert driver("db_bench").parse(folder, step).facts["qps_over_time"] == (
        "includes the background writer, which qps does not: "
        "at most 18078 operations/s (2097152 bytes/s, 116 bytes each)"
    )


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(sorted(STATES)), st.floats(0, 1))
def test_a_cut_output_has_fewer_figures_and_no_other_ones(sample: str, part: float) -> None:
    text = (SAMPLES / sample).read_text(errors="replace")
    with TemporaryDirectory() as folder:
        whole = _statistics(Path(folder), text)
        cut = _statistics(Path(folder), text[: int(part * len(text))])
    assert cut.keys() <= whole.keys()
    if "published" not in sample:  # that one has four dumps: a cut shows an earlier one
        exact = {name: value for name, value in cut.items() if name not in FINER}
        assert {name: whole[name] for name in exact} == exact
        assert {name: whole[name] for name in cut} == pytest.approx(cut, rel=0.06)


def _statistics(folder: Path, text: str) -> dict[str, float]:
    (folder / "stdout").write_text(text)
    (folder / "stderr").write_text("")
    return dict(driver("db_bench").parse(folder, {"benchmarks": ["stats"]}).metrics)
