"""Steps of kind sysbench: a workload in Lua against a server, one of those that come with it or one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.model.plan import Value
from stepgrid.plugins.driver import CountedWork, PackageRunner, ParserMetrics
from stepgrid.plugins.work import WorkFigure
from stepgrid_databases.drivers.sysbench import workload
from stepgrid_databases.drivers.sysbench.lua_client import CLIENT, FLOOR

if TYPE_CHECKING:
    from stepgrid.model.figures import PrintedStep
    from stepgrid.model.plan import Command
    from stepgrid.plugins.driver import Context, Runner

LOAD_RATE = 20_000  # rows per second of one client: only for estimates
EVENT_RATE = 1_000


class SysbenchDriver(ParserMetrics, PackageRunner):
    kind = "sysbench"
    revision = 2
    parser = 3
    tables = ("groups", "absolute", "before_after", "load", "errors", "cpu", "per_operation")
    client = CLIENT
    runs_remotely = True
    operations = workload.OPERATIONS
    work_figures = (
        WorkFigure("ignored_errors", "{:.3g} errors in 100 transactions", 1.0, of="transactions"),
        WorkFigure("write_queries", "{:.3g} changes of rows in 100 transactions", 10.0, of="transactions"),
    )

    def workloads(self, settings: Mapping[str, Any]) -> Sequence[str] | None:
        return None if workload.is_own(settings["lua"]) else [settings["lua"]]

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return str(settings["lua"])

    def estimate(self, settings: Mapping[str, Any]) -> float:
        work = self.counted_work(settings)
        return max(FLOOR, work.seconds) if work else float(settings["duration"] or FLOOR)

    def counted_work(self, settings: Mapping[str, Any]) -> CountedWork | None:
        if settings["lua"] == workload.LOAD:
            rows = settings["rows"] * settings["tables"]
            return CountedWork("rows", rows, rows / LOAD_RATE / settings["threads"])
        events = settings["events"]
        return None if events is None else CountedWork("events", events, events / EVENT_RATE)

    def files(self, settings: Mapping[str, Any], read_own: Callable[[str], str]) -> Mapping[str, str]:
        return workload.workload_files(settings["lua"], read_own, settings["arguments"])

    def targets(self, settings: Mapping[str, Any]) -> Mapping[str, float]:
        rate = settings.get("rate")
        return {} if rate is None else {"target_transactions_per_s": float(int(rate))}  # it takes whole numbers

    def command(self, settings: Mapping[str, Any], options: Mapping[str, Value], context: Context) -> Command:
        return workload.workload_command(settings, context)

    def statements(self, settings: Mapping[str, Any], files: Mapping[str, str], engine: str) -> Sequence[str]:
        return workload.workload_statements(settings, files)

    def complaint(self, folder: Path) -> str | None:
        from stepgrid_databases.drivers.sysbench import output

        message = output.failure(output.text_of(folder))
        return f"sysbench failed: {message}" if message else None

    def printed(self, path: Path) -> Sequence[PrintedStep]:
        from stepgrid_databases.drivers.sysbench.output import printed

        return printed(path)

    def printed_figures(self, settings: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]]:
        is_load = settings["lua"] == workload.LOAD
        return {} if is_load else {"qps": ("", "queries:", "("), "transactions_per_s": ("", "transactions:", "(")}

    def live(self, folder: Path) -> Sequence[tuple[float, float]]:
        from stepgrid_databases.drivers import client_report

        return client_report.live(folder)


DRIVER: Runner = SysbenchDriver()
