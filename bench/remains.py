"""What is left in a checkout when everything was measured under blows, held against a run that nobody disturbed."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.victims import working_in
from stepgrid.host.locks import lock_holders
from stepgrid.plan.plan_file import read as read_plan
from stepgrid.store.results import full_fault
from stepgrid.store.store import Store

OWN = {".requests", ".shown"}  # hidden, and meant to stay
ENDS = ("failed", "interrupted")


def remains(checkout: Path, undisturbed: Path) -> list[str]:
    """A sentence for each thing that should not be, or should be and is not."""
    return [
        *_results(Store(checkout / "outputs"), Store(undisturbed / "outputs")),
        *_tables(checkout, undisturbed),
        *_left(checkout),
        *_attempts(checkout / "outputs"),
        *(f"process {process}" for process in working_in(checkout)),
        *(f"a traceback on the screen: {line}" for line in _tracebacks(checkout / "screen")),
    ]


def _results(store: Store, other: Store) -> Iterator[str]:
    there, wanted = _counted(store), _counted(other)
    for node in sorted(there.keys() | wanted.keys()):
        if there[node] != wanted[node]:
            yield f"{node} has {there[node]} results, not {wanted[node]}"
    yield from _unsound(store)
    yield from (f"{node} has no mark" for node in sorted(wanted) if not store.mark(node).exists())


def _counted(store: Store) -> Counter[str]:
    return Counter(path.parent.parent.name for path in store.root.glob("results/*/*/result.json"))


def _unsound(store: Store) -> Iterator[str]:
    for folder in store.root.glob("plans/*/plan.jsonl"):
        for stage in read_plan(folder.parent).stages:
            for result in store.results(stage.id):
                if why := full_fault(result, stage):
                    yield f"{result}: {why}"


def _tables(checkout: Path, undisturbed: Path) -> Iterator[str]:
    there, wanted = rows(checkout), rows(undisturbed)
    for row in sorted((there - wanted).elements()):
        yield f"a row too many in the tables: {row}"
    for row in sorted((wanted - there).elements()):
        yield f"a row is missing in the tables: {row}"
    for name in ("summary.txt", "index.html"):
        for text in (checkout / "outputs").glob(f"summary/*/{name}"):
            if "INCOMPLETE" in text.read_text(encoding="utf-8"):
                yield f"{name} says INCOMPLETE"


def rows(checkout: Path) -> Counter[str]:
    """Cell, step and repeat of every row that has a figure."""
    import duckdb

    (table,) = (checkout / "outputs").glob("summary/*/tables/steps.parquet")
    query = f"select cell, step, load, run, stage from '{table}' where qps > 0"
    return Counter(str(row) for row in duckdb.sql(query).fetchall())


def _left(checkout: Path) -> Iterator[str]:
    outputs = checkout / "outputs"
    yield from (f"a live database: {path}" for path in outputs.glob("live/*"))
    for parent, folders, names in os.walk(outputs):
        hidden = [name for name in (*folders, *names) if name.startswith(".") and name not in OWN]
        yield from (f"a leftover: {Path(parent, name)}" for name in hidden)
    for lock in [*outputs.glob("locks/*"), checkout / "host.lock"]:
        yield from (f"the lock {lock} is held by {pid}" for pid in lock_holders(lock))
    yield from (f"a temporary file: {path}" for path in (checkout / "tmp").rglob("*"))


def _attempts(outputs: Path) -> Iterator[str]:
    for attempt in outputs.glob("attempts/*/*"):
        try:
            status = json.loads((attempt / "failure.json").read_text(encoding="utf-8"))["status"]
        except (OSError, ValueError, KeyError) as error:
            yield f"{attempt} does not say how it ended: {error}"
        else:
            if status not in ENDS:
                yield f"{attempt} ended {status}"


def _tracebacks(screen: Path) -> list[str]:
    lines = screen.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.startswith(("Traceback", "  a fault of stepgrid itself"))]
