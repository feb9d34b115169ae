"""The results of one plan, as one side of a comparison of two: what was measured, when, and by which name it goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from stepgrid.model.plan import Header
from stepgrid.plan import plan_file
from stepgrid.plan.difference import Link
from stepgrid.store.plans import EarlierPlan
from stepgrid.store.store import Store
from stepgrid.summarize.data import tables_reader
from stepgrid.summarize.data.tables_reader import Tables


@dataclass(frozen=True, slots=True)
class ResultSet:
    name: str
    header: Header  # of the plan
    tables: Tables
    links: Callable[[Sequence[str]], list[Link]]  # of a chain of stages

    @property
    def days(self) -> str:
        """2026-11-20, or the first and the last of them."""
        days = sorted({f"{run.started:%Y-%m-%d}" for run in self.tables.runs if run.started and run.measured})
        return " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "not measured"


def stored(store: Store, digest: str, name: str) -> ResultSet:
    """As its tables are."""
    header = plan_file.read_header(store.plan(digest))
    tables = tables_reader.load(store.tables(digest), [axis.name for axis in header.axes])
    return ResultSet(name, header, tables, EarlierPlan(store.plan(digest), header).links)
