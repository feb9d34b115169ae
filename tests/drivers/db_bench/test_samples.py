"""Figures of real outputs, read off by eye. Several benchmarks shared one output: the statistics are of all of them."""

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
WITH_STATISTICS = (
    BULLSEYE,
    "engines/db_bench-6.29.5-built.txt",
    "engines/db_bench-6.29.5-jni.txt",
    BOOKWORM,
    "engines/db_bench-7.8.3-readwhilewriting.txt",
    TRIXIE,
    "engines/db_bench-9.9.3-built.txt",
    "engines/db_bench-9.9.3-jni.txt",
    "engines/db_bench-10.4.2-jni.txt",
    "published/db_bench/stdout-6.17-point.txt",
)

# what stands behind the dump makes these more precise
FINER = (
    *("ingest_bytes", "wal_bytes", "flush_bytes", "compaction_write_bytes", "compaction_read_bytes", "keys_written"),
    *("write_amplification", "write_amplification_published"),
)


def _folder(sample, tmp_path):
    (tmp_path / "stdout").write_bytes((SAMPLES / sample).read_bytes())
    (tmp_path / "stderr").write_text("RocksDB:    version 1.2.3\n")
    return tmp_path


def test_facts_warnings_and_rates_of_a_step(tmp_path):
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


def test_rates_of_a_later_benchmark_are_not_taken_for_the_measured_one(tmp_path):
    """db_bench writes the file anew for every benchmark: these rates are overwrite's."""
    folder = _folder(BOOKWORM, tmp_path)
    (folder / "report.csv").write_bytes((SAMPLES / "engines/db_bench-7.8.3-debian.report.csv").read_bytes())
    found = driver("db_bench").parse(folder, {"benchmarks": ["fillseq", "readrandom", "overwrite", "stats"]})
    assert found.metrics["qps"] == 281571
    assert found.qps == []


def test_a_background_writer_is_named(tmp_path):
    folder = _folder("engines/db_bench-7.8.3-readwhilewriting.txt", tmp_path)
    step = {"benchmarks": ["readwhilewriting", "stats"], "write_rate": 2 << 20}
    assert driver("db_bench").parse(folder, step).facts["qps_over_time"] == (
        "includes the background writer, which qps does not: "
        "at most 18078 operations/s (2097152 bytes/s, 116 bytes each)"
    )


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(WITH_STATISTICS), st.floats(0, 1))
def test_a_cut_output_has_fewer_figures_and_no_other_ones(sample, part):
    text = (SAMPLES / sample).read_text(errors="replace")
    with TemporaryDirectory() as folder:
        whole = _statistics(Path(folder), text)
        cut = _statistics(Path(folder), text[: int(part * len(text))])
    assert cut.keys() <= whole.keys()
    if "published" not in sample:  # that one has four dumps: a cut shows an earlier one
        exact = {name: value for name, value in cut.items() if name not in FINER}
        assert {name: whole[name] for name in exact} == exact
        assert {name: whole[name] for name in cut} == pytest.approx(cut, rel=0.06)


def _statistics(folder, text):
    (folder / "stdout").write_text(text)
    (folder / "stderr").write_text("")
    return dict(driver("db_bench").parse(folder, {"benchmarks": ["stats"]}).metrics)


def test_each_dump_while_it_runs_has_the_debt_of_that_time(tmp_path):
    dump = (SAMPLES / TRIXIE).read_text(errors="replace")
    (tmp_path / "stdout").write_text(dump)
    (tmp_path / "stderr").write_text(dump.replace("17.3 total", "8.1 total") + dump)
    debts = driver("db_bench").parse(tmp_path, {"benchmarks": ["fillseq", "stats"]}).debts
    assert debts == {"pending compaction bytes": [(8.1, 112908957.0), (17.3, 112908957.0)]}
