"""Steps of kind vector_search: vectors loaded, indexed, and searched for their nearest neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepgrid.model.metrics.metric import MetricSet
from stepgrid.plugins.driver import Driver, PackageDriver

LOAD_RATE = 2_000  # vectors per second of a small machine: only for estimates
SEARCH_RATE = 500  # of one connection
ROWS, QUERIES = 60_000, 10_000  # of a published data set, where nothing says more
INDEX_SECONDS = 120.0
FLOOR = 1.0


class VectorSearch(PackageDriver):
    kind = "vector_search"
    revision = 1
    tables = ("recall",)

    def metrics(self) -> MetricSet:
        return MetricSet(published={"vector_search": {"recall": "recall", "qps": "qps"}})

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return str(settings["action"])

    def estimate(self, settings: Mapping[str, Any]) -> float:
        action = settings["action"]
        if action == "index":  # how many vectors there are is not among its settings
            return INDEX_SECONDS
        rows, queries = _size(settings["dataset"])
        if action == "load":
            return max(FLOOR, float(rows / LOAD_RATE))
        return max(FLOOR, float(queries * settings["runs"] / SEARCH_RATE))


def _size(dataset: str | Mapping[str, Any]) -> tuple[int, int]:
    if isinstance(dataset, str):
        return ROWS, QUERIES
    shape = dataset["generated"]
    return shape["rows"], shape["queries"]


DRIVER: Driver = VectorSearch()
