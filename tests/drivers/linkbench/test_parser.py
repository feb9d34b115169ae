from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stepgrid.drivers.linkbench import DRIVER, live_throughput
from stepgrid.drivers.linkbench.parser import complaint
from stepgrid.model.figures import ClientRate, ParseError

END = {"report": "end", "seconds": 2.5, "failed": 0}


def _role(client: int, operation: str, count: int, **given: Any) -> dict[str, Any]:
    usual = {"retries": 0, "began": 10.0, "ended": 12.0, "longest": 0.001, "seconds": 0.0, "buckets": [[320, count]]}
    return {"report": "role", "client": client, "operation": operation, "count": count, **usual, **given}


def _interval(client: int, second: float, length: float, operations: int) -> dict[str, Any]:
    more = {"longest": 0.004, "retries": 0}
    return {
        "report": "client",
        "client": client,
        "second": second,
        "interval": length,
        "operations": operations,
        **more,
    }


def _graph(client: int, **given: int) -> dict[str, Any]:
    return {
        "report": "graph",
        "client": client,
        "nodes": 0,
        "links": 0,
        "counts": 0,
        "deleted": 0,
        "history": 0,
        **given,
    }


def _parsed(folder: Path, action: str, *lines: dict[str, Any]) -> Any:
    (folder / "report.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return DRIVER.parse(folder, {"action": action})


def test_a_load(tmp_path: Path) -> None:
    found = _parsed(
        tmp_path, "load",
        _interval(0, 1.0, 1.0, 300),
        {"report": "indexed", "seconds": 0.5},
        _role(0, "load", 300, began=10.0, ended=11.0),
        _role(1, "load", 100, began=10.5, ended=12.0, retries=1),
        _graph(0, nodes=100, links=150, counts=50), _graph(1, nodes=50, links=50),
        END,
    )  # fmt: skip
    assert found.metrics == {
        "operations": 400, "seconds": 2.5, "qps": 200, "insert_seconds": 2.0, "index_seconds": 0.5,
        "indexed_links_per_s": 400, "nodes_loaded": 150, "links_loaded": 200, "counts_loaded": 50, "retries": 1,
    }  # fmt: skip
    assert found.qps == [(1.0, 300.0)]


def test_a_load_whose_clock_began_with_its_second_client(tmp_path: Path) -> None:
    roles = (_role(0, "load", 300, began=10.0, ended=12.0), _role(1, "load", 100, began=10.1, ended=12.0))
    graphs = (_graph(0, nodes=100, links=150, counts=50), _graph(1, nodes=50, links=50))
    indexed = {"report": "indexed", "seconds": 0.625}
    found = _parsed(tmp_path, "load", indexed, *roles, *graphs, END)
    assert found.metrics["seconds"] == 2.625


def test_requests(tmp_path: Path) -> None:
    found = _parsed(
        tmp_path, "request",
        _interval(0, 1.0, 1.0, 40), _interval(1, 1.0, 1.0, 20), _interval(0, 1.2, 0.2, 10),
        _role(0, "getnode", 60, seconds=0.03),
        _role(1, "getnode", 20, seconds=0.05, longest=0.02, buckets=[[320, 19], [480, 1]]),
        _role(0, "addlink", 20, seconds=0.1, retries=2),
        _role(1, "addlink", 0, retries=1),
        _graph(0, history=2), _graph(1, history=1),
        END,
    )  # fmt: skip
    metrics = found.metrics
    assert (metrics["operations"], metrics["seconds"], metrics["qps"]) == (100, 2.0, 50)
    assert (metrics["avg_us"], metrics["max_us"]) == pytest.approx((1800, 20_000))
    assert (metrics["getnode_share_pct"], metrics["addlink_share_pct"]) == (80, 20)
    assert (metrics["getnode_avg_us"], metrics["addlink_avg_us"]) == pytest.approx((1000, 5000))
    assert metrics["getnode_p50_us"] == pytest.approx(2 ** (321 / 32))
    assert metrics["getnode_p99_us"] == pytest.approx(2 ** (481 / 32))
    assert metrics["getnode_max_us"] == pytest.approx(20_000)
    assert metrics["continued_lists"] == 3
    assert {each.operation: sum(each.operations) for each in found.histograms} == {"getnode": 80, "addlink": 20}
    assert found.qps == [(1.0, 60.0)]
    assert found.rates[0] == ClientRate(0, 1.0, "", 40.0, 4000.0)


def test_a_check(tmp_path: Path) -> None:
    assert _parsed(tmp_path, "check", END).metrics == {"seconds": 2.5}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([_graph(0)], "{}/report.jsonl: the client did not report its end"),
        ([END], "{}: no client has done anything"),
    ],
)
def test_a_report_that_lacks_something(tmp_path: Path, lines: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(ParseError) as caught:
        _parsed(tmp_path, "request", *lines)
    assert str(caught.value) == said.format(tmp_path)


def test_why_it_failed(tmp_path: Path) -> None:
    (tmp_path / "stdout").write_text("Threads started!\nFATAL: `thread_run' function failed: no graph is loaded\n")
    assert complaint(tmp_path) == "LinkBench failed: no graph is loaded"
    (tmp_path / "stdout").write_text("all is well\n")
    assert complaint(tmp_path) is None


def test_while_it_runs(tmp_path: Path) -> None:
    """The line that is being written is left out."""
    lines = "".join(f"{json.dumps(_interval(client, 1.0, 1.0, 40))}\n" for client in (0, 1))
    (tmp_path / "report.jsonl").write_text(f'{lines}{{"report": "client", "cli')
    assert live_throughput.readings(tmp_path) == [(1.0, 80.0)]
    assert live_throughput.readings(tmp_path / "nothing") == ()
