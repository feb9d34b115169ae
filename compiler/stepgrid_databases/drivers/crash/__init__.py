"""Steps of kind crash: the end of a server, or of db_bench, in the middle of a load, and how it comes back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.model.plan import Value
from stepgrid.model.records import replace
from stepgrid.plugins import driver
from stepgrid.plugins.driver import PackageRunner, ParserMetrics
from stepgrid_databases.drivers.db_bench.command import positive_seed

if TYPE_CHECKING:
    from stepgrid.model.plan import Command
    from stepgrid.plugins.driver import Context, Runner

RECOVERY = 5.0  # seconds, only for estimates
BEGINNING = "crash and restart: "  # of a failure, which the program prints
REPORTS = 100  # of a second of db_bench's load
SPARE = 2  # times the keys that it writes until it is killed
RECORD: Mapping[str, int] = {
    "key_size": 16,
    "value_size": 100,
}  # bytes of a key and a value, unless an option says more


class CrashDriver(ParserMetrics, PackageRunner):
    kind = "crash"
    revision = 1
    parser = 1
    server_folder = "server"
    tables = ("recovery",)
    power_setting = "how"

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return self.kind

    def estimate(self, settings: Mapping[str, Any]) -> float:
        return float(settings["before"]) + RECOVERY + float(settings["after"])

    def command(self, settings: Mapping[str, Any], options: Mapping[str, Value], context: Context) -> Command:
        if context.server and (context.server.running or context.server_pid is None):
            raise driver.RefusedError("it ends a server that stepgrid started, and this one ran before")
        runs = {} if context.server else db_bench_runs(settings, options, context)
        request = {**settings, **runs, "data": context.data.absolute(), "pid": context.server_pid, "seed": context.seed}
        return replace(driver.program_request(__name__, context, request), keep=("LOG", "#rocksdb/LOG"))

    def complaint(self, folder: Path) -> str | None:
        return driver.last_complaint(folder, BEGINNING)


def db_bench_runs(settings: Mapping[str, Any], options: Mapping[str, Value], context: Context) -> dict[str, list[str]]:
    """Make the commands of a load of unique keys, and of what opens the database again: a read, a count, a load."""
    if "db_bench" not in context.programs:
        raise ValueError("it needs a server, or a build that has db_bench")
    rate, keys = int(settings["rate"]), math.ceil(settings["rate"] * settings["before"])
    common: dict[str, Any] = {
        "db": context.data.absolute(),
        "num": keys * (SPARE if settings["how"] != "stop" else 1),
        "threads": 1,
        "seed": positive_seed(context.seed),
        "benchmark_write_rate_limit": rate * sum(int(options.get(name, size)) for name, size in RECORD.items()),
        "stats_interval": max(1, rate // REPORTS),
        "stats_interval_seconds": 0,
        "stats_per_interval": 0,
    }
    reopened = {"reads": 1, "writes": math.ceil(rate * settings["after"])}
    runs: dict[str, Mapping[str, Any]] = {
        "load": {"benchmarks": "filluniquerandom", "use_existing_db": False},
        "reopen": {"benchmarks": "readrandom,readtocache,overwrite", "use_existing_db": True, **reopened},
    }
    return {
        run: [
            *context.programs["db_bench"],
            *(f"--{name}={driver.as_text(value)}" for name, value in {**options, **common, **flags}.items()),
        ]
        for run, flags in runs.items()
    }


DRIVER: Runner = CrashDriver()
