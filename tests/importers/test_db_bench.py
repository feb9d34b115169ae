from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest

from stepgrid.plugins.importer import FolderError, ImportedStep, ImportProblem
from stepgrid.transfer.published import PublishedFolder, read_folder
from stepgrid_importers.db_bench.reports import HEAD
from tests.importers.db_bench.made import failed, log, report, row


def steps(found: PublishedFolder) -> list[ImportedStep]:
    return [step for stage in found.planned.stages.values() for step in stage]


def told(problems: Sequence[ImportProblem], folder: Path) -> list[str]:
    return [str(each).replace(str(folder), "DIR") for each in problems]


def wrong(folder: Path) -> list[str]:
    with pytest.raises(FolderError) as caught:
        read_folder("db_bench", folder)
    return [str(fault).replace(str(folder), "DIR") for fault in caught.value.faults]


def beside(found: PublishedFolder, why: str) -> list[tuple[str, str, str, str]]:
    return [(each.row, each.figure, each.legacy, each.clean) for each in found.differences if each.why == why]


def fill(version: str, qps: int = 1000) -> str:
    return row(test="fillseq.wal_disabled.v400", version=version, ops_sec=str(qps))


def read_row(version: str, qps: int = 1000) -> str:
    return row(version=version, ops_sec=str(qps))


def test_reports_are_grouped_by_line(tmp_path: Path) -> None:
    for version, qps in (("10.2.3", 900), ("9.9.3", 1000)):
        report(tmp_path / "res.byrx/bm.lc" / version, fill(version, qps), read_row(version, qps))
    made = read_folder("db_bench", tmp_path / "res.byrx").summaries
    lines = [HEAD, fill("9.9.3"), fill("10.2.3", 900), "", HEAD, read_row("9.9.3"), read_row("10.2.3", 900), ""]
    assert made["bm.lc/sum.byrx.txt"].splitlines() == lines
    assert made["bm.lc/summary.tsv"].splitlines() == ["bm.lc/9.9.3/report.tsv", "bm.lc/10.2.3/report.tsv", "", *lines]
    assert made["bm.lc/sum.abs0.byrx.tsv"] == (
        "9.9.3\t10.2.3\ttest\n1.00\t0.90\tfillseq.wal_disabled.v400\n1.00\t0.90\treadwhilewriting.t4\n"
    )
    assert made["bm.lc/sum.abs1.byrx.csv"] == (
        "test,9.9.3,10.2.3,\nfillseq.wal_disabled.v400,1000,900\nreadwhilewriting.t4,1000,900\n"
    )


def test_a_failed_step_moves_the_published_columns(tmp_path: Path) -> None:
    versions = ("8.0.0", "8.1.0", "8.2.0")
    rows = (read_row("8.0.0"), failed("readwhilewriting.t4", "8.1.0"), read_row("8.2.0", 500))
    for version, line in zip(versions, rows, strict=True):
        report(tmp_path / "bm" / version, line)
    found = read_folder("db_bench", tmp_path / "bm")
    assert found.summaries["csum.bm.csv"] == "test,8.0.0,8.2.0,\nreadwhilewriting.t4,1.00,0.50\n"
    assert beside(found, "A step that failed") == [
        ("readwhilewriting.t4", "8.0.0", "1.00", "1.00"),
        ("readwhilewriting.t4", "8.1.0", "0.50", "failed"),
        ("readwhilewriting.t4", "8.2.0", "", "0.50"),
    ]
    assert [each.failure for each in steps(found)] == [None, "the published row says that it failed", None]


def test_a_step_that_a_build_lacks_does_not_move_ours(tmp_path: Path) -> None:
    report(tmp_path / "bm/8.0.0", fill("8.0.0"), read_row("8.0.0"))
    report(tmp_path / "bm/8.1.0", read_row("8.1.0", 700))
    found = read_folder("db_bench", tmp_path / "bm")
    assert found.summaries["csum.bm.csv"] == "test,8.0.0,\nreadwhilewriting.t4,1.00,0.70\nreadwhilewriting.t4,1.00\n"
    assert [(each.build, each.step) for each in steps(found)] == [
        ("8.0.0", "fillseq.wal_disabled.v400"),
        ("8.0.0", "readwhilewriting.t4"),
        ("8.1.0", "readwhilewriting.t4"),
    ]


