"""Steps of kind quiesce: looks until the engine has no work left, instead of sleeping.

The request of a step to its program is in a file, since it holds the server's password. RocksDB in db_bench works off
its debt only while a program has it open: a run of db_bench that waits for compactions. A release that cannot wait is
held open instead, by reads of one key, until its statistics show no compaction at work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from stepgrid.model.plan import Value
from stepgrid.plugins import driver
from stepgrid.plugins.driver import PackageRunner, ParserMetrics, as_text

if TYPE_CHECKING:
    from stepgrid.model.plan import Command
    from stepgrid.plugins.driver import Context, Runner
    from stepgrid.plugins.server import Access

USUAL_SECONDS = 5.0  # until it is quiet: a checkpoint, or what `waitforcompaction` sleeps; results say more
MARGIN = 60.0  # seconds beyond the timeout: to connect, and to put back what was set
BEGINNING = "the engine could not be looked at: "  # of a failure, which the program prints
PROGRAM = "db_bench"
UNIVERSAL = "1"
SLOWLY = "benchmark_read_rate_limit"
READS = 10_000  # a second, a few percent of a core: db_bench asks for 256 at once, and a tenth of this is the most
LONGER = 3600  # seconds beyond the timeout: it is ended from outside


class Quiesce(ParserMetrics, PackageRunner):
    kind = "quiesce"
    revision = 2
    parser = 3
    waited = "quiesce_seconds"

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return "quiesce"

    def estimate(self, settings: Mapping[str, Any]) -> float:
        return min(float(settings["timeout"]), USUAL_SECONDS + float(settings["quiet"]))

    def command(self, settings: Mapping[str, Any], options: Mapping[str, Value], context: Context) -> Command:
        values = {name: settings[name] for name in QuiesceRequest._fields if name in settings}
        drain = Drain(()) if context.server else make_drain(settings, options, context)
        request = {**drain._asdict(), "data": context.data.absolute(), "server_pid": context.server_pid, **values}
        return driver.program_request(__name__, context, request, settings["timeout"] + MARGIN)

    def waits_for(self, folder: Path) -> str:
        from stepgrid_databases.drivers.quiesce.parser import waits_for

        return waits_for(folder)

    def complaint(self, folder: Path) -> str | None:
        return driver.last_complaint(folder, BEGINNING)


class QuiesceRequest(NamedTuple):
    access: Access | None  # of a server
    argv: Sequence[str]  # without one: what works off the debt of the database
    endless: bool  # and does not end by itself
    data: Path
    server_pid: int | None  # where its processes can be looked at
    timeout: float
    quiet: float
    flush: bool
    analyze: bool


def read(folder: Path) -> QuiesceRequest:
    access, request = driver.read_request(folder)
    return QuiesceRequest(**{**request, "access": access, "data": Path(request["data"])})


class Drain(NamedTuple):
    argv: tuple[str, ...]
    endless: bool = False  # it does not end by itself


def make_drain(settings: Mapping[str, Any], options: Mapping[str, Value], context: Context) -> Drain:
    from stepgrid.plugins.registry import engine

    if PROGRAM not in context.programs:
        raise ValueError(f"it needs a server, or a build that has {PROGRAM}")
    capabilities = engine("rocksdb").capabilities(context.version)
    # under universal compaction an early release waits for ever, rocksdb issue 9275
    universal = str(options.get("compaction_style", "")) == UNIVERSAL
    endless = ("waitforcompaction_universal" if universal else "waitforcompaction") not in capabilities
    # a release that cannot flush does so with what its log holds when the database is opened
    flush = ["flush"] if settings["flush"] and "flush" in capabilities else []
    # statistics first and last: the work at the start, and what remains
    wait: dict[str, Any] = {"benchmarks": ",".join(["stats", *flush, "waitforcompaction", "stats"])}
    if endless:
        # statistics every second, among the errors: the output of a program that is killed may lack its end
        wait = {"benchmarks": ",".join([*flush, "readrandom"]), "threads": 1, "stats_per_interval": 1}
        wait |= {"stats_interval_seconds": 1, "duration": int(settings["timeout"]) + LONGER}
        wait |= {SLOWLY: READS} if SLOWLY in capabilities else {}
    database = {"db": context.data.absolute(), "use_existing_db": "true", "num": 1}
    flags = {**{name: as_text(value) for name, value in options.items()}, **wait, **database}
    return Drain((*context.programs[PROGRAM], *(f"--{name}={value}" for name, value in flags.items())), endless)


DRIVER: Runner = Quiesce()
