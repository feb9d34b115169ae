"""Maps among the settings come as the language hands them on: text that remembers where it stands."""

import json
from typing import get_args

import pytest

from stepgrid.language.problems import Location
from stepgrid.language.yaml import Map, Seq, Text
from stepgrid.model.figures import ParseError
from stepgrid.plugins.registry import DRIVERS, driver
from stepgrid.plugins.settings import Nested, Quantity
from stepgrid_databases.drivers import client_report
from stepgrid_databases.drivers.client_report import RateInterval

HERE = Location("a.yaml", 1, 1)


def _node(value):
    if isinstance(value, dict):
        return Map({key: _node(item) for key, item in value.items()}, HERE, dict.fromkeys(value, HERE))
    if isinstance(value, list):
        return Seq([_node(item) for item in value], HERE)
    return Text(str(value), HERE)


def _is_number(annotation):
    return annotation in (int, float) or any(_is_number(inner) for inner in get_args(annotation))


def _kept(kind, **given):
    return driver(kind).settings_model().model_validate(given).model_dump(mode="json")


def test_what_is_nested_says_so():
    nested = {
        f"{kind}.{name}"
        for kind in DRIVERS.names()
        for name, field in driver(kind).settings_model().model_fields.items()
        if any(isinstance(item, Nested) for item in field.metadata)
    }
    linkbench = {f"linkbench.{name}" for name in ("mix", "popularity", "multiget", "lists")}
    pgbench = {"pgbench.scripts", "pgbench.variables"}
    known = {
        "sysbench.arguments",
        *linkbench,
        *pgbench,
        "tpcc.mix",
        "vector_search.dataset",
        "command.metrics",
        *(f"{kind}.rate" for kind in ("insert_benchmark", "linkbench", "sql", "tpcc")),
        "command.series",
    }
    assert nested == known


@pytest.mark.parametrize("kind", DRIVERS.names())
def test_every_number_says_what_it_is_of(kind):
    for name, field in driver(kind).settings_model().model_fields.items():
        if not any(isinstance(item, Nested) for item in field.metadata) and _is_number(field.annotation):
            assert any(isinstance(item, Quantity) for item in field.metadata), f"{kind}.{name}"


def test_a_mix():
    mix = _node({"getnode": "87.5", "addnode": "12.5"})
    kept = _kept("linkbench", action="request", ids=5, duration=1.0, mix=mix)
    assert kept["mix"] == {"getnode": 87.5, "addnode": 12.5}


def test_metrics():
    metrics = _node({"rate": {"pattern": r"rate (\d+)", "unit": "op/s", "better": "higher", "required": "true"}})
    assert _kept("command", argv=_node(["ls", "-l"]), metrics=metrics) == {
        "argv": ["ls", "-l"],
        "metrics": {
            "rate": {
                "pattern": r"rate (\d+)",
                "json": None,
                "report": None,
                "file": None,
                "take": "last",
                "times": None,
                "unit": "op/s",
                "better": "higher",
                "required": True,
            }
        },
        "series": None,
        "files": [],
        "client": None,
        "durabilities": None,
        "durability": None,
        "duration": None,
    }
    path = _node({"p99": {"json": "$.p['99.00']", "times": "0.001"}})
    assert _kept("command", argv=_node(["ls"]), metrics=path)["metrics"]["p99"]["times"] == 0.001


INTERVAL = {"report": "interval", "second": 1.0, "interval": 0.5, "operations": 10}


def test_damaged_lines_are_skipped(tmp_path):
    path = tmp_path / client_report.FILE
    path.write_text(f'{json.dumps(INTERVAL)}\n{"[" * 9999}\n{{"report": []}}\n3\n{{"report": "end", "sec')
    report = client_report.read(path)
    assert report.intervals == [RateInterval(1.0, 0.5, 10)]
    with pytest.raises(ParseError, match=r"report\.jsonl: the client did not report its end$"):
        client_report.read_whole(path)
    with pytest.raises(ParseError, match=r"^report\.jsonl has no line of `end`$"):
        report.last("end")


def test_a_running_step(tmp_path):
    assert client_report.live(tmp_path) == ()
    with client_report.ReportFile(tmp_path) as report:
        report.write("interval", second=1.0, interval=1.0, operations=30, operation="insert")
        report.write("interval", second=2.0, interval=1.0, operations=3, operation="query")
    assert client_report.live(tmp_path, "query", "insert") == [(2.0, 3.0)]
    assert client_report.live(tmp_path) == [(1.0, 30.0), (2.0, 3.0)]
