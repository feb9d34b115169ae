"""The published files, made again from what they were made of."""

import shutil

import pytest

from stepgrid_importers.db_bench import logs, step_figures
from stepgrid_published.importer import Faults
from stepgrid_published.results import read_folder
from tests.importers.db_bench.made import log


@pytest.fixture
def folder(published):
    return published("db_bench")


def steps(found):
    return [step for stage in found.planned.stages.values() for step in stage]


def step(found, build, name):
    return next(each for each in steps(found) if (each.build, each.step) == (build, name))


def test_a_cut_comes_from_the_summary_alone(folder, tmp_path):
    """Its name from the folder and from the builds: nothing of what was cut is there."""
    place = tmp_path / "res.iobuf"
    place.mkdir()
    shutil.copy(folder / "summary.tsv", place)
    made = read_folder("db_bench", place).summaries
    for name in ("sum.iobuf.gcc.txt", "csum.iobuf.gcc.csv"):
        assert made[name] == (folder / name).read_text()
    assert sorted(name for name in made if name.startswith("sum.iobuf")) == [
        "sum.iobuf.clang.lto.txt",
        "sum.iobuf.clang.txt",
        "sum.iobuf.gcc.txt",
    ]


def test_from_10_3_on_columns_hold_something_else(folder):
    found = read_folder("db_bench", folder)
    before = step(found, "10.2.clang.lto", "overwriteandwait.t1.s0").figures.metrics
    after = step(found, "10.3.clang.lto", "overwriteandwait.t1.s0").figures.metrics
    names = ("compaction_seconds", "compaction_cpu_seconds", "blob_read_bytes")
    assert [before.get(name) for name in names] == [5696, 2892, 0]
    assert [after.get(name) for name in names] == [5686, None, 0]
    beside = [each for each in found.differences if each.row == "10.3.clang.lto overwriteandwait.t1.s0"]
    assert [(each.figure, each.legacy, each.clean) for each in beside] == [
        ("w_amp", "12.5", ""),
        ("c_wsecs", "195", "5686"),
        ("c_csecs", "5686", ""),
        ("b_rgb", "232", "0"),
        ("b_wgb", "0", ""),
        ("Nstall", "", ""),
    ]


def test_repeats_are_loads(folder):
    found = read_folder("db_bench", folder)
    repeats = [each for each in steps(found) if (each.build, each.step) == ("7.9.1", "readrandom.t1")]
    assert [(each.load, each.figures.metrics["qps"]) for each in repeats] == [(0, 182675), (1, 184087), (2, 180090)]
    assert {each.labels["workload"] for each in repeats} == {"byrx.dop1"}
    spread = [each for each in found.differences if each.figure == "stddev" and each.row == "readrandom.t1"]
    assert [(each.file, each.legacy, each.clean) for each in spread] == [("sum.byrx.dop1.txt.sdev", "1655.0", "2027.0")]


OLD = (
    "1157000\t464.1\t10MB\t0GB\t3.0\t2.7\t265.0\t16\t16\t21\t23\t3.5\t3.1\t21\t100\t1235\t45678\t12\t10.0\t245\t"
    "1.2\t0.3\tNA\treadwhilewriting.t4\t2025-03-4T09:08:07\t7.10.2\tjob 1\t0123456789"
)
NEW = (
    "1157000\t464.1\t10MB\t0GB\t3.0\t2.7\t265.0\t9\t16\t20\t21\t3.5\t3.1\t21\t100\t1235\t45678\t12\t10.0\t\t"
    "1.2\t0.3\tNA\treadwhilewriting.t4\t2025-03-4T09:08:07\t7.10.2\tjob 1\t0123456789"
)


def made(folder, content, name="benchmark_readwhilewriting.t4.log"):
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
def test_a_row_is_what_the_script_reads(tmp_path, shifted, row):
    """Sum's words 15, 16, 21, 22, whatever they are; the old stall line alone; w_amp with the flush twice."""
    assert logs.report_row(made(tmp_path, "Job ID: job 1\n" + log(shifted=shifted))) == row


def test_the_published_output_of_6_17(published):
    path = published("db_bench") / "stdout-6.17-point.txt"
    found = logs.parse(path, path.read_text(), Faults())
    assert logs.report_row(found) == (
        "352229\t45.7\t87MB\t\t0.3\t4.3\t14.4\t2\t1\t0\t0\t2.8\t\t\t\t\t\t23\t0.0\t0\t\t\tNA\tfillrandom\t"
        "2021-02-25T16:05:34\t\t\t"
    )
    figures = step_figures.of_log(found)
    wanted = {"qps": 352229, "usec_per_op": 2.839, "compaction_seconds": 1.68, "compaction_cpu_seconds": 1.37}
    assert {name: figures.metrics[name] for name in wanted} == wanted
    assert figures.facts["version"] == "6.17"
