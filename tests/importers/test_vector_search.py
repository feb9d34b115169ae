from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from stepgrid.plugins.importer import FolderError, ImportedStep
from stepgrid.transfer.published import PublishedFolder, read_folder
from tests.golden import Golden

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


def steps(found: PublishedFolder) -> list[ImportedStep]:
    return [step for stage in found.planned.stages.values() for step in stage]


def test_groups_are_found_as_parts_of_the_text(tmp_path: Path) -> None:
    found = read_folder("vector_search", folder(tmp_path, o_plot=PLOT))
    first = "\n0.900 300.0     MariaDB(m=4, ef_search=10)\n1.000 90.1     MariaDB(m=48, ef_search=10)\n\n"
    assert found.summaries["qr.maria"].startswith(first)
    assert found.summaries["qr.maria"].endswith("\n\n1.000 90.1     MariaDB(m=48, ef_search=10)\n")
    assert [(e.file, e.row, e.legacy, e.clean, e.why) for e in found.differences] == [
        ("qr.maria", "m=4", "2", "1", "m=4 finds m=48"),
        ("qr.pgvector", "PGVector", "1", "2", "ef_search of a plot"),
        ("qr.maria", "MariaDB", "2", "3", "ef_search of a plot"),
    ]


def test_what_one_engine_alone_was_searched_with_is_not_listed(tmp_path: Path) -> None:
    files = read_folder("vector_search", folder(tmp_path, o_plot=PLOT)).summaries
    assert "ef_search=30" not in files["qr.maria"]
    alone = read_folder(
        "vector_search", folder(tmp_path, o_plot="".join(PLOT.partition("Computing knn metrics\n PG")[0]))
    )
    assert "ef_search=30" in alone.summaries["qr.maria"]


def test_the_best_of_each_engine_with_a_recall(tmp_path: Path) -> None:
    plot = PLOT.replace("ef_search=20", "ef_search=10")
    files = read_folder("vector_search", folder(tmp_path, o_plot=plot)).summaries
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
    found = read_folder("vector_search", folder(tmp_path, o_plot=PLOT))
    assert len(steps(found)) == len(LINES)
    first = steps(found)[0]
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
    found = read_folder("vector_search", folder(tmp_path, o_plot_def=PLOT, o_plot_wm8=PLOT))
    assert {"qr.maria.def", "qr.maria.wm8.qps", "qr.topN.1.wm8"} <= set(found.summaries)
    assert found.planned.plan.axes[1].labels == ("def", "wm8")


def test_every_fault_has_its_line(tmp_path: Path, golden: Golden) -> None:
    text = (
        "Computing knn metrics\n PGVector(m=8, ef_search=1)  1.000  5\nComputing knn metrics\nkilled\n"
        " MariaDB(m=4, ef_search=10)  x  5\n Other(a=1)  0.5  5\n Other(a=1)  0.5  5\n"
        " MariaDB(m=5, ef_search=10)  0.9\n"
    )
    with pytest.raises(FolderError) as caught:
        read_folder("vector_search", folder(tmp_path, o_plot=text))
    golden(str(caught.value).replace(str(tmp_path), "DIR"))


def test_a_dbms_whose_names_lack_a_parenthesis(tmp_path: Path) -> None:
    """Two results of one name are of something that the name leaves out; the scripts' 2 also finds 20."""
    name = "Qdrant((m=8, ef_construct=32, quantization=none, hnsw_ef={})"
    rows = [(20, "0.800", "100.000"), (2, "0.600", "200.000"), (2, "0.650", "190.000")]
    plot = "".join(f"Found cached result\n {name.format(ef)}        {recall}      {qps}\n" for ef, recall, qps in rows)
    found = read_folder("vector_search", folder(tmp_path, o_plot=plot))
    assert [(step.build, step.labels.get("occurrence"), dict(step.variables)) for step in steps(found)] == [
        ("Qdrant", "1", {"hnsw_ef": "2"}),
        ("Qdrant", "2", {"hnsw_ef": "2"}),
        ("Qdrant", None, {"hnsw_ef": "20"}),
    ]
    assert found.summaries["qr.qdrant.none"].splitlines() == [
        "",
        f"0.800 100.0     {name.format(20)}",
        f"0.600 200.0     {name.format(2)}",
        f"0.650 190.0     {name.format(2)}",
        f"0.800 100.0     {name.format(20)}",
    ]


def test_a_padded_number_is_that_number_and_the_scripts_do_not_find_it(tmp_path: Path) -> None:
    plot = " MariaDB(m= 4, ef_search=10)  0.9  5.000\n MariaDB(m=12, ef_search=10)  0.99  4.000\n"
    found = read_folder("vector_search", folder(tmp_path, o_plot=plot))
    assert [axis.labels for axis in found.planned.plan.axes if axis.name == "m"] == [("4", "12")]
    assert "m= 4" not in found.summaries["qr.maria"]
    assert ("MariaDB", "1", "2") in [(each.row, each.legacy, each.clean) for each in found.differences]