def test_logs_make_the_report(tmp_path: Path) -> None:
    """gzipped or not, in the order in which they began; figures are of them, and the rates over time."""
    folder = tmp_path / "bm/7.10"
    folder.mkdir(parents=True)
    (folder / "benchmark_overwrite.t4.s0.log").write_text(log(result="").replace("09:08:07", "10:08:07"))
    (folder / "benchmark_readwhilewriting.t4.log.gz").write_bytes(gzip.compress(log().encode()))
    (folder / "benchmark_readwhilewriting.t4.log.r.csv").write_text("secs_elapsed,interval_qps\n1,1150000\n2,1160000\n")
    found = read_folder("db_bench", tmp_path / "bm")
    rows = found.summaries["7.10/report.tsv"].splitlines()
    assert [line.split("\t")[0] for line in rows] == ["ops_sec", "1157000", "failed"]
    first, second = steps(found)
    assert (first.step, first.figures.qps) == ("readwhilewriting.t4", [(1.0, 1150000.0), (2.0, 1160000.0)])
    assert first.figures.facts["qps_over_time"] == "includes the background writer, which qps does not"
    assert second.failure == "no result line of overwrite (`overwrite : … micros/op … ops/sec`)"
    assert ("7.10 readwhilewriting.t4", "w_amp", "2.7", "2.00758") in beside(found, "w_amp")


def test_runs_and_workloads_are_axes(tmp_path: Path) -> None:
    for place in ("res.byrx/bm.a", "res.byrx/bm.b", "res.iobuf/bm.a"):
        report(tmp_path / place / "8.0.0", read_row("8.0.0"))
    labels = [each.labels for each in steps(read_folder("db_bench", tmp_path))]
    assert labels == [
        {"workload": "byrx", "run": "bm.a"},
        {"workload": "byrx", "run": "bm.b"},
        {"workload": "iobuf", "run": "bm.a"},
    ]


def test_a_report_without_the_commit_is_read(tmp_path: Path) -> None:
    head, line = (text.rpartition("\t")[0] for text in (HEAD, read_row("7.0.0")))
    report(tmp_path / "bm/7.0.0").write_text(f"{head}\n{line}\n")
    assert read_folder("db_bench", tmp_path / "bm").summaries["sum.bm.txt"] == f"{head}\n{line}\n\n"


def test_every_fault_is_told(tmp_path: Path) -> None:
    report(tmp_path / "a/8.0.0").write_text("nothing\n")
    report(tmp_path / "b/8.0.0", "1000\t0.4")
    summary = ["b/8.0.0/report.tsv", "b/8.1.0/report.tsv", "", HEAD, read_row("8.0.0"), ""]
    (tmp_path / "summary.tsv").write_text("".join(f"{line}\n" for line in summary))
    (tmp_path / "b/8.0.0/benchmark_fillseq.log.gz").write_bytes(b"no gzip")
    assert wrong(tmp_path) == [
        "DIR/a/8.0.0/report.tsv: no line of column heads (ops_sec, mb_sec, …) is in it",
        "DIR/b/8.0.0/benchmark_fillseq.log.gz: cannot be read: Not a gzipped file (b'no')",
        "DIR/b/8.0.0/report.tsv:3: 2 cells where 28 were expected, as its head names them\n  | 1000\t0.4".replace(
            "\t", " "
        ),
        "DIR/summary.tsv:5: 1 rows of a step, where there are 2 builds: which row is whose is not to be known\n"
        f"  | {read_row('8.0.0').replace(chr(9), ' ')[:99]}…",
    ]


def test_a_series_that_is_none_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "bm/7.10"
    folder.mkdir(parents=True)
    (folder / "benchmark_readwhilewriting.t4.log").write_text(log())
    (folder / "benchmark_readwhilewriting.t4.log.r.csv").write_text("secs_elapsed,interval_qps\n1,x\n")
    found = read_folder("db_bench", tmp_path)
    said = ":2: expected seconds and operations per second, found '1,x'"
    assert told(found.refused, tmp_path) == [f"DIR/bm/7.10/benchmark_readwhilewriting.t4.log.r.csv{said}"]
    ((step,),) = found.planned.stages.values()
    assert (step.figures.metrics["qps"], list(step.figures.qps)) == (1157000, [])
    assert [path.name for path in step.files] == ["benchmark_readwhilewriting.t4.log"]


