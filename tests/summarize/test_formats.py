"""One table in each format, to the letter; and whatever a cell says, each format keeps it."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Sequence
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.host.terminal_output import wrap
from stepgrid.model.table import Cell, Column, Table
from stepgrid.summarize.formats import FORMATS, json_text, text
from stepgrid.summarize.formats.csv_format import delimited_text

TABLE = Table(
    "QPS",
    (Column("build", label=True), Column("qps", unit="operations/s"), Column("p99"), Column("p99.9")),
    (
        (Cell("old|1"), Cell("12,346", value=12345.6), Cell("5"), Cell("9")),
        (Cell("<new>"), *[Cell("unsupported", "unsupported")] * 3),
    ),
    block="readww",
    before=("relative to nothing",),
    notes=("p99: microseconds",),
)

SAID = {
    "text": """\
QPS: readww
-----------
  relative to nothing
  build  qps (operations/s)  p99  p99.9
  old|1              12,346    5      9
  <new>  unsupported
  p99: microseconds
""",
    "markdown": """\
### QPS: readww

relative to nothing

| build | qps (operations/s) | p99 | p99.9 |
| --- | ---: | ---: | ---: |
| old\\|1 | 12,346 | 5 | 9 |
| \\<new\\> | unsupported | unsupported | unsupported |

p99: microseconds
""",
    "csv": """\
# QPS: readww
# relative to nothing
build,qps (operations/s),p99,p99.9
old|1,12345.6,5,9
<new>,unsupported,unsupported,unsupported
""",
    "tsv": """\
# QPS: readww
relative to nothing
build\tqps (operations/s)\tp99\tp99.9
old|1\t12345.6\t5\t9
<new>\tunsupported\tunsupported\tunsupported
""",
    "html": """\
