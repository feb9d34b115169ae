"""stepgrid in Python: an experiment, its plan and its results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from stepgrid.collect import parquet
from stepgrid.collect.query import NoTables, create_views
from stepgrid.language.problems import Problem, SpecError
from stepgrid.model.plan import Plan
from stepgrid.pipeline import compile_spec
from stepgrid.store.plans import Request
from stepgrid.workflow import host_plan

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

__all__ = ["Experiment", "NoTables", "Plan", "Problem", "SpecError"]


class Experiment(Struct, frozen=True):
    """A spec, as the commands take it: outputs/ and site.yaml are those of the current folder."""

    spec: str
    scale: str | None = None
    only: str | None = None
    sets: tuple[str, ...] = ()

    def plan(self) -> Plan:
        """Compile it for this host: cells, stages, builds. SpecError has every problem of the spec or the site file."""
        if problems := host_plan.use_site_file(None):
            raise SpecError(problems)
        return compile_spec(Request(self.spec, self.scale, self.only, self.sets))

    def results(self, query: str = "SELECT * FROM steps") -> DuckDBPyRelation:
        """Query its tables. NoTables says why there are none, such as that it was not run."""
        connection = parquet.connect()
        create_views(connection, host_plan.store().tables(self.plan().digest))
        return connection.sql(query)