def test_one_faulty_file_refuses_itself_and_not_its_folder(tmp_path: Path) -> None:
    report(tmp_path / "a/8.0.0", read_row("8.0.0"))
    report(tmp_path / "a/8.1.0", "1000\t0.4")
    (tmp_path / "sum.x.txt").write_text("".join(f"{line}\n" for line in (HEAD, read_row("9.0.0"), read_row("9.1.0"))))
    (tmp_path / "sum.y.txt").write_text(f"{HEAD}\n1000\n")
    (tmp_path / "sum.z.txt").write_text("")
    found = read_folder("db_bench", tmp_path)
    assert told(found.refused, tmp_path) == [
        "DIR/a/8.1.0/report.tsv:3: 2 cells where 28 were expected, as its head names them\n  | 1000 0.4",
        "DIR/sum.y.txt:2: 1 cells where 28 were expected, as its head names them\n  | 1000",
        "DIR/sum.z.txt: no line of column heads (ops_sec, mb_sec, …) is in it",
    ]
    assert found.planned.plan.axes[0].labels == ("8.0.0", "9.0.0", "9.1.0")
    assert all(each.startswith("refused: ") for each in found.planned.plan.warnings)
    assert "csum.x.csv" in found.summaries


def test_a_file_that_is_wrong_in_the_light_of_another_is_refused_as_well(tmp_path: Path) -> None:
    """Of a summary whose steps have not a row for each build, the reports are still read."""
    summary = ["b/8.0.0/report.tsv", "b/8.1.0/report.tsv", "", HEAD, read_row("8.0.0"), ""]
    (tmp_path / "b").mkdir()
    (tmp_path / "b/summary.tsv").write_text("".join(f"{line}\n" for line in summary))
    report(tmp_path / "b/8.0.0", read_row("8.0.0"))
    found = read_folder("db_bench", tmp_path)
    assert [each.path.name for each in found.refused] == ["summary.tsv"]
    assert found.planned.plan.axes[0].labels == ("8.0.0",)


