"""Figures of a step: the last line that its program prints; the others are its rates."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from stepgrid.model.figures import Figures, ParseError
from stepgrid.model.metrics import STEP, Metric, MetricSet

METRICS = MetricSet(
    {
        "LMDB": (
            Metric("lmdb_depth", "pages", "lower", "Pages from the root of the tree to a key.", STEP),
            Metric("lmdb_leaf_bytes", "B", "lower", "Size of the pages that hold keys and values.", STEP),
            Metric("lmdb_mapped_kb", "KiB", None, "The collector lmdb_map: most of the map that was in memory.", STEP),
        )
    }
)


def parse(folder: Path, settings: Mapping[str, Any]) -> Figures:
    *_, last = [{}, *_lines(folder)]
    if "operations" not in last:
        raise ParseError("stdout has no line with `operations`: the program did not end")
    operations, seconds = float(last["operations"]), float(last["seconds"])
    metrics = {"operations": operations, "seconds": seconds, "qps": operations / seconds, "lmdb_depth": last["depth"]}
    metrics["lmdb_leaf_bytes"] = float(last["leaves"] * last["page"])
    if settings["workload"] == "reads":
        metrics["found_pct"] = 100 * last["found"] / operations
    return Figures(metrics, qps=rates(folder), counters={"lmdb.commits": float(last["commits"])})


def rates(folder: Path) -> list[tuple[float, float]]:
    return [(line["second"], line["rate"]) for line in _lines(folder) if "rate" in line]


def _lines(folder: Path) -> Iterator[dict[str, Any]]:
    for line in (folder / "stdout").read_text(encoding="utf-8").splitlines():
        yield json.loads(line)
