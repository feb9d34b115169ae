from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from stepgrid.plugins.importer import Faults
from stepgrid_importers.sysbench import tables
from tests.golden import Golden
from tests.importers.made import TABLE

PATH = Path("qps.abs.a.tsv")


def read(text: str) -> tuple[tables.Table, list[str]]:
    faults = Faults()
    return tables.parse(text, PATH, faults), list(map(str, faults))


def test_what_is_read_is_written() -> None:
    table, wrong = read(TABLE)
    assert wrong == []
    assert tables.absolute(table) == TABLE


def test_ratios_are_to_the_first_column(golden: Golden) -> None:
    golden(tables.relative(read(TABLE)[0]))


def test_a_post_has_groups_and_short_names(golden: Golden) -> None:
    more = "1\t1\tscan.warm_range=100\n30\t15\tread-only_range=10\n30\t60\tread-only_range=100\n"
    golden(tables.edited(read(TABLE + more)[0]))


def test_a_figure_that_is_not_there_has_no_ratio() -> None:
    table = read(TABLE.replace("100\t150", "\t150"))[0]
    assert table.rows[0].values == [None, 150.0]
    assert tables.relative(table).split("\n")[4] == "\tpoint-query_range=100"


@pytest.mark.parametrize("title", ["\t-> point queries", " -> point queries", "\tpoint queries", ""])
def test_heads_may_stand_above_each_group_and_name_it(title: str) -> None:
    rows = TABLE.splitlines(keepends=True)
    text = "".join([*rows[:3], f"col-1\tcol-2{title}\n", rows[4], "\ncol-1\tcol-2\t-> others\n", *rows[5:]])
    table, wrong = read(text)
    assert (wrong, [row.name for row in table.rows]) == ([], [row.name for row in read(TABLE)[0].rows])
    assert tables.absolute(table) == text
    assert tables.relative(table) == (
        f"Relative to: x.my56.c8.pk1\ncol-1 : x.my80.c8.pk1\n\ncol-1{title}\n1.50\tpoint-query_range=100\n"
        "\ncol-1\t-> others\n0.75\tscan_range=100\n0.50\tupdate-index_range=100\n"
    )


def test_padded_figures_are_figures() -> None:
    assert read(TABLE.replace("40\t30", " 40\t30 "))[0].rows[1].values == [40.0, 30.0]


def test_a_column_may_have_a_name_of_several_words() -> None:
    assert read(TABLE.replace("x.my80.c8.pk1", "MySQL Community 8.0"))[0].columns[1] == "MySQL Community 8.0"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "100\t150\t",
            "100\t",
            "5: 2 figures and the name of a test were expected here\n  | 100 point-query_range=100",
        ),
        ("50\t25", "50\tabc", "7: `abc` is no figure\n  | 50 abc update-index_range=100"),
        (
            "_range=100\n40",
            "\n40",
            "5: `point-query` is no test: NAME_range=NUMBER was expected in the last column\n  | 100 150 point-query",
        ),
        ("col-2 :", "col-3 :", "4: no line above says what `col-2` is (`col-2 : DIRECTORY`)\n  | col-1 col-2"),
        (
            "50\t25",
            "col-1\n50\t25",
            "7: the heads `col-1` to `col-2` were expected here, as above\n  | col-1",
        ),
        ("\n\ncol-1", "\nwhat\ncol-1", "3: `col-1 : DIRECTORY`, or the head `col-1 …` was expected here\n  | what"),
    ],
)
def test_faults_have_their_line(old: str, new: str, said: str) -> None:
    assert read(TABLE.replace(old, new, 1))[1] == [f"{PATH}:{said}"]


def test_an_empty_table_is_none() -> None:
    assert read("")[1] == [f"{PATH}: a table of queries per second was expected: it has no rows"]


def test_the_published_tables_byte_for_byte(published: Callable[[str], Path]) -> None:
    folder = published("sysbench")
    table, wrong = read((folder / "qps.abs.my.latest.tsv").read_text(encoding="utf-8"))
    assert wrong == []
    assert tables.absolute(table).encode() == (folder / "qps.abs.my.latest.tsv").read_bytes()
    assert tables.relative(table).encode() == (folder / "qps.rel.my.latest.tsv").read_bytes()
    assert tables.edited(table).encode() == (folder / "qps.rel.my.latest.tsv.edit").read_bytes()
