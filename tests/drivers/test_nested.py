"""Maps among the settings come as the language hands them on: text that remembers where it stands."""

from typing import Any, get_args

import pytest

from stepgrid.language.problems import Location
from stepgrid.language.yaml import Map, Node, Seq, Text
from stepgrid.plugins.registry import DRIVERS, driver
from stepgrid.plugins.settings import Nested, Quantity

HERE = Location("a.yaml", 1, 1)


def _node(value: Any) -> Node:
    if isinstance(value, dict):
        return Map({key: _node(item) for key, item in value.items()}, HERE, dict.fromkeys(value, HERE))
    if isinstance(value, list):
        return Seq([_node(item) for item in value], HERE)
    return Text(str(value), HERE)


def _is_number(annotation: Any) -> bool:
    return annotation in (int, float) or any(_is_number(inner) for inner in get_args(annotation))


def _kept(kind: str, **given: Any) -> dict[str, Any]:
    return driver(kind).settings_model().model_validate(given).model_dump(mode="json")


def test_what_is_nested_says_so() -> None:
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
        *(f"{kind}.rate" for kind in ("insert_benchmark", "linkbench", "tpcc")),
        "command.series",
    }
    assert nested == known


@pytest.mark.parametrize("kind", DRIVERS.names())
def test_every_number_says_what_it_is_of(kind: str) -> None:
    for name, field in driver(kind).settings_model().model_fields.items():
        if not any(isinstance(item, Nested) for item in field.metadata) and _is_number(field.annotation):
            assert any(isinstance(item, Quantity) for item in field.metadata), f"{kind}.{name}"


def test_a_mix() -> None:
    mix = _node({"getnode": "87.5", "addnode": "12.5"})
    kept = _kept("linkbench", action="request", ids=5, duration=1.0, mix=mix)
    assert kept["mix"] == {"getnode": 87.5, "addnode": 12.5}


def test_metrics() -> None:
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
