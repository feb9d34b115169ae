"""Figures of real outputs, read off by eye. Several benchmarks shared one output: the statistics are of all of them."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepgrid.model.figures import rows
from stepgrid.plugins.driver import StandaloneOutput
from stepgrid.plugins.metrics import METRICS
from stepgrid.plugins.registry import driver

SAMPLES = Path(os.environ.get("STEPGRID_SAMPLES") or Path(__file__).resolve().parents[3].parent / "shared/samples")
pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="STEPGRID_SAMPLES says where the samples are")

GB, MB = 2**30, 2**20
BULLSEYE = "engines/db_bench-bullseye.fillseq-stats.txt"
BOOKWORM = "engines/db_bench-7.8.3-debian.fillseq-readrandom-overwrite-stats.txt"
TRIXIE = "engines/db_bench-trixie.fillseq-stats.txt"
WARNING = "Assertions are enabled; benchmarks unnecessarily slow"

RESULTS = {
    (BULLSEYE, "fillseq"): {
        "qps": 298833, "usec_per_op": 3.345, "operations": 1000000, "seconds": 1000000 / 298833, "mb_per_s": 33.1,
        "avg_us": 3.3454, "p50_us": 1.51, "p75_us": 1.80, "p99_us": 3.99, "p99_9_us": 25.15, "p99_99_us": 3886.41,
        "max_us": 60455,
    },
    (BULLSEYE, "readrandom"): {
        "qps": 192029, "usec_per_op": 5.207, "mb_per_s": 21.2, "found_pct": 100, "operations": 200000,
        "p50_us": 4.78, "p99_us": 8.37, "p99_9_us": 30.66, "p99_99_us": 380.00, "max_us": 14649,
    },
    ("engines/db_bench-6.29.5-built.txt", "fillseq"): {"qps": 574930, "usec_per_op": 1.739, "mb_per_s": 63.6},
    ("engines/db_bench-6.29.5-jni.txt", "overwrite"): {
        "qps": 146521, "usec_per_op": 6.819, "mb_per_s": 16.2, "operations": 500000, "p99_us": 9.29, "max_us": 28051,
    },
    (BOOKWORM, "fillseq"): {
        "qps": 281571, "usec_per_op": 3.551, "seconds": 1.776, "operations": 500000, "mb_per_s": 31.1,
        "avg_us": 3.5512, "p50_us": 2.00, "p75_us": 2.39, "p99_us": 4.74, "p99_9_us": 28.74, "p99_99_us": 3837.50,
        "max_us": 8032,
    },
    (BOOKWORM, "readrandom"): {
        "qps": 283840, "seconds": 0.705, "operations": 200000, "found_pct": 49.902, "p99_9_us": 28.21, "max_us": 8089,
    },
    (BOOKWORM, "overwrite"): {
        "qps": 178479, "seconds": 2.801, "operations": 500000, "p99_99_us": 3772.73, "max_us": 11379,
    },
    ("engines/db_bench-7.8.3-direct-reads.txt", "readrandom"): {
        "qps": 4825, "usec_per_op": 207.016, "seconds": 6.217, "operations": 30000, "mb_per_s": 0.4,
        "found_pct": 100 * 21023 / 30000,
    },
    ("engines/db_bench-7.8.3-readwhilewriting.txt", "readwhilewriting"): {
        "qps": 33676, "usec_per_op": 58.984, "seconds": 4.068, "operations": 136998, "mb_per_s": 2.7,
        "found_pct": 100 * 49653 / 67999,
    },
    (TRIXIE, "overwrite"): {
        "qps": 93689, "usec_per_op": 10.666, "seconds": 10.674, "operations": 1000000, "mb_per_s": 10.4,
        "p50_us": 3.73, "p99_9_us": 2815.66, "p99_99_us": 11253.77, "max_us": 24080,
    },
    ("engines/db_bench-9.9.3-built.txt", "overwrite"): {"qps": 132263, "seconds": 7.561, "max_us": 154870},
    ("engines/db_bench-9.9.3-jni.txt", "readrandom"): {"qps": 134774, "seconds": 1.484, "p50_us": 6.74},
    ("engines/db_bench-10.4.2-jni.txt", "readrandom"): {"qps": 157920, "seconds": 0.633, "p99_us": 12.84},
    ("published/db_bench/stdout-6.17-point.txt", "fillrandom"): {
        "qps": 352229, "usec_per_op": 2.839, "mb_per_s": 45.7,
    },
}  # fmt: skip

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

ABSENT = {
    BULLSEYE: ("pending_compaction_bytes", "blob_bytes", "blob_read_bytes", "stall_write_buffer_manager_stops"),
    "engines/db_bench-6.29.5-built.txt": ("operations", "seconds", "p99_us", "l0_files", "block_cache_hit_pct"),
    "engines/db_bench-7.8.3-direct-reads.txt": ("write_amplification", "p99_us"),
    "published/db_bench/stdout-6.17-point.txt": ("operations", "seconds", "block_cache_hit_pct"),
}


# what stands behind the dump makes these more precise
FINER = (
    *("ingest_bytes", "wal_bytes", "flush_bytes", "compaction_write_bytes", "compaction_read_bytes", "keys_written"),
    *("write_amplification", "write_amplification_published"),
)


def _folder(sample: str, tmp_path: Path) -> Path:
    (tmp_path / "stdout").write_bytes((SAMPLES / sample).read_bytes())
    (tmp_path / "stderr").write_text("RocksDB:    version 1.2.3\n")
    return tmp_path


def _metrics(sample: str, benchmark: str, tmp_path: Path) -> dict[str, float]:
    return dict(
        driver("db_bench").parse(_folder(sample, tmp_path), {"benchmarks": [benchmark, "stats"], "threads": 1}).metrics
    )


@pytest.mark.parametrize(("sample", "benchmark"), RESULTS)
def test_result_lines(sample: str, benchmark: str, tmp_path: Path) -> None:
    expected = RESULTS[sample, benchmark]
    found = _metrics(sample, benchmark, tmp_path)
    assert {name: found.get(name) for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize("sample", STATES)
def test_statistics(sample: str, tmp_path: Path) -> None:
    found = dict(driver("db_bench").parse(_folder(sample, tmp_path), {"benchmarks": ["flush", "stats"]}).metrics)
    assert {name: found.get(name) for name in STATES[sample]} == pytest.approx(STATES[sample])
    assert "qps" not in found


@pytest.mark.parametrize("sample", ABSENT)
def test_what_an_output_lacks_is_missing(sample: str, tmp_path: Path) -> None:
    benchmark = next(name for file, name in RESULTS if file == sample)
    found = _metrics(sample, benchmark, tmp_path)
    assert [name for name in ABSENT[sample] if name in found] == []


@pytest.mark.parametrize(("sample", "benchmark"), RESULTS)
def test_only_metrics_of_the_table(sample: str, benchmark: str, tmp_path: Path) -> None:
    assert _metrics(sample, benchmark, tmp_path).keys() <= METRICS.keys()


def test_every_db_bench_sample_is_read() -> None:
    there = {f"engines/{path.name}" for path in (SAMPLES / "engines").glob("db_bench*.txt")}
    assert there - {"engines/db_bench-7.8.3-debian.stderr.txt"} == {file for file, _ in RESULTS if "engines" in file}


def test_every_sample_is_read_by_itself() -> None:
    """`stepgrid parse`: a step for each result; of the published output, and of a stderr without one, what there is."""
    paths = [*(SAMPLES / "engines").glob("db_bench*.txt"), *(SAMPLES / "published/db_bench").glob("stdout*")]
    reader = driver("db_bench")
    assert isinstance(reader, StandaloneOutput)
    found = {path.name: [step.name for step in reader.printed(path)] for path in paths}
    three = ["fillseq", "readrandom", "overwrite"]
    assert found == {
        "db_bench-10.4.2-jni.txt": three,
        "db_bench-6.29.5-built.txt": ["fillseq"],
        "db_bench-6.29.5-jni.txt": three,
        "db_bench-7.8.3-debian.fillseq-readrandom-overwrite-stats.txt": three,
        "db_bench-7.8.3-debian.stderr.txt": ["no result"],
        "db_bench-7.8.3-direct-reads.txt": ["readrandom"],
        "db_bench-7.8.3-readwhilewriting.txt": ["readwhilewriting"],
        "db_bench-9.9.3-built.txt": three,
        "db_bench-9.9.3-jni.txt": three,
        "db_bench-bullseye.fillseq-stats.txt": three,
        "db_bench-trixie.fillseq-stats.txt": three,
        "stdout-6.17-point.txt": ["fillrandom"],
    }


def test_a_result_and_what_follows_it_are_one_step() -> None:
    """10.4.2: by position c_wsecs and c_csecs would be 46.9 and 0.63."""
    reader = driver("db_bench")
    assert isinstance(reader, StandaloneOutput)
    *before, last = reader.printed(SAMPLES / "engines/db_bench-10.4.2-jni.txt")
    found = last.figures
    names = ("compaction_seconds", "compaction_cpu_seconds", "stalls", "block_cache_hit_pct", "p99_99_us")
    assert [found.metrics[name] for name in names] == [0.63, 0.30, 0, 100 * 3148 / (3148 + 7284), 3350.00]
    assert [each.figures.metrics.get("stalls") for each in before] == [None, None]
    assert [each.get("level") or each["priority"] for each in found.levels] == ["L0", "Sum", "Int", "High"]
    assert found.levels[0]["write_uncompressed_bytes"] == 0.1 * GB
    assert found.counters["rocksdb.db.get.micros.p99"] == 11.708861
    assert list(rows(found.histograms))[:2] == [("", 1, 2, 40961), ("", 2, 3, 192916)]
    assert [sum(each.operations) for each in found.histograms] == [500000]
    assert found.facts["also_ran"] == "fillseq, readrandom"


def test_memory_of_a_sample() -> None:
    reader = driver("db_bench")
    assert isinstance(reader, StandaloneOutput)
    (published,) = reader.printed(SAMPLES / "published/db_bench/stdout-6.17-point.txt")
    assert published.figures.metrics["memtable_bytes"] == 966648
    assert published.figures.counters["rocksdb.num-entries-active-mem-table"] == 5609
    *_, last = reader.printed(SAMPLES / "engines/db_bench-10.4.2-jni.txt")
    caches = [last.figures.metrics[f"block_cache_{name}"] for name in ("bytes", "capacity_bytes", "hit_pct")]
    assert caches == [28.80 * MB, 32 * MB, pytest.approx(30.1764, abs=1e-4)]


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
