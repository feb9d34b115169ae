"""What a step does: load the vectors, index them, search them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from stepgrid.drivers.vector_search import client_report, servers
from stepgrid.drivers.vector_search.recall import Recall
from stepgrid.drivers.vector_search.search_processes import search as search_all
from stepgrid.drivers.vector_search.servers.vector_server import IndexPlan, SearchError, SearchPlan

if TYPE_CHECKING:
    from stepgrid.drivers.client_report import ReportFile
    from stepgrid.drivers.vector_search.datasets.dataset import Dataset
    from stepgrid.drivers.vector_search.servers.vector_server import VectorServer
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


def load(access: Access, dataset: Dataset, settings: Mapping[str, Any], report: ReportFile) -> None:
    server = servers.connect(access)
    server.create(dataset.dimensions, settings["element"] or "vector", settings["table_options"])
    began = last = time.monotonic()
    used, before, done = time.process_time(), 0, 0
    for done in server.insert(dataset.rows):
        now = time.monotonic()
        if now - last >= INTERVAL:
            report.write("interval", second=now - began, interval=now - last, operations=done - before)
            before, last = done, now
    report.write("loaded", rows=done, seconds=time.monotonic() - began, cpu=time.process_time() - used)
    server.close()


def index(access: Access, dataset: Dataset, settings: Mapping[str, Any], report: ReportFile) -> None:
    server = servers.connect(access)
    _check_table(server, dataset)
    names = ("method", "element", "m", "ef_construction", "lists")
    plan = IndexPlan(dataset.distance, **{name: settings[name] for name in names})
    began, used = time.monotonic(), time.process_time()
    said = server.index(plan)
    spent = {"seconds": time.monotonic() - began, "cpu": time.process_time() - used}
    size = server.index_size()
    report.write("index", rows=len(dataset.rows), **spent, bytes=size.bytes, settings=size.settings, said=said)
    server.close()


def search(access: Access, dataset: Dataset, settings: Mapping[str, Any], report: ReportFile) -> None:
    server = servers.connect(access)
    _check_table(server, dataset)
    names = ("k", "exact", "ef_search", "probes")
    plan = SearchPlan(dataset.distance, **{name: settings[name] for name in names})
    _check_plan(server, plan, dataset, report)
    turns = list(search_all(partial(server.searcher, plan), dataset.queries, settings["runs"], settings["clients"]))
    for line in client_report.runs(turns):
        report.write("run", **line)
    for line in client_report.rates(turns):
        report.write("interval", **line)
    report.write("histogram", **client_report.latency(turns))
    answers = client_report.answers(turns, settings["runs"] - 1, len(dataset.queries))  # the last run, as published
    report.write("recall", **Recall.of(answers, dataset, plan.k)._asdict())
    server.close()


def _check_table(server: VectorServer, dataset: Dataset) -> None:
    found = server.table()
    if found != (len(dataset.rows), dataset.dimensions):
        wanted = {"wanted": len(dataset.rows), "wide": dataset.dimensions}
        raise SearchError(OTHER_TABLE.format(**found._asdict(), **wanted))


def _check_plan(server: VectorServer, plan: SearchPlan, dataset: Dataset, report: ReportFile) -> None:
    """On a connection that is like those that search."""
    searcher = server.searcher(plan)
    text, indexed = searcher.explain(dataset.queries[0])
    searcher.close()
    report.write("plan", text=text, indexed=indexed)
    if indexed == plan.exact:
        raise SearchError((INDEXED if indexed else NOT_INDEXED).format(plan=text))


ACTIONS: Mapping[str, Action] = {"load": load, "index": index, "search": search}
