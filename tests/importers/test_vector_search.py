from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from stepgrid.plugins.importer import FolderError
from stepgrid.transfer.published_folder import read

LINES = (
    ("MariaDB(m=4, ef_search=10)", "0.900", "300.04"),
    ("MariaDB(m=48, ef_search=10)", "1.000", "90.06"),
    ("MariaDB(m=4, ef_search=30)", "0.930", "200.0"),
    ("PGVector(m=16, ef_construction=64, ef_search=20)", "0.980", "250.0"),
    ("PGVector(m=8, ef_construction=64, ef_search=10)", "0.970", "250.0"),
)
PLOT = "writing output to results/some-euclidean.png\n" + "".join(
    f"Computing knn metrics\n {name}        {recall}     {qps}\n" for name, recall, qps in LINES
)


def folder(path: Path, **plots: str) -> Path:
    for name, text in plots.items():
        (path / name.replace("_", ".")).write_text(text)
    return path


def test_groups_are_found_as_parts_of_the_text(tmp_path: Path) -> None:
    found = read("vector_search", folder(tmp_path, o_plot=PLOT))
    first = "\n0.900 300.0     MariaDB(m=4, ef_search=10)\n1.000 90.1     MariaDB(m=48, ef_search=10)\n\n"
    assert found.legacy["qr.maria"].startswith(first)
    assert found.legacy["qr.maria"].endswith("\n\n1.000 90.1     MariaDB(m=48, ef_search=10)\n")
    assert [(e.file, e.row, e.legacy, e.clean, e.why) for e in found.beside] == [
        ("qr.maria", "m=4", "2", "1", "m=4 finds m=48"),
        ("qr.pgvector", "PGVector", "1", "2", "ef_search of a plot"),
        ("qr.maria", "MariaDB", "2", "3", "ef_search of a plot"),
    ]


def test_what_one_engine_alone_was_searched_with_is_not_listed(tmp_path: Path) -> None:
    files = read("vector_search", folder(tmp_path, o_plot=PLOT)).legacy
    assert "ef_search=30" not in files["qr.maria"]
    alone = read("vector_search", folder(tmp_path, o_plot="".join(PLOT.partition("Computing knn metrics\n PG")[0])))
    assert "ef_search=30" in alone.legacy["qr.maria"]


def test_the_best_of_each_engine_with_a_recall(tmp_path: Path) -> None:
    plot = PLOT.replace("ef_search=20", "ef_search=10")
    files = read("vector_search", folder(tmp_path, o_plot=plot)).legacy
    assert files["qr.pgvector.qps"] == (
        "0.980 250.0     PGVector(m=16, ef_construction=64, ef_search=10)\n"
        "0.970 250.0     PGVector(m=8, ef_construction=64, ef_search=10)\n"
    )
    assert files["qr.topN.1"].startswith(
        "Best QPS with recall >= 1.000\n1.000 90.1     MariaDB(m=48, ef_search=10)\n\n"
        "Best QPS with recall >= 0.99\n1.000 90.1     MariaDB(m=48, ef_search=10)\n\n"
        "Best QPS with recall >= 0.98\n0.980 250.0     PGVector(m=16, ef_construction=64, ef_search=10)\n"
    )
    assert files["qr.topN.3"].startswith(
        "Best QPS with recall >= 1.000\n\n1.000 90.1     MariaDB(m=48, ef_search=10)\n1."
    )


def test_figures_are_as_they_were_printed_and_each_counts_once(tmp_path: Path) -> None:
    found = read("vector_search", folder(tmp_path, o_plot=PLOT))
    steps = [step for stage in found.planned.stages.values() for step in stage]
    assert len(steps) == len(LINES)
    first = steps[0]
    assert (first.build, first.labels, first.variables) == ("MariaDB", {"m": "4"}, {"ef_search": "10"})
    assert (first.figures.metrics, first.figures.facts) == (
        {"recall": 0.9, "qps": 300.04},
        {"dataset": "some-euclidean"},
    )
    assert [(axis.name, axis.labels, axis.steps) for axis in found.planned.plan.axes] == [
        ("build", ("MariaDB", "PGVector"), None),
        ("m", ("4", "8", "16", "48"), None),
        ("ef_construction", ("64",), None),
        ("ef_search", ("10", "20", "30"), ("search",)),
    ]


def test_of_several_plots_each_has_its_files(tmp_path: Path) -> None:
    found = read("vector_search", folder(tmp_path, o_plot_def=PLOT, o_plot_wm8=PLOT))
    assert {"qr.maria.def", "qr.maria.wm8.qps", "qr.topN.1.wm8"} <= set(found.legacy)
    assert found.planned.plan.axes[1].labels == ("def", "wm8")


def test_every_fault_has_its_line(tmp_path: Path) -> None:
    text = (
        "Computing knn metrics\n PGVector(m=8, ef_search=1)  1.000  5\nComputing knn metrics\nkilled\n"
        " MariaDB(m=4, ef_search=10)  x  5\n Other(a=1)  0.5  5\n Other(a=1)  0.5  5\n"
    )
    with pytest.raises(FolderError) as caught:
        read("vector_search", folder(tmp_path, o_plot=text))
    assert str(caught.value).replace(str(tmp_path), "DIR") == (
        "DIR/o.plot:2: PGVector(m=8, ef_search=1) says no ef_construction=NUMBER\n"
        "DIR/o.plot:4: after `Computing knn metrics`, NAME(PARAMETER=VALUE, …), recall and QPS were expected\n"
        "  | killed\n"
        "DIR/o.plot:5: recall and QPS of MariaDB(m=4, ef_search=10) were expected: two numbers\n"
        "  |  MariaDB(m=4, ef_search=10)  x  5\n"
        "DIR/o.plot:7: Other(a=1) is here again, after line 6\n"
        "  |  Other(a=1)  0.5  5"
    )


def test_a_folder_of_another_kind_says_which(tmp_path: Path) -> None:
    with pytest.raises(FolderError) as caught:
        read("sysbench", folder(tmp_path, o_plot=PLOT))
    assert str(caught.value) == f"{tmp_path}: there are no sysbench results in it; there are those of vector_search"


def test_all_published_samples_byte_for_byte(published: Callable[[str], Path]) -> None:
    found = read("vector_search", published("vector_search"))
    samples = [path for path in published("vector_search").iterdir() if path.name.startswith("qr.")]
    assert len(samples) == 3
    for path in samples:
        assert found.legacy[path.name].encode() == path.read_bytes()
