"""Steps of kind linkbench: a social graph in three tables, loaded and then asked by a mix of ten operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stepgrid.plugins.driver import CountedWork, ParserOutput, SqlOperations
from stepgrid.plugins.work import drawn_shares
from stepgrid_databases.drivers.sysbench.lua_client import MixClient, mix_option

if TYPE_CHECKING:
    from stepgrid.plugins.driver import Runner
    from stepgrid.plugins.server import Access

NODES_LOADED_PER_S = 2_000  # nodes with their links, per second of one client: only for estimates

_LINK = "id1, id2, link_type, visibility, data, time, version"
_STATEMENTS = (  # of the operations that read; LIMIT is that of the lists
    "SELECT {link} FROM linktable{force} WHERE id1 = {id} AND link_type = 123456789 AND time >= 0 "
    "AND time <= {forever} AND visibility = 1 ORDER BY time DESC LIMIT {limit} OFFSET 0",
    "SELECT {link} FROM linktable WHERE id1 = {id} AND link_type = 123456789 AND id2 IN ({id})",
    "SELECT count FROM counttable WHERE id = {id} AND link_type = 123456789",
    "SELECT id, type, version, time, data FROM nodetable WHERE id = {id}",
)


class LinkBench(ParserOutput, MixClient):
    kind = "linkbench"
    title = "LinkBench"
    revision = 2
    parser = 2
    tables = ("relative", "linkbench", "response_times", "per_operation")
    operations = SqlOperations(
        point_read="countlink getlink getnode",
        short_range="getlinklist",
        insert="load addlink addnode",
        update_of_an_indexed_column="deletelink updatelink",
        other_update="addlink deletelink updatenode",
        delete="deletenode",
        transaction_of_several_statements="addlink deletelink updatelink",
    )
    work_figures = drawn_shares(sorted({*" ".join(operations).split()} - {"load"}), "requests")
    clients: Mapping[str, str] = {"load": "loaders", "request": "requesters"}
    module = "requesting"
    passed = ("link_types", "link_size", "node_size", "table_options")

    def counted_work(self, settings: Mapping[str, Any]) -> CountedWork | None:
        if settings["action"] != "load":
            return None
        return CountedWork("ids", settings["ids"], settings["ids"] / NODES_LOADED_PER_S / settings["loaders"])

    def script_options(self, settings: Mapping[str, Any], access: Access) -> Mapping[str, Any]:
        options = {**super().script_options(settings, access), "ids": settings["ids"] or 0}
        if settings["action"] == "request":
            options |= {
                **mix_option(settings),
                **settings["popularity"],
                "multiget_probability": settings["multiget"]["probability"],
                "multiget_most": settings["multiget"]["most"],
                "list_limit": settings["lists"]["limit"],
                "history_percent": settings["lists"]["continued"],
            }
        return options

    def statements(self, settings: Mapping[str, Any], files: Mapping[str, str], engine: str) -> Sequence[str]:
        if settings["action"] != "request":
            return ()
        force = "" if engine == "postgres" else " FORCE INDEX (id1_type)"
        values = {"link": _LINK, "force": force, "forever": 2**62, "limit": settings["lists"]["limit"]}
        return [sql.format(**values, id=(settings["ids"] or 2) // 2) for sql in _STATEMENTS]


DRIVER: Runner = LinkBench()