<section class="table"><h3>QPS: readww</h3>
<p class="note">relative to nothing</p>
<div class="scroll"><table aria-label="QPS: readww">
<thead><tr><th scope="col">build</th><th scope="col" class="number">qps<br><small>operations/s</small></th>\
<th scope="col" class="number">p99</th><th scope="col" class="number">p99.9</th></tr></thead>
<tbody>
<tr><th>old|1</th><td class="number">12,346</td><td class="number">5</td><td class="number">9</td></tr>
<tr><th>&lt;new&gt;</th><td colspan="3" class="number unsupported">unsupported</td></tr>
</tbody></table></div>
<p class="note">p99: microseconds</p>
</section>
""",
    "json": """\
{"title": "QPS", "block": "readww", "columns": [\
{"name": "build", "unit": "", "label": true}, {"name": "qps", "unit": "operations/s", "label": false}, \
{"name": "p99", "unit": "", "label": false}, {"name": "p99.9", "unit": "", "label": false}], "rows": [\
[{"text": "old|1"}, {"text": "12,346", "value": 12345.6}, {"text": "5"}, {"text": "9"}], \
[{"text": "<new>"}, {"text": "unsupported", "kind": "unsupported"}, \
{"text": "unsupported", "kind": "unsupported"}, {"text": "unsupported", "kind": "unsupported"}]], \
"before": ["relative to nothing"], "notes": ["p99: microseconds"]}
""",
}


@pytest.mark.parametrize("form", FORMATS)
def test_a_table(form: str) -> None:
    said = "\n".join(line.rstrip() for line in FORMATS[form](TABLE).split("\n"))
    assert said == SAID[form]


def test_columns_beyond_the_width_go_on_below_with_the_labels_again() -> None:
    heads = tuple(Column(f"a long heading {number}") for number in range(8))
    table = Table("wide", (*heads, Column("name", label=True)), ((*map(Cell, "12345678"), Cell("row")),))
    lines = FORMATS["text"](table).splitlines()
    assert all(len(line) <= 120 for line in lines)
    assert [line.split()[-1] for line in lines[2:] if line] == ["name", "row", "name", "row"]


def test_words_begin_below_each_other_and_one_status_stands_for_all_figures() -> None:
    columns = (
        Column("step", label=True),
        Column("QPS", is_text=True),
        Column("new", is_text=True),
        Column("p99", is_text=True),
    )
    done, failed = map(Cell, ("readww", "5", "1.12 [1.08, 1.16] faster", "1")), [Cell("failed", "failed")] * 3
    assert list(text.lines(Table("", columns, (tuple(done), (Cell("fill"), *failed))))) == [
        "  step    QPS  new                       p99",
        "  readww  5    1.12 [1.08, 1.16] faster  1",
        "  fill    failed",
    ]


def test_a_status_longer_than_the_figures_runs_on_where_nothing_stands_behind_it() -> None:
    status = Cell("same as cache=lru", "same as")
    figures, label = (Column("a"), Column("b"), Column("c")), Column("arm", label=True)
    before = Table("", (label, *figures), ((Cell("x"), status, status, status),))
    behind = Table("", (*figures, label), ((Cell("1"), Cell("2"), Cell("3"), Cell("x")),))
    assert list(text.lines(before))[1] == "  x    same as cache=lru"
    assert list(text.lines(behind)) == ["  a  b  c  arm", "  1  2  3  x"]


def test_on_each_page_a_status_stands_once() -> None:
    columns = (Column("arm", label=True), *(Column(f"a long heading {number}") for number in range(8)))
    rows = ((Cell("x"), *[Cell("failed", "failed")] * 8), (Cell("y"), *[Cell("1")] * 8))
    assert [line for line in text.lines(Table("", columns, rows)) if "x" in line] == ["  x    failed"] * 2


def test_lists_have_no_heads_and_no_trailing_space() -> None:
    assert list(text.aligned([("a", "1", "s"), ("bb", "10", "")], "    ", right=[1])) == ["    a    1  s", "    bb  10"]
    assert list(text.aligned([])) == []


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=12)
WORDS = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=12)


def tables(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Table]:
    def made(width: int) -> st.SearchStrategy[Table]:
        row = st.tuples(*[texts.map(Cell)] * width)
        columns = st.tuples(*[st.builds(Column, texts, st.booleans(), st.just(""), st.booleans())] * width)
        return st.builds(lambda heads, rows: Table("a table", heads, tuple(rows)), columns, st.lists(row, max_size=4))

    return st.integers(1, 5).flatmap(made)


def grid(table: Table) -> list[list[str]]:
    return [[column.name for column in table.columns], *([cell.text for cell in row] for row in table.rows)]


def inert(text: str) -> str:
    """A quote stands before what a spreadsheet would compute; a number is none, nor the sign for nothing."""
    formula = text.startswith(("=", "+", "-", "@", "\t", "\r")) and text != "-"
    return f"'{text}" if formula and not re.fullmatch(r"[+-]?[\d.,]+([eE][+-]?\d+)?[x%]?", text) else text


@pytest.mark.parametrize(("form", "sign"), [("csv", ","), ("tsv", "\t")])
@given(table=tables(TEXTS))
def test_csv_and_tsv_read_back(form: str, sign: str, table: Table) -> None:
    name, _, rest = FORMATS[form](table).partition("\n")
    assert name == "# a table"
    assert list(csv.reader(io.StringIO(rest, newline=""), delimiter=sign)) == [
        [*map(inert, row)] for row in grid(table)
    ]


@given(tables(TEXTS))
def test_html_keeps_every_cell_and_what_it_says_is_no_markup(table: Table) -> None:
    cells = re.findall(r"<(t[hd])\b[^>]*>([^<]*)</\1>", FORMATS["html"](table))
    rows = grid(table) if any(grid(table)[0]) else grid(table)[1:]  # columns without names have no heads
    assert [html.unescape(text) for _, text in cells] == [text for row in rows for text in row]


@given(tables(TEXTS))
def test_json_reads_back(table: Table) -> None:
    said = json.loads(FORMATS["json"](table))
    assert [[each["name"] for each in said["columns"]], *([cell["text"] for cell in row] for row in said["rows"])] == (
        grid(table)
    )


def test_json_has_no_infinity() -> None:
    said = json.loads(FORMATS["json"](Table("", (Column("a"),), ((Cell("inf", value=float("inf")),),))))
    assert said["rows"] == [[{"text": "inf"}]]


@given(tables(WORDS))
def test_markdown_keeps_every_cell_and_what_it_says_is_no_markup(table: Table) -> None:
    head, rule, *rows = FORMATS["markdown"](table).splitlines()[2:]
    assert rule.count("---") == len(table.columns)
    assert [_cells(line) for line in (head, *rows)] == grid(table)


def _cells(line: str) -> list[str]:
    parts = re.split(r"(?<!\\)(?:\\\\)*\|", f"{line}")
    joined = re.findall(r"((?:\\.|[^\\|])*)\|", line)[1:]
    assert len(parts) == len(joined) + 2
    return [re.sub(r"\\(.)", r"\1", each[1:-1]) for each in joined]


@given(tables(WORDS))
def test_text_has_every_cell_in_its_order(table: Table) -> None:
    shown = [line.split() for line in text.lines(table, width=10**6)]
    assert shown == grid(table)


@given(st.lists(st.lists(st.one_of(TEXTS, st.integers()), min_size=2, max_size=2)))
def test_rows_of_data_read_back(rows: Sequence[Sequence[object]]) -> None:
    read = list(csv.reader(io.StringIO(delimited_text(rows), newline="")))
    assert read == [[inert(each) if isinstance(each, str) else str(each) for each in row] for row in rows]


def test_json_has_no_number_where_there_is_none() -> None:
    said = json_text.text({"a": float("nan"), 1: (datetime(2026, 1, 2, 3, 4), 0.5, None, True)})
    assert json.loads(said) == {"a": None, "1": ["2026-01-02T03:04:00", 0.5, None, True]}


def test_a_value_that_is_a_list_wider_than_a_line_goes_on_after_a_separator() -> None:
    value = "write_buffer_size=4m;table_factory={cache=0;filter=bloom:10};"
    assert wrap(f"cf_options {value} direct_reads ON", "  ", "    ", 40) == [
        "  cf_options",
        "    write_buffer_size=4m;",
        "    table_factory={cache=0;",
        "    filter=bloom:10};",
        "    direct_reads ON",
    ]


def test_other_words_that_are_wider_than_a_line_are_whole() -> None:
    path = f"log outputs/{'part/' * 10}log"
    assert wrap(path, "  ", "    ", 40) == ["  log", f"    outputs/{'part/' * 10}log"]


def test_names_in_backquotes_are_code_on_the_page() -> None:
    found = Table(
        "why", (Column("why", label=True),), ((Cell("`a<b` 1 → 2"),), (Cell("it's `"),)), notes=("`stepgrid` has all",)
    )
    shown = FORMATS["html"](found)
    for part in ("<th><code>a&lt;b</code> 1 → 2</th>", "<th>it&#x27;s `</th>", '"note"><code>stepgrid</code> has all<'):
        assert part in shown