def test_a_plot_on_another_scale_shows_the_same_results(tmp_path: Path) -> None:
    again = PLOT.replace("m=4, ef_search=10", "m=6, ef_search=10")
    found = read_folder("vector_search", folder(tmp_path, o_plot_a=PLOT, o_plot_b=again, o_plot_xlog=PLOT + again))
    assert len(steps(found)) == 10
    assert [str(each).replace(str(tmp_path), "DIR") for each in found.skipped] == [
        "DIR/o.plot.xlog: it shows 10 results of o.plot.a, o.plot.b again: counted once"
    ]
    assert found.planned.plan.warnings == (f"left out: {found.skipped[0].sentence}",)
    (tmp_path / "o.plot.xlog").write_text(again)
    assert (
        read_folder("vector_search", tmp_path).skipped[0].message
        == "it shows 5 results of o.plot.b again: counted once"
    )
    for name in ("o.plot.a", "o.plot.b"):
        (tmp_path / name).unlink()
    (tmp_path / "o.plot.xlog").write_text(PLOT)
    assert not read_folder("vector_search", tmp_path).skipped


def test_a_plot_of_some_of_the_engines(tmp_path: Path) -> None:
    some = "".join(line for line in PLOT.splitlines(keepends=True) if "PGVector" not in line)
    found = read_folder(
        "vector_search", folder(tmp_path, o_plot_all=PLOT, o_plot_some=some.replace("Computing knn metrics\n", ""))
    )
    assert [each.message for each in found.skipped] == ["it shows 3 results of o.plot.all again: counted once"]
    assert {"qr.maria", "qr.topN.1"} <= set(found.summaries)


def test_what_the_published_file_lists_is_reproduced(tmp_path: Path) -> None:
    """Its ef_search, its indexes (an empty line for each that has none), its order of equal figures, its qr.topN."""
    listed = (
        "\n0.970 250.0     PGVector(m=8, ef_construction=64, ef_search=10)\n\n"
        "\n0.980 250.0     PGVector(m=16, ef_construction=64, ef_search=20)\n"
    )
    maria = "MariaDB(m=4, ef_search=30)"
    best = "".join(
        f"Best QPS with recall >= {limit}\n\n" for limit in ("1.000", "0.99", "0.98", "0.97", "0.96", "0.95")
    )
    files = {"qr_pgvector": listed, "qr_maria": f"x {maria}\n", "qr.topN.1.maria": best, "qr.topN.1.what": "x"}
    made = read_folder("vector_search", folder(tmp_path, o_plot=PLOT, **files)).summaries
    assert made["qr.pgvector"] == listed
    assert made["qr.maria"] == f"\n0.930 200.0     {maria}\n" + "\n" * 8
    assert made["qr.topN.1.maria"] == best
    assert "qr.topN.1.what" not in made


def test_equal_figures_are_in_the_order_of_the_published_file(tmp_path: Path) -> None:
    """Which depends on the language that `sort` was run with."""
    plot = " MariaDB(m=4, ef_search=10)  1.000  44.700\n MariaDB(m=6, ef_search=10)  1.000  4.800\n"
    first, second = "1.000 44.7     MariaDB(m=4, ef_search=10)\n", "1.000 4.8     MariaDB(m=6, ef_search=10)\n"
    for beside, made in ((first + second, first + second), (second + first, second + first), ("x", first + second)):
        files = read_folder("vector_search", folder(tmp_path, o_plot=plot, qr_maria_recall=beside)).summaries
        assert files["qr.maria.recall"] == made


def test_folders_of_plots_have_their_files_in_these(tmp_path: Path) -> None:
    for name in ("dop_1", "dop_8"):
        (tmp_path / name).mkdir()
        folder(tmp_path / name, o_plot=PLOT.replace("300.04", f"30{name[-1]}.04"))
    found = read_folder("vector_search", tmp_path)
    assert {"dop_1/qr.maria", "dop_8/qr.topN.1"} <= set(found.summaries)
    assert found.planned.plan.axes[1].labels == ("dop_1", "dop_8")
    assert "dop_1/o.plot:3" in [step.source for step in steps(found)]


@pytest.mark.parametrize("end", ["", "3", "300.0"])
def test_half_a_line_at_the_end_is_no_result(tmp_path: Path, end: str) -> None:
    found = read_folder("vector_search", folder(tmp_path, o_plot=f"{PLOT} MariaDB(m=5, ef_search=10)   0.9  {end}"))
    assert (len(steps(found)), [path.name for path in found.truncated]) == (len(LINES), ["o.plot"])
    assert [axis.labels for axis in found.planned.plan.axes if axis.name == "plot"] == []


def test_a_whole_last_line_may_lack_its_end_and_lines_may_end_as_on_windows(tmp_path: Path) -> None:
    path = folder(tmp_path) / "o.plot"
    path.write_bytes(f"{PLOT} MariaDB(m=5, ef_search=10)   0.9  300.000".replace("\n", "\r\n").encode())
    found = read_folder("vector_search", tmp_path)
    assert (len(steps(found)), found.truncated) == (len(LINES) + 1, [])


def test_a_folder_of_another_kind_says_which(tmp_path: Path) -> None:
    with pytest.raises(FolderError) as caught:
        read_folder("sysbench", folder(tmp_path, o_plot=PLOT))
    assert str(caught.value) == f"{tmp_path}: there are no sysbench results in it; there are those of vector_search"


def test_all_published_samples_byte_for_byte(published: Callable[[str], Path]) -> None:
    found = read_folder("vector_search", published("vector_search"))
    samples = [path for path in published("vector_search").iterdir() if path.name.startswith("qr.")]
    assert len(samples) == 3
    for path in samples:
        assert found.summaries[path.name].encode() == path.read_bytes()
