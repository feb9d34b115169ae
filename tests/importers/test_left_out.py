"""An import leaves nothing out in silence: what is not understood stops it, or is left out because one says so."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from stepgrid.plugins.importer import FolderError
from stepgrid.transfer.published import PublishedFolder, read_folder
from tests.importers.db_bench.made import HEAD, log, report, row
from tests.importers.insert_benchmark import made as inserts
from tests.importers.made import IOSTAT, TABLE, VMSTAT, run
from tests.importers.test_insert_benchmark import LOAD, QUERY

PLOT = """\
writing output to results/x.png
Computing knn metrics
 MariaDB(m=4, ef_search=10)   0.900  300.04
Computing knn metrics
 Some DB {m: 4}   0.900  300.04
  0:  other-db   0.9  100
  1:  other-db   0.9  101
"""


def wrong(kind: str, folder: Path) -> str:
    with pytest.raises(FolderError) as caught:
        read_folder(kind, folder)
    return str(caught.value).replace(str(folder), "DIR")


def left_out(kind: str, folder: Path) -> list[str]:
    return [str(each).replace(str(folder), "DIR") for each in read_folder(kind, folder, skip_unknown=True).skipped]


def steps(found: PublishedFolder) -> list[tuple[str, str]]:
    return sorted((step.build, step.step) for stage in found.planned.stages.values() for step in stage)


def test_lines_of_a_plot(tmp_path: Path) -> None:
    """No switch leaves out a line with a recall: it is a result."""
    (tmp_path / "o.plot").write_text(f"{PLOT}  what\nFound cached result\n")
    expected = "NAME(PARAMETER=VALUE, …), recall and QPS were expected"
    said = (
        f"DIR/o.plot:5: {expected}\n  |  Some DB {{m: 4}}   0.900  300.04\n"
        f"DIR/o.plot:6: {expected}; 2 such lines, this is the first\n  |   0:  other-db   0.9  100\n"
        f"DIR/o.plot:8: {expected}\n  |   what"
    )
    assert wrong("vector_search", tmp_path) == said
    with pytest.raises(FolderError) as caught:
        read_folder("vector_search", tmp_path, skip_unknown=True)
    assert str(caught.value).replace(str(tmp_path), "DIR") == said
    (tmp_path / "o.plot").write_text("".join(PLOT.splitlines(keepends=True)[:3]) + "  what\nFound cached result\n")
    assert left_out("vector_search", tmp_path) == [said.splitlines()[-2].replace(":8:", ":4:") + "\n  |   what"]
    assert steps(read_folder("vector_search", tmp_path, skip_unknown=True)) == [("MariaDB", "search")]


def test_a_plot_that_ends_early(tmp_path: Path) -> None:
    (tmp_path / "o.plot").write_text("".join(PLOT.splitlines(keepends=True)[:4]))
    assert wrong("vector_search", tmp_path) == (
        "DIR/o.plot:4: after `Computing knn metrics`, NAME(PARAMETER=VALUE, …), recall and QPS were expected"
    )


def test_what_is_left_out_is_a_warning_of_the_report(tmp_path: Path) -> None:
    (tmp_path / "o.plot").write_text("".join(PLOT.splitlines(keepends=True)[:3]) + "x\n")
    (warning,) = read_folder("vector_search", tmp_path, skip_unknown=True).planned.plan.warnings
    assert warning.replace(str(tmp_path), "DIR") == (
        "left out: DIR/o.plot:4: NAME(PARAMETER=VALUE, …), recall and QPS were expected"
    )


def test_a_dbms_that_published_summaries_do_not_know(tmp_path: Path) -> None:
    (tmp_path / "o.plot").write_text(PLOT.split("Computing")[0] + " New(a=1)  0.9  5\n New(a=2)  0.9  5\n")
    found = read_folder("vector_search", tmp_path)
    assert len(found.planned.stages) == 2
    assert [str(each).replace(str(tmp_path), "DIR") for each in found.unsummarized] == [
        "DIR/o.plot:2: the published summaries have no file for New (2 searches): "
        "PGVector, PGVector_halfvec, MariaDB and Qdrant have"
    ]


@pytest.mark.parametrize("kind", ["sysbench", "db_bench", "insert_benchmark", "vector_search"])
def test_files_that_are_none_of_a_kind(kind: str, tmp_path: Path, published: Callable[[str], Path]) -> None:
    folder = tmp_path / "all"
    shutil.copytree(published(kind), folder)
    folder.chmod(0o755)  # samples may be read-only
    (folder / "notes.md").write_text("x")
    (folder / "my.cnf").write_text("x")
    (folder / "more").mkdir()
    (folder / "more/b").write_text("x")
    said = "DIR: 2 files are not understood: my.cnf, notes.md\nDIR/more: 1 file is not understood: b"
    assert wrong(kind, folder) == said
    assert "\n".join(left_out(kind, folder)) == said


@pytest.mark.parametrize("kind", ["sysbench", "db_bench", "insert_benchmark", "vector_search"])
def test_files_that_are_made_of_others_are_named(kind: str, published: Callable[[str], Path]) -> None:
    found = read_folder(kind, published(kind))
    assert not found.skipped
    aside = {
        "sysbench": ["qps.rel.my.latest.tsv", "qps.rel.my.latest.tsv.edit"],
        "db_bench": ["csum.iobuf.gcc.csv", "sum.byrx.dop1.txt.sdev"],
        "insert_benchmark": ["o.getmin.c2.cached.rx.r", "rel.l.i0", "rel.q100.1"],
        "vector_search": ["qr.maria", "qr.maria.qps", "qr.topN.1"],
    }
    assert [path.name for path in found.derived] == aside[kind]


def test_output_of_the_host_without_a_run(tmp_path: Path) -> None:
    run(tmp_path)
    (tmp_path / "sb.io.scan.range100.pk1.dop4").write_text(IOSTAT)
    (tmp_path / "sb.o.prepare").write_text("housekeeping")
    assert wrong("sysbench", tmp_path) == "DIR: 1 file is not understood: sb.io.scan.range100.pk1.dop4"


def test_lines_of_the_host_outside_of_tables(tmp_path: Path) -> None:
    run(tmp_path)
    io, vm = (tmp_path / f"sb.{kind}.point-query.range100.pk1.dop4" for kind in ("io", "vm"))
    io.write_text(IOSTAT.replace("\navg-cpu", "\nbash: killed\n\navg-cpu", 1))
    vm.write_text(f"what\n{VMSTAT}")
    assert wrong("sysbench", tmp_path) == (
        "DIR/sb.io.point-query.range100.pk1.dop4:3: a table of iostat -x was expected\n  | bash: killed\n"
        "DIR/sb.vm.point-query.range100.pk1.dop4:1: the heads of vmstat were expected\n  | what"
    )


def test_two_columns_of_a_table_that_are_one_build(tmp_path: Path) -> None:
    (tmp_path / "qps.abs.a.tsv").write_text(TABLE.replace("x.my80.c8.pk1", "x.my56.c8.pk0"))
    assert wrong("sysbench", tmp_path) == (
        "DIR/qps.abs.a.tsv: x.my56.c8.pk1 and x.my56.c8.pk0 are both my56.c8: import one of them at a time"
    )


def test_a_step_that_is_twice_in_a_report(tmp_path: Path) -> None:
    rows = [row(test="overwrite.t1", ops_sec="100"), row(test="overwrite.t1", ops_sec="200")]
    report(tmp_path / "bm/8.0.0", *rows)
    said = wrong("db_bench", tmp_path)
    assert said.startswith("DIR/bm/8.0.0/report.tsv:4: overwrite.t1 is here again, after line 3: one may not stand")


def test_a_row_without_the_end_of_its_line(tmp_path: Path) -> None:
    path = report(tmp_path / "bm/8.0.0", row(test="a.t1", ops_sec="100"), row(test="b.t1", ops_sec="200"))
    path.write_text(path.read_text().removesuffix("\n"))
    assert steps(read_folder("db_bench", tmp_path)) == [("8.0.0", "a.t1"), ("8.0.0", "b.t1")]


def test_builds_of_a_summary_that_have_no_report(tmp_path: Path) -> None:
    rows = [row(version=version, ops_sec=qps) for qps, version in (("100", "8.0.0"), ("200", "8.1.0"))]
    lines = ["bm/8.0.0/report.tsv", "bm/8.1.0/report.tsv", "", HEAD, *rows, ""]
    (tmp_path / "bm").mkdir()
    (tmp_path / "bm/summary.tsv").write_text("".join(f"{line}\n" for line in lines))
    report(tmp_path / "bm/8.1.0", rows[1])
    assert steps(read_folder("db_bench", tmp_path)) == [
        ("8.0.0", "readwhilewriting.t4"),
        ("8.1.0", "readwhilewriting.t4"),
    ]


def test_further_results_of_one_output(tmp_path: Path) -> None:
    more = "readrandom   :       1.000 micros/op 1000000 ops/sec; 1.0 MB/s\n"
    (tmp_path / "stdout").write_text(log() + more + more.replace("readrandom", "seekrandom"))
    number = len(log().splitlines()) + 1
    assert wrong("db_bench", tmp_path) == (
        f"DIR/stdout:{number}: of an output with several results the first is taken; "
        f"2 such lines, this is the first\n  | {more.strip()}"
    )


def test_two_logs_of_one_step(tmp_path: Path) -> None:
    for name in ("benchmark_overwrite.t4.log", "benchmark_overwrite.t4.log.gz"):
        content = log().encode()
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    found = read_folder("db_bench", tmp_path)
    assert [str(each).replace(str(tmp_path), "DIR") for each in found.refused] == [
        "DIR/benchmark_overwrite.t4.log.gz: overwrite.t4 has another log, benchmark_overwrite.t4.log: "
        "one may not stand for both"
    ]
    assert found.summaries.keys() >= {"summary.tsv"}


def test_a_word_where_a_figure_was_expected(tmp_path: Path) -> None:
    (tmp_path / "mrg.l.i0").write_text(inserts.table(LOAD.replace("\t", "\tx", 1)))
    assert "DIR/mrg.l.i0:2: `x" in wrong("insert_benchmark", tmp_path)
    shutil.rmtree(tmp_path)
    report(tmp_path / "8.0.0", row(test="overwrite.t1", ops_sec="many"))
    assert wrong("db_bench", tmp_path).startswith("DIR/8.0.0/report.tsv:3: `many` in ops_sec is no figure")


def test_two_results_of_one_step(tmp_path: Path) -> None:
    inserts.run(tmp_path)
    first = next(tmp_path.rglob("o.res.dop2"))
    shutil.copy(first, first.with_name("o.res.dop4"))
    said = wrong("insert_benchmark", tmp_path)
    assert f"{first.with_name('o.res.dop4')}".replace(str(tmp_path), "DIR") in said
    assert "has another result, o.res.dop2: one may not stand for both" in said


def test_two_summaries_of_one_tag_that_differ(tmp_path: Path) -> None:
    lines = [LOAD] * 3 + [QUERY] * 3
    for place, head in (("a", lines), ("b", lines), ("c", [LOAD.replace("1", "2", 1), *lines[1:]])):
        (tmp_path / place).mkdir()
        (tmp_path / place / "o.sum.t.20m.y.cy").write_text(inserts.table(*head))
    said = wrong("insert_benchmark", tmp_path)
    assert said.startswith("DIR/c/o.sum.t.20m.y.cy: ")
    assert said.endswith("has other figures in DIR/a/o.sum.t.20m.y.cy: one may not stand for both")


def test_a_device_that_the_result_does_not_name(tmp_path: Path) -> None:
    inserts.run(tmp_path)
    for path in tmp_path.rglob("o.res.dop2"):
        path.write_text(path.read_text().replace("average values from iostat for ", "average of "))
    said = "no device is named in it: of md2, sda the database's is not known, and left out"
    assert wrong("insert_benchmark", tmp_path) == "\n".join(
        f"DIR/20m.x.cy/{step}/o.res.dop2: {said}" for step in ("l.i0", "qr100.L1")
    )


def test_half_a_line_at_the_end_is_told(tmp_path: Path) -> None:
    run(tmp_path)
    path = tmp_path / "sb.io.point-query.range100.pk1.dop4"
    path.write_text(path.read_text() + "md2   4.")
    assert [each.name for each in read_folder("sysbench", tmp_path).truncated] == [path.name]
    assert left_out("sysbench", tmp_path) == [f"DIR: half a line at the end of 1 file is not read: {path.name}"]