def test_a_folder_without_any_is_told(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("readwhilewriting was fast\n")
    assert wrong(tmp_path) == ["DIR: there are no db_bench results in it"]


def test_any_output_of_db_bench_is_a_step(tmp_path: Path) -> None:
    """Named after nothing: its first result says which; the engine's own log is not looked at."""
    (tmp_path / "stdout").write_text(log())
    (tmp_path / "LOG").write_text(log())
    found = steps(read_folder("db_bench", tmp_path))
    assert [(each.build, each.step, each.figures.metrics["qps"]) for each in found] == [
        ("7.10", "readwhilewriting", 1157000)
    ]
    assert len(found[0].figures.levels) > 0


def cut(path: Path, *steps_: tuple[str, ...]) -> None:
    path.write_text("".join(f"{line}\n" for rows in steps_ for line in (HEAD, *rows, "")))


def test_a_cut_of_a_summary_is_measured_once(tmp_path: Path) -> None:
    """sum2: with another base, and one build twice."""
    for version, qps in (("6.29.gcc", 500), ("7.0.gcc", 1000), ("7.0.clang", 800)):
        report(tmp_path / version, read_row(version[:-4].rstrip("."), qps))
    rows = [read_row("7.0", 1000), read_row("6.29", 500)]
    cut(tmp_path / "sum2.byrx.gcc.txt", (rows[0], rows[0], rows[1]))
    found = read_folder("db_bench", tmp_path)
    assert found.summaries["csum2.byrx.gcc.csv"] == "test,7.0,7.0,6.29,\nreadwhilewriting.t4,1.00,1.00,0.50\n"
    assert found.summaries["sum.byrx.gcc.txt"].splitlines() == [HEAD, rows[1], rows[0], ""]
    assert len(steps(found)) == 3


def test_a_cut_of_other_builds_is_measured(tmp_path: Path) -> None:
    """It names them by version alone: two of one version are counted, one that is there twice is one."""
    first, second = read_row("7.0", 1000), read_row("7.0", 800)
    cut(tmp_path / "sum.byrx.txt", (read_row("6.29", 500), first, first, second))
    found = read_folder("db_bench", tmp_path)
    assert [(each.build, each.figures.metrics["qps"]) for each in steps(found)] == [
        ("6.29", 500),
        ("7.0", 1000),
        ("7.0-3", 800),
    ]
    assert "sum.byrx.txt" not in found.summaries


def test_short_tables_of_other_years_are_made_where_one_lies_there(tmp_path: Path) -> None:
    """rel2 and abs of 2023 have no heads; of both fmt of 2025 the figures are relative."""
    rows = [row(version=version, ops_sec=qps) for version, qps in (("8.0.0", "100"), ("8.1.0", "150"))]
    lines = [HEAD, *rows, "", HEAD, *(line.replace("readwhilewriting.t4", "revrange.t1") for line in rows), ""]
    (tmp_path / "sum.byrx.lru.txt").write_text("".join(f"{line}\n" for line in lines))
    others = ("rel2.byrx.lru.csv", "abs.byrx.lru.tsv", "fmt.byrx.lru.abs1.tsv", "fmt.byrx.lru.abs0.csv")
    assert not set(others) & read_folder("db_bench", tmp_path).summaries.keys()
    for name in others:
        (tmp_path / name).write_text("")
    found = read_folder("db_bench", tmp_path)
    assert [found.summaries[name] for name in others] == [
        "readwhilewriting.t4,1.50\n",
        "100\t150\treadwhilewriting.t4\n",
        "8.0.0\t8.1.0\ttest\n1.00\t1.50\treadwhilewriting.t4\n",
        "test,8.0.0,8.1.0,\nreadwhilewriting.t4,1.00,1.50\n",
    ]
    assert "fmt.byrx.lru.abs0.tsv" not in found.summaries
    assert {path.name for path in found.derived} == set(others)


def test_a_cut_without_a_name_is_of_its_folder(tmp_path: Path) -> None:
    rows = [row(version=version) for version in ("8.0.0", "8.1.0")]
    (tmp_path / "iobuf").mkdir()
    (tmp_path / "iobuf/sum.txt").write_text("".join(f"{line}\n" for line in (HEAD, *rows)))
    found = read_folder("db_bench", tmp_path)
    assert found.planned.plan.axes[0].labels == ("8.0.0", "8.1.0")
    assert "iobuf/csum.iobuf.csv" in found.summaries


def test_a_second_set_has_a_short_table_of_its_own(tmp_path: Path) -> None:
    rows = [row(version=version, ops_sec=qps) for version, qps in (("8.0.0", "100"), ("8.1.0", "150"))]
    for name, of in (("sum.byrx.gcc.txt", rows), ("sum2.byrx.gcc.txt", rows[::-1])):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in (HEAD, *of)))
    found = read_folder("db_bench", tmp_path)
    assert len(found.planned.stages) == 2
    assert found.summaries["csum2.byrx.gcc.csv"] == "test,8.1.0,8.0.0,\nreadwhilewriting.t4,1.00,0.67\n"


def test_the_folder_of_one_build_alone(tmp_path: Path) -> None:
    (tmp_path / "benchmark_readwhilewriting.t4.log").write_text(log())
    found = read_folder("db_bench", tmp_path)
    assert (len(steps(found)), "summary.tsv" in found.summaries) == (1, True)


def test_a_byte_that_is_no_text_in_the_name_of_a_build(tmp_path: Path) -> None:
    lines = ["bm/8.\udcff/report.tsv", "", HEAD, row(version="8.\udcff"), ""]
    text = "".join(f"{line}\n" for line in lines)
    (tmp_path / "summary.tsv").write_text(text, errors="surrogateescape")
    found = read_folder("db_bench", tmp_path)
    assert found.planned.plan.axes[0].labels == ("8.\N{REPLACEMENT CHARACTER}",)
    assert found.summaries["summary.tsv"] == text


def test_a_summary_that_names_no_report_is_refused(tmp_path: Path) -> None:
    (tmp_path / "summary.tsv").write_text(f"{HEAD}\n{row()}\n")
    assert wrong(tmp_path) == [
        "DIR/summary.tsv: the paths of each build's report.tsv were expected above the column heads"
    ]
