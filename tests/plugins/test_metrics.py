from pathlib import Path

import pytest

from scripts.metrics_page import page
from stepgrid.plugins.metrics import METRICS
from stepgrid.plugins.registry import require_runner
from stepgrid.plugins.statements import ClientStatements, named_statements
from stepgrid_databases.drivers.db_bench import output
from stepgrid_databases.drivers.sysbench.settings import WORKLOADS

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_up_to_date():
    written = (ROOT / "docs/reference/metrics.md").read_text(encoding="utf-8")
    assert written == f"{page()}\n", "run: python -m scripts.metrics_page > docs/reference/metrics.md"


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_is_defined(name):
    metric = METRICS[name]
    assert metric.name == name
    assert metric.unit
    assert metric.definition.endswith(".")
    assert metric.window
    assert "|" not in metric.definition
    assert metric.better in ("higher", "lower", None)


def test_every_kind_of_histogram_is_in_the_table():
    latencies = {*output.PERCENTILES.values(), "avg_us", "max_us"}
    assert latencies <= METRICS.keys()
    assert {f"{kind}_{name}" for kind in output.OPERATIONS for name in latencies} <= METRICS.keys()


def statements(kind, files=None, engine="postgres", **settings):
    runner = require_runner(kind)
    assert isinstance(runner, ClientStatements)
    complete = runner.settings_model().model_validate(settings).model_dump()
    if kind == "sysbench" and files is None:
        files = dict(runner.files(complete, lambda name: ""))
    return list(runner.statements(complete, files or {}, engine))


@pytest.mark.parametrize("lua", sorted(WORKLOADS.keys() - {"load", "insert"}))
def test_each_workload_of_sysbench_has_whole_statements(lua):
    texts = statements("sysbench", lua=lua, rows=1000, duration=1)
    assert texts
    assert not [text for text in texts if "%" in text or "?" in text or text.count("(") != text.count(")")]


def test_statements_of_a_workload_have_the_columns_and_values_of_its_settings():
    settings = {"lua": "range", "index": "si", "covered": False, "range": 10, "rows": 1000, "duration": 1}
    assert statements("sysbench", **settings) == ["SELECT k, c FROM sbtest1 WHERE k BETWEEN '500' AND '510'"]
    own = {"mine.lua": """con:query("SELECT c FROM t%d WHERE id = %d"):x('DELETE FROM a')"""}
    assert statements("sysbench", own, lua="mine.lua", rows=100, duration=1) == [
        "SELECT c FROM t1 WHERE id = '50'", "DELETE FROM a",
    ]  # fmt: skip


def test_scripts_of_pgbench_have_values_for_variables():
    files = {"mine.sql": "\\set id random(1, 9)\nBEGIN;\nSELECT x::int FROM t WHERE a = :id AND b = :b;\nEND;"}
    texts = statements("pgbench", files, scripts={"mine.sql": 1}, variables={"b": 7}, duration=1)
    assert list(named_statements(texts)) == ["SELECT x::int FROM t WHERE a = ? AND b = ?"]
    assert "a = '5' AND b = '7'" in texts[1]


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        ("\\set tenant random(0, 399)", "199"),
        ("\\set most 10 * :scale\n\\set tenant random_zipfian(1, :most, 1.2)", "5"),
        ("\\set tenant debug(1) + :nothing", "50000"),  # the middle of the table, as of what a query gives
        ("\\set tenant -(7 % 4)", "-3"),
    ],
)
def test_a_plan_is_asked_for_with_a_value_that_the_script_sets(lines, value):
    files = {"mine.sql": f"{lines}\nSELECT 1 FROM t WHERE tenant = :tenant;"}
    texts = statements("pgbench", files, scripts={"mine.sql": 1}, duration=1)
    assert texts[0].strip() == f"SELECT 1 FROM t WHERE tenant = '{value}'"
