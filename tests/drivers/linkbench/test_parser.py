from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stepgrid.model.figures import ClientRate, ParseError
from stepgrid_databases.drivers.linkbench import LinkBench
from stepgrid_databases.drivers.linkbench.parser import printed

DRIVER = LinkBench()
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
    assert DRIVER.complaint(tmp_path) == "LinkBench failed: no graph is loaded"
    (tmp_path / "stdout").write_text("all is well\n")
    assert DRIVER.complaint(tmp_path) is None


def test_while_it_runs(tmp_path: Path) -> None:
    """The line that is being written is left out."""
    lines = "".join(f"{json.dumps(_interval(client, 1.0, 1.0, 40))}\n" for client in (0, 1))
    (tmp_path / "report.jsonl").write_text(f'{lines}{{"report": "client", "cli')
    assert DRIVER.live(tmp_path) == [(1.0, 80.0)]
    assert DRIVER.live(tmp_path / "nothing") == ()


# Logs of the Java client.

HEAD = "INFO 2016-01-19 08:00:01,123 [main]: "
LOAD = (
    f"{HEAD}LOAD_LINKS_BULK count = 3,  p25 = [1,2]ms  p50 = [1,2]ms  max = 9ms  mean = 1.5ms\n"
    f"{HEAD}LOAD PHASE COMPLETED. Loaded 10000 nodes (Expected 10000), 42000 links (4.20 /node), 20000 counts (2.00 "
    "/node). 12.5 seconds, 3360 Links/s, 4960 (link+count)/s, 5760 (link+count+node)/s\n"
)
OLD_LOAD = (
    f"{HEAD}LOAD PHASE COMPLETED.  Loaded 10000 nodes (Expected 10000). Loaded 42000 links (4.20 links per node).  "
    "Took 12.5 seconds.  Links/second = 3360\n"
)
REQUESTS = (
    f"{HEAD}GET_NODE count = 600  p25 = [0.1,0.2]ms  p50 = [0.2,0.3]ms  p75 = [0.3,0.4]ms  p95 = [0.9,1]ms  "
    "p99 = [2,3]ms  max = 12.345ms  mean = 0.251ms threads = 4\n"
    f"{HEAD}GET_LINKS_LIST count = 400  p25 = [0.1,0.2]ms  p50 = [1,2]ms  p75 = [2,3]ms  p95 = [4,5]ms  "
    "p99 = [10,11]ms  max = 99ms  mean = 2ms\n"
    f"{HEAD}REQUEST PHASE COMPLETED. 1000 requests done in 60 seconds. Requests/second = 16\n"
)


def _log(folder: Path, text: str) -> Path:
    path = folder / "linkbench.log"
    path.write_text(text)
    return path


def test_a_load_and_its_requests(tmp_path: Path) -> None:
    load, requests = printed(_log(tmp_path, f"starting\n{LOAD}{REQUESTS}the end\n"))
    assert (load.name, requests.name) == ("load", "request")
    assert load.figures.metrics == {
        "qps": 5760, "insert_seconds": 12.5, "nodes_loaded": 10_000, "links_loaded": 42_000, "counts_loaded": 20_000,
    }  # fmt: skip
    assert requests.figures.metrics == pytest.approx({
        "operations": 1000, "seconds": 60, "qps": 16,
        "getnode_share_pct": 60, "getnode_p50_us": 300, "getnode_p95_us": 1000, "getnode_p99_us": 3000,
        "getnode_max_us": 12345, "getnode_avg_us": 251,
        "getlinklist_share_pct": 40, "getlinklist_p50_us": 2000, "getlinklist_p95_us": 5000,
        "getlinklist_p99_us": 11000, "getlinklist_max_us": 99_000, "getlinklist_avg_us": 2000,
    })  # fmt: skip


def test_an_older_client_counts_links_alone(tmp_path: Path) -> None:
    (load,) = printed(_log(tmp_path, OLD_LOAD))
    assert load.figures.metrics == {
        "qps": 3360, "insert_seconds": 12.5, "nodes_loaded": 10_000, "links_loaded": 42_000,
    }  # fmt: skip


def test_newer_clients_print_microseconds(tmp_path: Path) -> None:
    figures = "p50 = 120us  p95 = 300us  p99 = 900us  max = 5000us mean = 130.250us threads = 4"
    line = f"{HEAD}GET_NODE count = 1000  {figures}\n"
    last = REQUESTS.splitlines()[-1]
    (found,) = printed(_log(tmp_path, f"{line}{last}\n"))
    assert found.figures.metrics == {
        "operations": 1000, "seconds": 60, "qps": 16, "getnode_share_pct": 100, "getnode_p50_us": 120,
        "getnode_p95_us": 300, "getnode_p99_us": 900, "getnode_max_us": 5000, "getnode_avg_us": 130.25,
    }  # fmt: skip


def test_latencies_are_those_of_the_phase_that_they_precede(tmp_path: Path) -> None:
    second = REQUESTS.replace("GET_NODE", "ADD_NODE").replace("= 16", "= 17")
    found = printed(_log(tmp_path, REQUESTS + second))
    assert [step.figures.metrics["qps"] for step in found] == [16, 17]
    assert "getnode_p99_us" not in found[1].figures.metrics
    assert found[1].figures.metrics["addnode_p99_us"] == 3000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nothing\n", "no log of LinkBench: no line says `LOAD PHASE COMPLETED` or `REQUEST PHASE COMPLETED`"),
        ("REQUEST PHASE COMPLETED. oops\n", "the line of the request phase has no rate: REQUEST PHASE COMPLETED. oops"),
    ],
)
def test_what_is_no_log(tmp_path: Path, text: str, said: str) -> None:
    path = _log(tmp_path, text)
    with pytest.raises(ParseError) as caught:
        printed(path)
    assert str(caught.value) == f"{path}: {said}"


def test_requests_of_which_there_were_none_have_no_shares(tmp_path: Path) -> None:
    (found,) = printed(_log(tmp_path, REQUESTS.replace("1000 requests done", "0 requests done")))
    assert found.figures.metrics["operations"] == 0
    assert not [name for name in found.figures.metrics if name.endswith("_share_pct")]
