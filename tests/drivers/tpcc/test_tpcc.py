"""tpcc: its command, what its settings refuse, and the figures of its report."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepgrid.model.figures import ParseError
from stepgrid.plugins.driver import Context
from stepgrid.plugins.server import Access
from stepgrid_databases.drivers.tpcc import DRIVER
from stepgrid_databases.drivers.tpcc.settings import Settings

PLACE = Path("/run/sockets")
MARIADB = Access("mariadb", PLACE, PLACE / "mysqld.sock", 3306, "stepgrid", "secret", "bench", "rocksdb")
RUN: dict[str, Any] = {"action": "run", "warehouses": 8, "duration": 60.0, "clients": 4}


def _values(**given: Any) -> dict[str, Any]:
    return Settings.model_validate(given).model_dump(mode="json")


def _options(**given: Any) -> dict[str, str]:
    folder = Path("/attempt/steps/0-one")
    context = Context({"sysbench": ("bin/sysbench",)}, "11.8.6", Path("/data"), folder, 41, MARIADB)
    made = DRIVER.command(_values(**given), {}, context)
    assert made.argv[:2] == ("bin/sysbench", "tpcc.lua")
    assert made.secrets == ("connection",)
    return dict(word.removeprefix("--").split("=", 1) for word in made.argv if word.startswith("--"))


def test_a_load_and_a_run() -> None:
    load = _options(action="load", warehouses=8, loaders=2, items=1000, table_options="page_compressed=1")
    wanted = {"threads": "3", "clients": "2", "warehouses": "8", "items": "1000", "customers": "3000",
              "storage-engine": "rocksdb", "table-options": "page_compressed=1", "anew": "off"}  # fmt: skip
    assert load | wanted == load
    run = _options(**RUN, think=True, mix={"new_order": 90.0, "payment": 10.0})
    assert run | {"threads": "5", "seconds": "60", "think": "on", "mix": "new_order:90.0,payment:10.0"} == run
    assert _options(action="check")["threads"] == "2"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"action": "load"}, ("warehouses", "`load` needs `warehouses`")),
        ({"action": "run", "warehouses": 1}, ("duration", "`run` needs `duration`")),
        ({**RUN, "mix": {"new_order": 99.0}}, ("mix", "the mix sums to 99, not to 100")),
        ({**RUN, "items": 99}, ("items", "Input should be greater than or equal to 100")),
        ({**RUN, "customers": 3001}, ("customers", "Input should be less than or equal to 3000")),
    ],
)
def test_what_it_refuses(refused: Callable[..., Any], given: dict[str, Any], said: tuple[str, str]) -> None:
    assert refused("tpcc", given)[0] == said


def test_a_run_does_not_make_the_load_another(kept: Callable[..., Any]) -> None:
    load = {"action": "load", "warehouses": 100, "loaders": 8}
    assert kept("tpcc", {**load, "duration": 60.0, "clients": 16, "think": True}) == load


def _parsed(folder: Path, settings: dict[str, Any], *lines: dict[str, Any]) -> Any:
    (folder / "report.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return DRIVER.parse(folder, settings)


def _role(client: int, operation: str, count: int) -> dict[str, Any]:
    return {"report": "role", "client": client, "operation": operation, "count": count, "retries": 1, "began": 10.0,
            "ended": 40.0, "longest": 0.5, "seconds": 3.0, "buckets": [[320, count]]}  # fmt: skip


END = {"report": "end", "seconds": 31.0, "failed": 0}


def test_new_orders_that_were_rolled_back_are_transactions_and_no_new_orders(tmp_path: Path) -> None:
    terminals = [{"report": "terminal", "client": n, "rolled_back": 1 - n, "skipped": n} for n in (0, 1)]
    roles = _role(0, "new_order", 51), _role(1, "new_order", 50), _role(1, "payment", 99)
    found = _parsed(tmp_path, _values(**RUN), *roles, *terminals, END)
    assert (found.metrics["nopm"], found.metrics["tpm"], found.metrics["qps"]) == (
        200.0,
        400.0,
        pytest.approx(200 / 30),
    )
    wanted = {"rolled_back_orders": 1, "skipped_deliveries": 1, "retries": 3, "new_order_share_pct": 50.5,
              "payment_max_us": 500_000}  # fmt: skip
    assert found.metrics | wanted == found.metrics
    assert [(each.operation, sum(each.operations)) for each in found.histograms] == [
        ("new_order", 101),
        ("payment", 99),
    ]
    assert not found.warnings


def test_smaller_tables_are_said(tmp_path: Path) -> None:
    indexed = {"report": "indexed", "seconds": 1.0}
    settings = _values(action="load", warehouses=1, items=1000, customers=300)
    found = _parsed(tmp_path, settings, _role(0, "load", 600), indexed, END)
    assert (found.metrics["qps"], found.metrics["index_seconds"]) == (20.0, 1.0)
    said = "1,000 items and 300 customers of a district, where TPC-C has 100,000 and 3,000"
    assert found.warnings == [f"tables are smaller than TPC-C's: {said}"]


def test_a_run_without_transactions(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match=r"no client has done anything$"):
        _parsed(tmp_path, _values(**RUN), END)
