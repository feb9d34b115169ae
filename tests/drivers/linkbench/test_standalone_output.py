from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.drivers.linkbench.standalone_output import printed
from stepgrid.model.figures import ParseError

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
