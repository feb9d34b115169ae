"""One table in each format, to the letter; and whatever a cell says, each format keeps it."""

import csv
import html
import io
import json
import math
import re
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from stepgrid.model.table import Basis, Cell, Column, Table
from stepgrid.package import TEMPLATES
from stepgrid.summarize import formats, report_formats
from stepgrid.summarize.report import Report
from stepgrid_page.json_document import VERSION, report_json
from tests.golden import Golden
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

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


def test_a_table_in_each_format(golden: Golden) -> None:
    golden("\n".join(f"{name}:\n{write(TABLE)}" for name, write in formats.FORMATS.items()))


def test_one_status_stands_for_all_figures_on_each_page_and_words_begin_below_each_other() -> None:
    words = [Column(name, is_text=True) for name in ("QPS", "new", "p99")]
    row = tuple(map(Cell, ("readww", "5", "1.12 [1.08, 1.16] faster", "1")))
    failed = [Cell("failed", "failed")]
    assert list(
        formats.text_lines(Table("", (Column("step", label=True), *words), (row, (Cell("fill"), *failed * 3))))
    ) == [
        "  step    QPS  new                       p99",
        "  readww  5    1.12 [1.08, 1.16] faster  1",
        "  fill    failed",
    ]
    columns = (Column("arm", label=True), *(Column(f"a long heading {number}") for number in range(8)))
    rows = ((Cell("x"), *failed * 8), (Cell("y"), *[Cell("1")] * 8))
    assert [line for line in formats.text_lines(Table("", columns, rows)) if "x" in line] == ["  x    failed"] * 2


def test_ratios_have_columns_for_their_interval_verdict_and_what_recomputes_it_in_csv() -> None:
    columns = (Column("arm", label=True), Column("qps"))
    ratio = Cell("1.10 faster", value=1.1, interval=(1.05, float("inf")), verdict="faster")
    rows = ((Cell("new"), ratio), (Cell("old"), Cell("-")))
    assert formats.csv_table(Table("", columns, rows)).splitlines()[1:] == [
        "arm,qps,qps low,qps high,qps verdict",
        "new,1.1,1.05,inf,faster",
        "old,-,,,",
    ]
    basis = Basis((1.0, 1.21), 0.13, 1.0, 12.7)
    table = Table("", columns, ((Cell("new"), ratio._replace(basis=basis)), rows[1]))
    heads, new, old = formats.csv_table(table).splitlines()[1:]
    assert heads.endswith("qps verdict,qps deviation,qps freedom,qps critical,qps load 1,qps load 2")
    assert new == "new,1.1,1.05,inf,faster,0.13,1,12.7,1,1.21"
    assert old == "old,-,,,,,,,,"
    assert formats.json_value(table)["rows"][0][1]["basis"] == {
        "ratios": (1.0, 1.21), "deviation": 0.13, "freedom": 1.0, "critical": 12.7,
    }  # fmt: skip


def test_a_column_of_csv_has_one_figure_and_numbers_are_numbers() -> None:
    columns = (Column("keys", label=True), Column("cache", label=True), Column("lowest-highest", unit="of the loads"))
    rows = tuple(
        (Cell(keys), Cell(cache), Cell("1-2", interval=(1.0, 2.0)))
        for keys, cache in (("2k", "2k"), ("100k", "all"), ("-", "none"))
    )
    assert formats.csv_table(Table("", columns, rows)).splitlines()[1:] == [
        "keys,cache,lowest-highest (of the loads) low,lowest-highest (of the loads) high",
        "2000,2k,1,2",
        "100000,all,1,2",
        "-,none,1,2",
    ]


def test_labels_keep_their_value_in_csv_and_names_and_durations_their_text() -> None:
    columns = tuple(Column(name, label=True) for name in ("step", "memory", "every", "arm"))
    rows = tuple(tuple(map(Cell, texts)) for texts in (("1k", "16GiB", "1m", "2k"), ("2k", "0.1", "30s", "100k")))
    assert formats.csv_table(Table("", columns, rows)).splitlines()[1:] == [
        "step,memory,every,arm",
        "1k,17179869184,1m,2k",
        "2k,0.1,30s,100k",
    ]
    page = formats.html_table(Table("", columns, rows))
    assert '<th data-figure="17179869184">16GiB</th>' in page
    assert "<th>0.1</th>" in page


