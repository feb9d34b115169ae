from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from stepgrid.plugins.importer import Faults
from stepgrid_importers.db_bench import logs, report_row, step_figures
from tests.importers.db_bench.made import log

OLD = (
    "1157000\t464.1\t10MB\t0GB\t3.0\t2.7\t265.0\t16\t16\t21\t23\t3.5\t3.1\t21\t100\t1235\t45678\t12\t10.0\t245\t"
    "1.2\t0.3\tNA\treadwhilewriting.t4\t2025-03-4T09:08:07\t7.10.2\tjob 1\t0123456789"
)
NEW = (
    "1157000\t464.1\t10MB\t0GB\t3.0\t2.7\t265.0\t9\t16\t20\t21\t3.5\t3.1\t21\t100\t1235\t45678\t12\t10.0\t\t"
    "1.2\t0.3\tNA\treadwhilewriting.t4\t2025-03-4T09:08:07\t7.10.2\tjob 1\t0123456789"
)


def made(folder: Path, content: str, name: str = "benchmark_readwhilewriting.t4.log") -> logs.Log:
    path = folder / name
    path.write_text(content)
    (folder / f"{name}.time").write_text("Command exited with non-zero status 1\n10.00 1234.5 300.2\n")
    (folder / "LOG").write_text(
        "2025/03/04-09:08:07.0 7f RocksDB version: 7.10.2\n2025/03/04-09:08:07.0 7f Git sha 0123456789abcdef\n"
    )
    faults = Faults()
    found = logs.parse(path, content, faults)
    faults.stop()
    return found


@pytest.mark.parametrize(("shifted", "row"), [(False, OLD), (True, NEW)])
def test_a_row_is_what_the_script_reads(tmp_path: Path, shifted: bool, row: str) -> None:
    """Sum's words 15, 16, 21, 22, whatever they are; the old stall line alone; w_amp with the flush twice."""
    assert report_row.row(made(tmp_path, "Job ID: job 1\n" + log(shifted=shifted))) == row


@pytest.mark.parametrize("shifted", [False, True])
def test_clean_figures_go_by_names(tmp_path: Path, shifted: bool) -> None:
    found = step_figures.of_log(made(tmp_path, log(shifted=shifted))).metrics
    wanted = {
        "qps": 1157000, "compaction_seconds": 15.5, "compaction_cpu_seconds": 16.4, "write_amplification": 265 / 132,
        "blob_read_bytes": 21.4 * 2**30, "blob_write_bytes": 22.6 * 2**30, "stalls": 27 if shifted else 245,
        "max_us": 45678, "cpu_seconds": 1234.5 + 300.2, "cpu_us_per_op": (1234.5 + 300.2) * 1e6 / 11570000,
    }  # fmt: skip
    assert {name: found[name] for name in wanted} == pytest.approx(wanted)


def test_a_step_without_a_result_failed(tmp_path: Path) -> None:
    row = report_row.row(made(tmp_path, log(result="")))
    assert row == "failed" + "\t" * 23 + "readwhilewriting.t4\t2025-03-4T09:08:07\t7.10.2\t\t0123456789"


def test_two_histograms_make_one_highest_latency(tmp_path: Path) -> None:
    twice = log() + "Min: 1  Median: 3.1000  Max: 544\n"
    assert report_row.cells(made(tmp_path, twice))["pmax"] == "45678544"
    assert step_figures.of_log(made(tmp_path, twice)).metrics["max_us"] == 45678


def test_an_old_result_line(tmp_path: Path) -> None:
    lines = {
        "multireadrandom": "multireadrandom :  10.164 micros/op 3148272 ops/sec; (17 of 18 found)",
        "overwrite": "overwrite    :       7.939 micros/op 125963 ops/sec;   50.5 MB/s",
    }
    for name, line in lines.items():
        cells = report_row.cells(made(tmp_path, log(result=line), f"benchmark_{name}.t4.log"))
        assert cells["mb_sec"] == ("NA" if name == "multireadrandom" else "50.5")


@pytest.mark.parametrize(
    ("test", "benchmark"),
    [
        ("fillseq.wal_disabled.v400", "fillseq"),
        ("revrange.t1", "seekrandom"),
        ("fwdrangewhilewriting.t40", "seekrandomwhilewriting"),
        ("overwriteandwait.t40.s0", "overwrite"),
        ("readrandom.t4", "readrandom"),
    ],
)
def test_a_test_has_a_result_line_of_another_name(test: str, benchmark: str) -> None:
    assert logs.benchmark_of(test) == benchmark


def test_units_are_gigabytes(tmp_path: Path) -> None:
    """What is neither MB, GB nor TB is not there, and neither is what is divided by it."""
    content = log().replace("3.00 GB write, 265", "3.00 TB write, 265").replace("ingest: 1.50 GB", "ingest: 1.50 KB")
    cells = report_row.cells(made(tmp_path, content))
    assert (cells["c_wgb"], cells["w_amp"]) == ("3072.0", "NA")


def test_the_published_output_of_6_17(published: Callable[[str], Path]) -> None:
    path = published("db_bench") / "stdout-6.17-point.txt"
    found = logs.parse(path, path.read_text(), Faults())
    assert report_row.row(found) == (
        "352229\t45.7\t87MB\t\t0.3\t4.3\t14.4\t2\t1\t0\t0\t2.8\t\t\t\t\t\t23\t0.0\t0\t\t\tNA\tfillrandom\t"
        "2021-02-25T16:05:34\t\t\t"
    )
    figures = step_figures.of_log(found)
    wanted = {"qps": 352229, "usec_per_op": 2.839, "compaction_seconds": 1.68, "compaction_cpu_seconds": 1.37}
    assert {name: figures.metrics[name] for name in wanted} == wanted
    assert figures.facts["version"] == "6.17"
