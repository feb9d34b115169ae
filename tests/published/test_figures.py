"""Published tables: their files, and the text that their figures are read from."""

import pytest

from stepgrid.language.files import TooLargeError
from stepgrid.language.problems import Problems
from stepgrid_published import figures as published

FORMS = {
    "sysbench": (
        "Relative to: x.a\ncol-1 : x.b\ncol-2 : x.c\n\ncol-1\tcol-2\n1.55\t0.98\thot-points_range=100\n",
        {("hot-points_range=100", "x.b"): 1.55, ("hot-points_range=100", "x.c"): 0.98},
    ),
    "a report page": (
        "<pre>\nips\tp99\ttag\n96154\t7\t20m.a\n85106\tNA\t20m.b\n</pre>\n",
        {("20m.a", "ips"): 96154.0, ("20m.a", "p99"): 7.0, ("20m.b", "ips"): 85106.0},
    ),
    "NOPM": ("pg1222,20561\npg181,22017\n", {("pg1222", "1"): 20561.0, ("pg181", "1"): 22017.0}),
    "names first": ("config  l.i1  q100\nbase  0.001  8.206\n", {("base", "l.i1"): 0.001, ("base", "q100"): 8.206}),
    "an index": ("Creating index...\nBuilt index in 33.5\n", {("Built index in", "1"): 33.5}),
    "a search": ("  MariaDB(m=4, ef_search=10)   0.869   4895.472\n", {("MariaDB(m=4 ef_search=10)", "2"): 4895.472}),
    "nothing": ("\n---\nno table\n", {}),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_table_of_text_is_read(form):
    text, expected = FORMS[form]
    assert published.parse_grid(text.splitlines()).items() >= expected.items()


def test_a_large_file_is_not_read(tmp_path):
    file = tmp_path / "large"
    with file.open("wb") as stream:
        stream.truncate(published.MOST_BYTES + 1)
    with pytest.raises(TooLargeError):
        published.read_grid(file, None)


TABLE = """published: 1
names: {y: Y}
tables:
  - from: the article
    metric: qps
    rows: step                          # kept
    columns: build
    labels: [a, b]
    names: {a: A}
    figures:
      x: []
      y: [1, null]
"""


def read(folder, text):
    path = folder / "published" / "a.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    problems = Problems()
    return published.read(str(folder / "a.yaml"), problems), [problem.message for problem in problems.items]


def test_figures_that_are_read_again_change_nothing_else(tmp_path):
    tables, _ = read(tmp_path, TABLE)
    assert tables is not None
    file = tmp_path / "qps.tsv"
    file.write_text("col-1 : A\ncol-2 : b\n\ncol-1 col-2\n1.5 2e3 x\n7 8 Y\n")
    again = published.read_again(tables.tables[0], tables.names, file)
    text = published.with_figures(TABLE, tables.model_copy(update={"tables": (again,)}))
    assert text == TABLE.replace("[]", "[1.5, 2000]").replace("[1, null]", "[7, 8]")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (TABLE.replace("[1, null]", "[1]"), "`y`: 1 figures of 2 columns"),
        (TABLE.replace("    metric: qps\n", ""), "a table has one `metric`, or its rows or columns are metrics"),
        (TABLE.replace("figures:", "figure:"), "`figure` is not a key here"),
        (TABLE.replace("[1, null]", "[fast, null]"), "`y`: expected a number, found `fast`"),
    ],
)
def test_faults_of_a_file_are_told(tmp_path, wrong, message):
    assert message in read(tmp_path, wrong)[1]
