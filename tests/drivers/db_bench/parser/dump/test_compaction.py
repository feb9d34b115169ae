"""Tables as printf shapes them, with columns added, removed and moved: no figure is ever another column's."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.drivers.db_bench.parser.dump import compaction

WIDTHS = {
    "Score": 5, "Read(GB)": 8, "Rn(GB)": 7, "Rnp1(GB)": 8, "Write(GB)": 9, "WPreComp(GB)": 9, "Wnew(GB)": 8,
    "Moved(GB)": 9, "W-Amp": 5, "Rd(MB/s)": 8, "Wr(MB/s)": 8, "Comp(sec)": 9, "CompMergeCPU(sec)": 17, "Comp(cnt)": 9,
    "Avg(sec)": 8, "KeyIn": 7, "KeyDrop": 6, "Rblob(GB)": 9, "Wblob(GB)": 9, "Patched(sec)": 6, "Other(GB)": 1,
}  # fmt: skip
FIGURES = {
    "compaction_seconds": "Comp(sec)",
    "compaction_cpu_seconds": "CompMergeCPU(sec)",
    "compactions": "Comp(cnt)",
    "compaction_keys_in": "KeyIn",
    "compaction_keys_dropped": "KeyDrop",
    "blob_read_bytes": "Rblob(GB)",
    "blob_write_bytes": "Wblob(GB)",
}
WHOLE = {"Comp(cnt)", "KeyIn", "KeyDrop"}
SUFFIXES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}


def _cell(column: str, number: int) -> str:
    return str(number) if column in WHOLE else f"{number / 100:.2f}"


def _row(name: str, files: str, size: str, columns: list[str], cells: list[str]) -> str:
    padded = (cell.rjust(WIDTHS[column]) for column, cell in zip(columns, cells, strict=True))
    return f"{name:>4} {files:>10} {size:>10} {' '.join(padded)}"


def _table(columns: list[str], rows: list[str], group: str = "Level") -> str:
    head = f"{group}    Files   Size     {' '.join(columns)}"
    return "\n".join(["** Compaction Stats [default] **", head, "-" * len(head), *rows, "", "Uptime(secs): 1.0 total"])


@st.composite
def _tables(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    columns = draw(st.lists(st.sampled_from(list(WIDTHS)), unique=True, min_size=1))
    sums = {column: draw(st.integers(0, 10**9)) for column in columns}
    other = [draw(st.integers(0, 10**9)) for _ in columns]
    rows = [
        _row("L0", "3/1", "9.00 KB", columns, [_cell(*pair) for pair in zip(columns, other, strict=True)]),
        _row("Sum", "1234/12", "1.50 GB", columns, [_cell(*pair) for pair in sums.items()]),
        _row("Int", "0/0", "0.00 KB", columns, [_cell(*pair) for pair in zip(columns, other, strict=True)]),
    ]
    return _table(columns, rows), sums


@given(_tables())
def test_a_figure_is_its_columns_or_missing(drawn: tuple[str, dict[str, Any]]) -> None:
    text, sums = drawn
    found = compaction.figures(text)
    for name, column in FIGURES.items():
        if column not in sums:
            assert name not in found
        else:
            factor = 2**30 if name.endswith("_bytes") else 1
            assert found[name] == float(_cell(column, sums[column])) * factor
    assert (found["lsm_bytes"], found["lsm_files"]) == (1.5 * 2**30, 1234)
    assert (found["l0_bytes"], found["l0_files"]) == (9216, 3)


@given(_tables(), st.integers(0, 20))
def test_a_row_with_a_cell_too_few_or_too_many_is_not_read(drawn: tuple[str, dict[str, Any]], at: int) -> None:
    text, _ = drawn
    cut = [line.rsplit(" ", 1)[0].rstrip() if line.startswith(" Sum") else line for line in text.split("\n")]
    more = [f"{line} 7.00" if line.startswith(" Sum") else line for line in text.split("\n")]
    for lines in (cut, more):
        assert "compaction_seconds" not in compaction.figures("\n".join(lines))
        assert "lsm_bytes" not in compaction.figures("\n".join(lines))


@given(st.integers(0, 9999), st.sampled_from(list(SUFFIXES)))
def test_counts_carry_a_suffix(number: int, suffix: str) -> None:
    assert compaction.count(f"{number}{suffix}") == number * SUFFIXES[suffix]


@pytest.mark.parametrize("text", ["", "-", "nan", "1.5K", "12X"])
def test_what_is_no_count(text: str) -> None:
    assert compaction.count(text) is None


@pytest.mark.parametrize(("text", "expected"), [("0.00 KB", 0.0), ("2.00 TB", 2.0 * 2**40), ("2.00", None), ("", None)])
def test_sizes(text: str, expected: float | None) -> None:
    assert compaction.size(text) == expected


def test_the_last_table_counts_and_priorities_are_another_one() -> None:
    columns = ["Comp(sec)"]
    tables = [
        _table(columns, [_row("Sum", "1/0", "1.00 KB", columns, ["5.00"])]),
        _table(columns, [_row("Low", "1/0", "1.00 KB", columns, ["6.00"])], group="Priority"),
        _table(columns, [_row("Sum", "1/0", "1.00 KB", columns, ["7.00"])]),
        _table(columns, [_row("Sum", "1/0", "1.00 KB", columns, ["8.00"])], group="Priority"),
    ]
    assert compaction.figures("\n".join(tables))["compaction_seconds"] == 7.0


def test_a_column_twice_is_not_guessed_at() -> None:
    columns = ["Comp(sec)", "Comp(sec)"]
    assert compaction.figures(_table(columns, [_row("Sum", "1/0", "1.00 KB", columns, ["5.00", "6.00"])])) == {}


def test_no_table_no_figures() -> None:
    assert compaction.figures("") == {}
    assert compaction.figures("** Compaction Stats [default] **") == {}
    assert compaction.figures("Level Files Size(MB)\n--------\n  0        2       54\n") == {}