def test_a_formula_is_a_text_and_a_number_stays_one() -> None:
    formulas = ['=HYPERLINK("http://e","x")', "@SUM(1)", "+cmd|' /C calc'!A0", "-1+1|x", "\t=1"]
    lines = formats.delimited_text([[text, 1] for text in formulas], formats.TAB).splitlines()
    assert all(line.lstrip('"').startswith("'") for line in lines)
    cells = ["-", "-1.5", "+3", "-1e-9", "1,000", "-3%", "0.5x", "a=b", "", -2, None]
    assert formats.delimited_text([cells], formats.TAB) == "-\t-1.5\t+3\t-1e-9\t1,000\t-3%\t0.5x\ta=b\t\t-2\t\n"


def test_json_has_no_infinity_and_no_number_where_there_is_none() -> None:
    cell = Cell("inf", value=float("inf"), interval=(1.0, float("inf")))
    assert formats.json_value(Table("", (Column("a"),), ((cell,),)))["rows"] == [
        [{"text": "inf", "interval": [1.0, None]}]
    ]
    answer = {"a": float("nan"), 1: (datetime(2026, 1, 2, 3, 4), 0.5, None, True)}
    assert json.loads(formats.json_text(answer)) == {"a": None, "1": ["2026-01-02T03:04:00", 0.5, None, True]}


# Any table.

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=12)
WORDS = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=12)


def tables(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Table]:
    def of_width(width: int) -> st.SearchStrategy[Table]:
        row = st.tuples(*[texts.map(Cell)] * width)
        columns = st.tuples(*[st.builds(Column, texts, st.booleans(), st.just(""), st.booleans())] * width)
        return st.builds(lambda heads, rows: Table("a table", heads, tuple(rows)), columns, st.lists(row, max_size=4))

    return st.integers(1, 5).flatmap(of_width)


def grid(table: Table) -> list[list[str]]:
    return [[column.name for column in table.columns], *([cell.text for cell in row] for row in table.rows)]


def inert(text: str) -> str:
    """Put a quote before what a spreadsheet would compute; a number is none, nor the sign for nothing."""
    is_formula = text.startswith(("=", "+", "-", "@", "\t", "\r")) and text != "-"
    return f"'{text}" if is_formula and not re.fullmatch(r"[+-]?[\d.,]+([eE][+-]?\d+)?[x%]?", text) else text


@pytest.mark.parametrize(("form", "sign"), [("csv", ","), ("tsv", "\t")])
@given(table=tables(TEXTS))
def test_csv_and_tsv_read_back(form: str, sign: str, table: Table) -> None:
    name, _, text = formats.FORMATS[form](table).partition("\n")
    assert name == "# a table"
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=sign))
    assert rows == [[*map(inert, row)] for row in grid(table)]


@given(tables(TEXTS.map(lambda text: text.replace("`", ""))))
def test_html_keeps_every_cell_and_its_text_is_no_markup(table: Table) -> None:
    cells = re.findall(r"<(t[hd])\b[^>]*>([^<]*)</\1>", formats.html_table(table))
    rows = grid(table) if any(grid(table)[0]) else grid(table)[1:]  # columns without names have no heads
    assert [html.unescape(text) for _, text in cells] == [text for row in rows for text in row]


@given(tables(TEXTS))
def test_json_reads_back(table: Table) -> None:
    value = json.loads(formats.FORMATS["json"](table))
    rows = [[column["name"] for column in value["columns"]], *([cell["text"] for cell in row] for row in value["rows"])]
    assert rows == grid(table)


@given(tables(WORDS))
def test_markdown_keeps_every_cell_and_its_text_is_no_markup(table: Table) -> None:
    head, rule, *rows = formats.markdown_table(table).splitlines()[2:]
    assert rule.count("---") == len(table.columns)
    assert [_cells(line) for line in (head, *rows)] == grid(table)


def _cells(line: str) -> list[str]:
    parts = re.split(r"(?<!\\)(?:\\\\)*\|", line)
    cells = re.findall(r"((?:\\.|[^\\|])*)\|", line)[1:]
    assert len(parts) == len(cells) + 2
    return [re.sub(r"\\(.)", r"\1", cell[1:-1]) for cell in cells]


@given(tables(WORDS))
def test_text_has_every_cell_in_its_order(table: Table) -> None:
    assert [line.split() for line in formats.text_lines(table, width=10**6)] == grid(table)


SCHEMA = json.loads((TEMPLATES / "report" / "report.schema.json").read_text(encoding="utf-8"))
VALID = Draft202012Validator(SCHEMA)
CLAIMS = [{"claim": "hyper: less", "expect": "p99_us(cache='hyper') < p99_us(cache='lru')"}]
NEW_KEYS = {"metrics", "pooled", "metric", "better", "ratios", "deviation", "freedom", "critical"}  # since version 1


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return scenario.report(scenario.experiment(tmp_path_factory.mktemp("document"), claims=CLAIMS))


