"""Steps of kind sqlite."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.model.figures import Figures
from stepgrid.model.metrics import BENCHMARK, Metric, MetricSet
from stepgrid.model.plan import Command
from stepgrid.plugins.driver import Context, Runner

if TYPE_CHECKING:
    from pydantic import BaseModel

FIRST = ("auto_vacuum", "encoding", "page_size")  # of no use after `journal_mode = wal` has written the first page
DATABASE, SCRIPT = "db.sqlite", "script.sql"
OWN = (
    Metric("sqlite_slowest_seconds", "s", "lower", "Time of the statement that took longest.", BENCHMARK),
    Metric("sqlite_cpu_seconds", "s", "lower", "Processor time of the statements, of user and system.", BENCHMARK),
)


class SqliteDriver:
    kind = "sqlite"
    revision = 1
    parser = 1
    tables = ("relative",)
    reserved: Mapping[str, str] = {}

    def settings_model(self) -> type[BaseModel]:
        from stepgrid_sqlite.settings import SqliteSettings

        return SqliteSettings

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return "sqlite"

    def estimate(self, settings: Mapping[str, Any]) -> float:
        return float(len(settings["sql"]))

    def command(self, settings: Mapping[str, Any], options: Mapping[str, Any], context: Context) -> Command:
        text = "\n".join(_script(settings["sql"], options)) + "\n"
        read = f'.read "{context.folder.absolute() / SCRIPT}"'
        argv = (*context.programs["sqlite3"], "-batch", "-bail", str(context.data.absolute() / DATABASE), read)
        return Command(argv, files={SCRIPT: text})

    def parse(self, folder: Path, settings: Mapping[str, Any]) -> Figures:
        from stepgrid_sqlite.output import parse

        return parse(folder / "stdout", settings)

    def complaint(self, folder: Path) -> str | None:
        from stepgrid_sqlite.output import complaint

        return complaint(folder / "stderr")

    def metrics(self) -> MetricSet:
        return MetricSet({"SQLite": OWN})


def _script(statements: Collection[str], options: Mapping[str, Any]) -> Iterator[str]:
    """The options are the connection's pragmas, before anything is timed."""
    for name, value in sorted(options.items(), key=lambda each: each[0] not in FIRST):
        yield f"PRAGMA {name} = {_written(value)};"
    yield ".timer on"
    yield from (f"{' '.join(each.split())};" for each in statements)


def _written(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


DRIVER: Runner = SqliteDriver()
