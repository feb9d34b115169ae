"""The command line of a step: typed arguments, never a shell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from stepgrid.drivers.db_bench.benchmarks import PRINTING, TIMED
from stepgrid.model.command import Command
from stepgrid.plugins.command_line import as_text
from stepgrid.plugins.driver import Context

REPORT = "report.csv"

# options that a spec may not give, by the setting that they are; the last are derived: the database's folder, the log
# in it (an image must hold it), the seed of this repeat, a file of this step
RESERVED: Mapping[str, str] = MappingProxyType(
    {
        "benchmarks": "benchmarks",
        "num": "keys",
        "threads": "threads",
        "duration": "duration",
        "reads": "reads",
        "writes": "writes",
        "benchmark_write_rate_limit": "write_rate",
        "use_existing_db": "fresh",
        "db": "",
        "wal_dir": "",
        "seed": "",
        "report_file": "",
    }
)

# how a step is watched; a spec's options may say otherwise
OBSERVATION: Mapping[str, Any] = MappingProxyType(
    {"histogram": True, "stats_interval_seconds": 20, "stats_per_interval": 1, "report_interval_seconds": 1}
)


def command(settings: Mapping[str, Any], options: Mapping[str, Any], context: Context) -> Command:
    from stepgrid.model.command import Command

    _refuse_without_database(settings, context.data)
    if refused := sorted(RESERVED.keys() & options.keys()):
        raise ValueError(f"{refused[0]} cannot be given as an option: {_meaning(refused[0])}")
    flags = {**_own(settings, context), **OBSERVATION, **options}
    argv = (*context.programs["db_bench"], *(f"--{name}={as_text(value)}" for name, value in flags.items()))
    return Command(argv=argv, duration=declared_seconds(settings))


def _refuse_without_database(settings: Mapping[str, Any], data: Path) -> None:
    """Some releases end with an error there, others make an empty database and read nothing of it."""
    from stepgrid.plugins.driver import RefusedError

    if not settings.get("fresh", False) and data.is_dir() and not any(data.iterdir()):
        name = settings["benchmarks"][0]
        raise RefusedError(f"`{name}` needs a loaded database; put a load step first or set `fresh: true`")


def _meaning(option: str) -> str:
    return f"it is the setting `{RESERVED[option]}`" if RESERVED[option] else "the driver sets it"


def declared_seconds(settings: Mapping[str, Any]) -> float | None:
    """How long the benchmarks that obey the duration run; None when another one has no declared end."""
    names: Sequence[str] = settings["benchmarks"]
    duration: float | None = settings.get("duration")
    timed = sum(name in TIMED for name in names)
    open_ended = any(name not in TIMED | PRINTING for name in names)
    return None if duration is None or open_ended or not timed else duration * timed


def _own(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    flags = {
        "benchmarks": ",".join(settings["benchmarks"]),
        "db": context.data,
        "use_existing_db": not settings.get("fresh", False),
        "num": settings["keys"],
        "threads": settings.get("threads", 1),
        "seed": positive_seed(context.seed),
        "report_file": context.folder / REPORT,
    }
    limits = {
        "duration": _whole(settings.get("duration")),
        "reads": settings.get("reads"),
        "writes": settings.get("writes"),
        "benchmark_write_rate_limit": settings.get("write_rate"),
    }
    return flags | {name: value for name, value in limits.items() if value is not None}


def positive_seed(seed: int) -> int:
    """31 bits and never 0, which db_bench takes for "choose one yourself"."""
    return seed % (2**31 - 1) + 1


def _whole(seconds: float | None) -> int | None:
    return None if seconds is None else int(seconds)
