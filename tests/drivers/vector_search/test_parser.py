from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stepgrid.model.figures import ParseError
from stepgrid_databases.drivers.vector_search import DRIVER

DATASET = {
    "report": "dataset",
    "checksum": "c0ffee",
    "rows": 900,
    "dimensions": 4,
    "queries": 10,
    "distance": "angular",
}
END = {"report": "end", "seconds": 3.0}
RUNS = [
    {"report": "run", "run": 0, "queries": 10, "seconds": 0.5, "cpu": 0.002},
    {"report": "run", "run": 1, "queries": 10, "seconds": 0.25, "cpu": 0.002},
]
RATES = [
    {"report": "client", "client": 0, "second": 0.75, "interval": 0.75, "operations": 12, "longest": 0.09},
    {"report": "client", "client": 1, "second": 0.75, "interval": 0.75, "operations": 8, "longest": 0.1},
]
LATENCY = {"report": "latency", "count": 20, "seconds": 0.4, "longest": 0.1, "buckets": [[320, 15], [352, 5]]}
RECALL = {"by_distance": 0.9, "by_distance_p5": 0.7, "by_id": 0.89, "by_id_p5": 0.6, "short": 2}
PLAN = {"report": "plan", "text": "Index Scan on items_embedding", "indexed": True}
SEARCHED = [DATASET, PLAN, *RUNS, *RATES, LATENCY, {"report": "recall", **RECALL}, END]


def parsed(folder: Path, lines: list[Mapping[str, Any]], action: str = "search") -> Any:
    (folder / "report.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return DRIVER.parse(folder, {"action": action, "runs": 2})


def test_a_search(tmp_path: Path) -> None:
    found = parsed(tmp_path, SEARCHED)
    assert found.metrics == pytest.approx(
        {
            "operations": 20, "seconds": 0.75, "qps": 40, "all_runs_qps": 20 / 0.75, "client_cpu_seconds": 0.004,
            "client_cpu_us_per_op": 200, "avg_us": 20_000, "max_us": 100_000, "p50_us": 2 ** (321 / 32),
            "p75_us": 2 ** (321 / 32), "p95_us": 2 ** (353 / 32), "p99_us": 2 ** (353 / 32),
            "p99_9_us": 2 ** (353 / 32), "p99_99_us": 2 ** (353 / 32), "recall": 0.9, "recall_p5": 0.7,
            "recall_by_id": 0.89, "recall_by_id_p5": 0.6, "short_answers": 2,
        }
    )  # fmt: skip
    assert found.facts == {
        "dataset": "900 x 4, 10 queries, angular",
        "dataset checksum": "c0ffee",
        "plan": "Index Scan on items_embedding",
    }
    assert [(rate.client, rate.per_second) for rate in found.rates] == [(0, 16), (1, 8 / 0.75)]
    assert found.qps == [(0.75, pytest.approx(20 / 0.75))]
    assert sum(found.histograms[0].operations) == 20


def test_a_load(tmp_path: Path) -> None:
    rates = [{"report": "rate", "second": 1.0, "interval": 1.0, "operations": 500}]
    loaded = {"report": "loaded", "rows": 900, "seconds": 1.8, "cpu": 0.09}
    found = parsed(tmp_path, [DATASET, *rates, loaded, END], "load")
    assert found.metrics == {
        "operations": 900, "seconds": 1.8, "insert_seconds": 1.8, "qps": 500, "inserts_per_s": 500,
        "client_cpu_seconds": 0.09, "client_cpu_us_per_op": pytest.approx(100),
    }  # fmt: skip
    assert found.qps == [(1.0, 500)]


def test_an_index_whose_size_is_not_known_has_none(tmp_path: Path) -> None:
    said = ["hnsw graph no longer fits into maintenance_work_mem after 400 tuples"]
    index = {"report": "index", "rows": 900, "seconds": 3.0, "bytes": 8192.0, "settings": {"shared_buffers": "1GB"}}
    found = parsed(tmp_path, [DATASET, {**index, "said": said}, END], "index")
    metrics = {"operations": 900, "seconds": 3.0, "index_seconds": 3.0, "indexed_rows_per_s": 300}
    assert found.metrics == {**metrics, "vector_index_bytes": 8192}
    assert found.warnings == said
    assert found.facts["shared_buffers"] == "1GB"
    assert parsed(tmp_path, [DATASET, {**index, "bytes": None, "said": []}, END], "index").metrics == metrics


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (SEARCHED[:-1], "{folder}/report.jsonl: the client did not report its end"),
        ([*SEARCHED[:2], *SEARCHED[3:]], "report.jsonl has 1 of 2 runs"),
        ([line for line in SEARCHED if line["report"] != "recall"], "report.jsonl has no line of `recall`"),
    ],
)
def test_a_report_that_is_not_whole(tmp_path: Path, lines: list[Mapping[str, Any]], said: str) -> None:
    with pytest.raises(ParseError) as caught:
        parsed(tmp_path, lines)
    assert str(caught.value) == said.format(folder=tmp_path)


def test_a_report_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ParseError) as caught:
        DRIVER.parse(tmp_path, {"action": "search"})
    assert str(caught.value) == f"{tmp_path}/report.jsonl cannot be read: No such file or directory"
