"""The client of a step: loads, indexes or searches vectors, and reports what it did."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from stepgrid.drivers.client_report import ReportFile
from stepgrid.drivers.vector_search import datasets, failure, search
from stepgrid.drivers.vector_search.prepared_statement import SearchError
from stepgrid.drivers.vector_search.servers import IndexPlan, SearchPlan, connect
from stepgrid.plugins.driver import read_request

if TYPE_CHECKING:
    from stepgrid.drivers.vector_search.datasets import Dataset
    from stepgrid.drivers.vector_search.servers import VectorServer
    from stepgrid.plugins.server import Access

    Action: TypeAlias = Callable[[Access, Dataset, Mapping[str, Any], ReportFile], None]

INTERVAL = 1.0  # seconds of a load that a line is about
OTHER_TABLE = (
    "the table has {rows:,} vectors of {dimensions} dimensions, the data set has {wanted:,} of {wide}: load it first"
)
NOT_INDEXED = (
    "the search does not use the index, its plan is: {plan}. PostgreSQL prefers a scan where the table is small or "
    "ef_search is large (`enable_seqscan: off`); `exact: true` searches without the index"
)
INDEXED = "the exact search uses the index, its plan is: {plan}"


def main(folder: Path) -> int:
    access, request = read_request(folder)
    assert access is not None
    settings, file = request["settings"], request["file"]
    try:
        with ReportFile(folder) as report:
            dataset = datasets.get(settings["dataset"], Path(file) if file else None, Path(request["cache"]))
            report.write(
                "dataset",
                checksum=dataset.checksum,
                rows=len(dataset.rows),
                dimensions=dataset.dimensions,
                queries=len(dataset.queries),
                distance=dataset.distance,
            )
            ACTIONS[settings["action"]](access, dataset, settings, report)
    except Exception as error:  # whatever the server's library raises is what the server said
        print(failure(error), file=sys.stderr)
        return 1
    return 0


def _load(access: Access, dataset: Dataset, settings: Mapping[str, Any], report: ReportFile) -> None:
    server = connect(access)
    server.create(dataset.dimensions, settings["element"] or "vector", settings["table_options"])
    began = last = time.monotonic()
    used, reported, inserted = time.process_time(), 0, 0
    for inserted in server.insert(dataset.rows):
        now = time.monotonic()
        if now - last >= INTERVAL:
            report.write("interval", second=now - began, interval=now - last, operations=inserted - reported)
            reported, last = inserted, now
    report.write("loaded", rows=inserted, seconds=time.monotonic() - began, cpu=time.process_time() - used)
    server.close()


def _index(access: Access, dataset: Dataset, settings: Mapping[str, Any], report: ReportFile) -> None:
    server = connect(access)
    _check_table(server, dataset)
    names = ("method", "element", "m", "ef_construction", "lists")
    plan = IndexPlan(dataset.distance, **{name: settings[name] for name in names})
    began, used = time.monotonic(), time.process_time()
    messages = server.index(plan)
    spent = {"seconds": time.monotonic() - began, "cpu": time.process_time() - used}
    size = server.index_size()
    report.write("index", rows=len(dataset.rows), **spent, bytes=size.bytes, settings=size.settings, said=messages)
    server.close()


def _search(access: Access, dataset: Dataset, settings: Mapping[str, Any], report: ReportFile) -> None:
    server = connect(access)
    _check_table(server, dataset)
    names = ("k", "exact", "ef_search", "probes")
    plan = SearchPlan(dataset.distance, **{name: settings[name] for name in names})
    _check_plan(server, plan, dataset, report)
    turns = list(search.search(partial(server.searcher, plan), dataset.queries, settings["runs"], settings["clients"]))
    for line in search.runs(turns):
        report.write("run", **line)
    for line in search.intervals(turns):
        report.write("interval", **line)
    report.write("histogram", **search.histogram(turns))
    answers = search.answers(turns, settings["runs"] - 1, len(dataset.queries))  # the last run, as published
    report.write("recall", **search.Recall.of(answers, dataset, plan.k)._asdict())
    server.close()


def _check_table(server: VectorServer, dataset: Dataset) -> None:
    table = server.table()
    if table != (len(dataset.rows), dataset.dimensions):
        wanted = {"wanted": len(dataset.rows), "wide": dataset.dimensions}
        raise SearchError(OTHER_TABLE.format(**table._asdict(), **wanted))


def _check_plan(server: VectorServer, plan: SearchPlan, dataset: Dataset, report: ReportFile) -> None:
    """Check the plan of a connection that is like those that search."""
    searcher = server.searcher(plan)
    text, indexed = searcher.explain(dataset.queries[0])
    searcher.close()
    report.write("plan", text=text, indexed=indexed)
    if indexed == plan.exact:
        raise SearchError((INDEXED if indexed else NOT_INDEXED).format(plan=text))


ACTIONS: Mapping[str, Action] = {"load": _load, "index": _index, "search": _search}


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