@pytest.fixture(scope="module")
def document(report: Report) -> dict[str, Any]:
    return json.loads(report_json(report))


def test_document_follows_the_schema(document: dict[str, Any], tmp_path: Path) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert [f"{error.json_path}: {error.message}" for error in VALID.iter_errors(document)] == []
    assert (document["schema"], VERSION) == (SCHEMA["properties"]["schema"]["const"], 2)
    assert document.keys() == SCHEMA["properties"].keys()
    for part in ("metrics", "answer", "comparisons", "pooled", "figures"):
        described = SCHEMA["properties"][part]["items"]["properties"].keys()
        assert {key for entry in document[part] for key in entry} == described, part
    assert not VALID.is_valid({key: value for key, value in document.items() if key != "comparisons"})
    assert not VALID.is_valid({**document, "schema": 1})
    experiment = Experiment(tmp_path)
    experiment.add_build(experiment.builds[0])
    assert VALID.is_valid(json.loads(report_json(scenario.report(experiment)))), "of nothing measured"


def test_new_keys_do_not_raise_the_version(document: dict[str, Any]) -> None:
    old = {key: value for key, value in document.items() if key not in NEW_KEYS}
    old["answer"] = [{"text": answer["text"], "kind": answer["kind"]} for answer in document["answer"]]
    old["comparisons"] = [
        {key: value for key, value in ratio.items() if key not in NEW_KEYS - {"metric"}}
        for ratio in document["comparisons"]
    ]
    assert VALID.is_valid(old)


def test_comparisons_have_the_figures_of_the_report(document: dict[str, Any]) -> None:
    faster = [ratio for ratio in document["comparisons"] if ratio["verdict"] == "faster" and ratio["metric"] == "qps"]
    assert [(ratio["step"], ratio["arm"], ratio["base"], ratio["point"]) for ratio in faster] == [
        (step, {"cache": "hyper"}, {"cache": "lru"}, {"build": "rocksdb-7.8.3", "threads": "1"})
        for step in ("readww", "overwrite")
    ]
    assert faster[0]["ratio"] == pytest.approx(1.5, rel=1e-3)
    shipped = [ratio for ratio in document["comparisons"] if ratio["as_shipped"] and ratio["metric"] == "qps"]
    assert {ratio["verdict"] for ratio in shipped} == {"same"}
    read = next(figures for figures in document["figures"] if figures["step"] == "readww")
    spread = {"mean": 10_000 * (1.01 * 0.99) ** (1 / 3), "lowest": 9900, "highest": 10100}
    assert read["metrics"]["qps"] == {**spread, "unit": "operations/s", "better": "higher"} | {
        "mean": pytest.approx(spread["mean"])
    }
    assert {figures["status"] for figures in document["figures"]} == {"done", "unsupported", "failed"}


def test_each_compared_metric_is_everywhere(document: dict[str, Any]) -> None:
    metrics = [(metric["name"], metric["unit"], metric["better"]) for metric in document["metrics"]]
    assert metrics == [("qps", "operations/s", "higher"), ("p99_us", "us", "lower")]
    for part in ("answer", "comparisons", "pooled"):
        assert {entry["metric"] for entry in document[part]} == {"qps", "p99_us"}


def test_intervals_can_be_recomputed(document: dict[str, Any], report: Report) -> None:
    ratios = [*document["comparisons"], *document["pooled"]]
    for ratio in ratios:
        mean = math.fsum(map(math.log, ratio["ratios"])) / len(ratio["ratios"])
        reach = ratio["critical"] * ratio["deviation"] / math.sqrt(len(ratio["ratios"]))
        assert math.exp(mean) == pytest.approx(ratio["ratio"])
        assert [math.exp(mean - reach), math.exp(mean + reach)] == pytest.approx(ratio["interval"])
    text = report_formats.table(report, "csv", "ratios")
    assert text in report_formats.report_text(report, "csv", None)
    rows = list(csv.DictReader(StringIO(text.partition("\n")[2])))
    assert {row["better"] for row in rows} == {"higher", "lower"}
    assert len(rows) == len(ratios)
    for row in rows:
        logs = [math.log(float(ratio)) for name, ratio in row.items() if name.startswith("ratio load ") and ratio]
        reach = float(row["ratio critical"]) * float(row["ratio deviation"]) / math.sqrt(len(logs))
        assert math.fsum(logs) / len(logs) - reach == pytest.approx(math.log(float(row["ratio low"])))
