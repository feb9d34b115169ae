"""stepgrid import KIND DIR: published results become results like our own, or nothing does."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.plugins.registry import IMPORTERS
from stepgrid.store.store import Store
from tests.importers.made import run, sysbench

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, rate in (("x.my56.c8.pk1", "400.00"), ("x.my80.c8.pk1", "200.00")):
        run(tmp_path / "published" / name, output=sysbench(rate))
    return tmp_path


def test_it_ends_with_a_report(capsys: Capture) -> None:
    assert main(["import", "sysbench", "published", "--legacy", "out"]) == 0
    told = capsys.readouterr().out.split("\n")
    assert told[1:5] == [
        "imported 2 results of 2 builds",
        "left out: nothing",
        "out: 6 summary files as published",
        "out/legacy-and-clean.tsv: 8 figures where our rule is another, for 1 reason",
    ]
    (summary,) = Path("outputs/summary").iterdir()
    assert told[5] == f"report: {summary}/summary.txt"
    assert "my80.c8: " in (summary / "summary.txt").read_text()
    table = Path("out/legacy-and-clean.tsv").read_text().split("\n")
    assert table[:2] == [
        "file\trow\tfigure\tlegacy\tclean\twhy",
        "sb.met.point-query.range100.pk1.dop4\tx.my56.c8.pk1\tcs/s\t150\t300\tvmstat's banner lines",
    ]


def test_the_tables_hold_them(capsys: Capture) -> None:
    import duckdb

    assert main(["import", "sysbench", "published"]) == 0
    (steps,) = Path("outputs/summary").glob("*/tables/steps.parquet")
    query = f"SELECT build, step, qps, device_write_mb_per_s, host_cpu_user_pct FROM '{steps}' ORDER BY build"
    assert duckdb.sql(query).fetchall() == [
        ("my56.c8", "point-query_range=100", 400.0, 2.0, 45.0),
        ("my80.c8", "point-query_range=100", 200.0, 2.0, 45.0),
    ]


def test_again_takes_nothing(capsys: Capture) -> None:
    assert main(["import", "sysbench", "published"]) == 0
    capsys.readouterr()
    assert main(["import", "sysbench", "published"]) == 0
    assert capsys.readouterr().out.split("\n")[1:4] == [
        "imported 0 results of 2 builds",
        "already here: 2 results",
        "left out: nothing",
    ]


def test_gc_leaves_them(folder: Path, capsys: Capture) -> None:
    from tests.cli.samples import SPEC

    (folder / "specs").mkdir()
    (folder / "specs" / "a.yaml").write_text(SPEC)
    assert main(["import", "sysbench", "published"]) == 0
    capsys.readouterr()
    assert main(["gc"]) == 0
    assert capsys.readouterr().out == "no unreferenced results under outputs/ (specs/a.yaml, at all scales)\n"


def test_a_wrong_file_imports_nothing(folder: Path, capsys: Capture) -> None:
    wrong = folder / "published/x.my80.c8.pk1/sb.io.point-query.range100.pk1.dop4"
    wrong.write_text("Device r/s w/s rkB/s wkB/s\nmd2 1 2\n")
    assert main(["import", "sysbench", "published", "--legacy", "out"]) == 1
    path = wrong.relative_to(folder)
    assert capsys.readouterr().err == (
        f"{path}: iostat -x was expected: there is no line `Device …` with figures below it\n"
        f"{path}:2: 4 figures of a device were expected here, as the head above names them\n  | md2 1 2\n"
        "nothing was imported\n"
    )
    assert not Store().root.exists()
    assert not Path("out").exists()


def test_of_db_bench_a_faulty_file_is_refused_alone(folder: Path, capsys: Capture) -> None:
    from tests.importers.db_bench.made import report, row

    report(folder / "bm/8.0.0", row(version="8.0.0"))
    report(folder / "bm/8.1.0", "1000")
    assert main(["import", "db_bench", "bm"]) == 1
    said = "bm/8.1.0/report.tsv:3: 1 cells where 28 were expected, as its head names them"
    assert capsys.readouterr().out.split("\n")[1:4] == ["imported 1 result of 1 build", f"refused: {said}", "  | 1000"]
    (summary,) = Path("outputs/summary").glob("*/summary.txt")
    assert f"refused: {said}" in " ".join(summary.read_text().split())


PLOT = " MariaDB(m=4, ef_search=10)   0.900  300.04\n" + 684 * "Some DB\n"
SAID = (
    "plots/o.plot:2: NAME(PARAMETER=VALUE, …), recall and QPS were expected; "
    "684 such lines, this is the first\n  | Some DB\n"
)


def test_what_is_not_understood_stops_it_unless_it_may_be_left_out(folder: Path, capsys: Capture) -> None:
    (folder / "plots").mkdir()
    (folder / "plots/o.plot").write_text(PLOT)
    (folder / "plots/qr.maria").write_text("")
    assert main(["import", "vector_search", "plots"]) == 1
    assert capsys.readouterr().err == (
        f"{SAID}nothing was imported; `--skip-unknown` imports the rest, and the report says what was left out\n"
    )
    assert not Store().root.exists()
    assert main(["import", "vector_search", "plots", "--skip-unknown"]) == 0
    told = capsys.readouterr().out
    assert f"imported 1 result of 1 build\nleft out: {SAID}" in told
    assert "left out: 1 file made of other files, or without a result: qr.maria\n" in told
    (summary,) = Path("outputs/summary").glob("*/summary.txt")
    text = " ".join(summary.read_text().split())
    assert f"left out: {SAID.splitlines()[0]}" in text


def test_an_engine_that_published_summaries_lack_stops_only_these(folder: Path, capsys: Capture) -> None:
    (folder / "plots").mkdir()
    (folder / "plots/o.plot").write_text(" New(m=4)   0.900  300.04\n")
    said = (
        "plots/o.plot:1: the published summaries have no file for New (1 search): "
        "PGVector, PGVector_halfvec, MariaDB and Qdrant have\n"
    )
    assert main(["import", "vector_search", "plots", "--legacy", "out"]) == 1
    assert capsys.readouterr().err.startswith(f"{said}nothing was imported; `--skip-unknown` ")
    assert main(["import", "vector_search", "plots"]) == 0
    assert main(["import", "vector_search", "plots", "--legacy", "out", "--skip-unknown"]) == 0
    assert f"left out of out: {said}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sysbnech", "published"], "there is no kind of published results `sysbnech`\n   = did you mean `sysbench`?"),
        (["sysbench"], "which folder of sysbench results? stepgrid import sysbench DIR"),
        (["sysbench", "nowhere"], "there is no folder nowhere"),
        (
            ["sysbench", "published", "--legacy", "published"],
            "published is not empty: summary files are written to a folder of their own",
        ),
        (
            ["x.tar.gz", "--skip-unknown"],
            "there is no kind of published results `x.tar.gz`\n"
            "   = known here: db_bench, insert_benchmark, sysbench, vector_search; "
            "`pip install 'stepgrid[importers]'` (in a checkout `make setup`) adds some",
        ),
        (["published"], "there is no file published; published results: stepgrid import KIND published"),
        (["sysbnech"], "there is no file sysbnech"),
    ],
)
def test_wrong_uses(arguments: list[str], said: str, capsys: Capture) -> None:
    assert main(["import", *arguments]) == 2
    assert capsys.readouterr().err == f"{said}\n"


def test_the_digest_stands_for_a_spec(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert main(["import", "sysbench", "published"]) == 0
    digest = next(Path("outputs/summary").iterdir()).name
    told = capsys.readouterr().out
    assert told.endswith(f"`stepgrid report {digest}` prints it: the plan has no spec, so its digest names it\n")
    assert main(["report", digest]) == 0
    assert "* no verdict" in capsys.readouterr().out
    assert main(["export", digest, "x.tar.gz"]) == 0
    (folder / "other").mkdir()
    monkeypatch.chdir(folder / "other")
    assert main(["import", "../x.tar.gz"]) == 0
    capsys.readouterr()
    assert main(["results", digest]) == 0
    assert capsys.readouterr().out.count("counts") == 2
    assert main(["report", "0" * 20]) == 1
    assert main(["results", digest, "--only", "true"]) == 1
    said = "--scale, --only and --set are about a spec: results that were imported have none\n"
    assert capsys.readouterr().err.endswith(said)


def test_without_the_importers_it_says_what_to_install(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(IMPORTERS, "points", {})
    assert main(["import", "sysbench", "."]) == 2
    assert capsys.readouterr().err == (
        "there is no kind of published results `sysbench`\n"
        "   = there is none here; `pip install 'stepgrid[importers]'` (in a checkout `make setup`) adds some\n"
    )
