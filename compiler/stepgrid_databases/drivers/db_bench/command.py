"""The command line of a step, and the report file that it writes while it runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from operator import sub
from pathlib import Path
from typing import Any

from stepgrid.model.figures import ParseError
from stepgrid.model.plan import Command, Value
from stepgrid.plugins.driver import Context, RefusedError, as_text
from stepgrid_databases.drivers.db_bench.benchmarks import PRINTING, TIMED

REPORT = "report.csv"
LOG = "LOG"  # the engine's own log, in the database's folder

# options that a spec may not give, by the setting that they are; the last are derived: the database's folder, the log
# in it (an image must hold it), the seed of this repeat, a file of this step
RESERVED: Mapping[str, str] = {
    "benchmarks": "benchmarks",
    "num": "keys",
    "threads": "threads",
    "duration": "duration",
    "reads": "reads",
    "writes": "writes",
    "benchmark_write_rate_limit": "write_rate",
    "use_existing_db": "fresh",
    **dict.fromkeys(("db", "wal_dir", "seed", "report_file"), ""),
}

# how a step is watched; a spec's options may say otherwise
OBSERVATION: Mapping[str, Any] = {
    "histogram": True, "stats_interval_seconds": 20, "stats_per_interval": 1, "report_interval_seconds": 1
}  # fmt: skip


def step_command(settings: Mapping[str, Any], options: Mapping[str, Value], context: Context) -> Command:
    if not settings.get("fresh", False) and context.data.is_dir() and not any(context.data.iterdir()):
        # some releases end with an error then, others make an empty database and read nothing of it
        name = settings["benchmarks"][0]
        raise RefusedError(f"`{name}` needs a loaded database; put a load step first or set `fresh: true`")
    if refused := sorted(RESERVED.keys() & options.keys()):
        setting = RESERVED[refused[0]]
        meaning = f"it is the setting `{setting}`" if setting else "the driver sets it"
        raise ValueError(f"{refused[0]} cannot be given as an option: {meaning}")
    flags = {**_step_flags(settings, context), **OBSERVATION, **options}
    argv = (*context.programs["db_bench"], *(f"--{name}={as_text(value)}" for name, value in flags.items()))
    return Command(argv=argv, duration=declared_seconds(settings), keep=(LOG,))


def declared_seconds(settings: Mapping[str, Any]) -> float | None:
    """Add up the benchmarks that obey the duration; None if another one has no declared end."""
    names: Sequence[str] = settings["benchmarks"]
    duration: float | None = settings.get("duration")
    timed = sum(name in TIMED for name in names)
    open_ended = any(name not in TIMED | PRINTING for name in names)
    return None if duration is None or open_ended or not timed else duration * timed


def positive_seed(seed: int) -> int:
    """Make a seed of 31 bits that is never 0, which db_bench replaces by one of its own."""
    return seed % (2**31 - 1) + 1


def _step_flags(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    flags = {
        "benchmarks": ",".join(settings["benchmarks"]),
        "db": context.data,
        "use_existing_db": not settings.get("fresh", False),
        "num": settings["keys"],
        "threads": settings.get("threads", 1),
        "seed": positive_seed(context.seed),
        "report_file": context.folder / REPORT,
    }
    duration = settings.get("duration")
    limits = {
        "duration": None if duration is None else int(duration),
        "reads": settings.get("reads"),
        "writes": settings.get("writes"),
        "benchmark_write_rate_limit": settings.get("write_rate"),
    }
    return flags | {name: value for name, value in limits.items() if value is not None}


# The report file: operations of each interval (of every thread, writers too), counted by db_bench itself.

TAIL = 8192  # bytes of a running step's file: some minutes of lines
LONGEST_HEAD = 4096  # bytes

_COLUMNS = ("secs_elapsed", "interval_qps")


def is_report(path: Path) -> bool:
    """Recognize a report file by its first line."""
    try:
        with path.open("rb") as file:
            head = file.readline(LONGEST_HEAD).decode("utf-8", errors="replace")
    except OSError:
        return False
    return set(_COLUMNS) <= set(head.strip().split(","))


def read_report(path: Path) -> list[tuple[float, float]]:
    """Read a whole report, without half a line that a kill left at its end. No file, no series."""
    try:
        lines = read_text(path).split("\n")[:-1]
    except FileNotFoundError:
        return []
    if not lines:
        return []
    names = lines[0].strip().split(",")
    if missing := [name for name in _COLUMNS if name not in names]:
        raise ParseError(f"{path}: no column {missing[0]} in its first line, {lines[0].strip()!r}")
    seconds, qps = map(names.index, _COLUMNS)
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        fields = line.split(",")
        try:
            rows.append((float(fields[seconds]), float(fields[qps])))
        except (IndexError, ValueError):
            message = f"expected seconds and operations per second, found {line.strip()!r}"
            raise ParseError(f"{path}:{number}: {message}") from None
    return _per_second(rows)


def read_text(path: Path | str) -> str:
    """Read a file with any line ends, however damaged."""
    from stepgrid.host.files import read_bytes

    text = read_bytes(path).decode("utf-8", errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def live_rates(folder: Path) -> Sequence[tuple[float, float]]:
    """Read the end of a running step's report."""
    try:
        with (folder / REPORT).open("rb") as file:
            names = file.readline().decode().strip().split(",")
            start = file.tell()
            file.seek(max(start, file.seek(0, os.SEEK_END) - TAIL))
            is_complete = file.tell() == start
            lines = file.read().decode().split("\n")[:-1]  # what follows the last newline is still being written
        seconds, qps = map(names.index, _COLUMNS)
    except (OSError, ValueError):
        return ()
    return _per_second(
        list(_readable_rows(lines if is_complete else lines[1:], seconds, qps)), 0.0 if is_complete else None
    )


def _readable_rows(lines: Sequence[str], seconds: int, qps: int) -> Iterator[tuple[float, float]]:
    for line in lines:
        fields = line.split(",")
        try:
            yield float(fields[seconds]), float(fields[qps])
        except (ValueError, IndexError):
            continue


def _per_second(rows: Sequence[tuple[float, float]], start: float | None = 0.0) -> list[tuple[float, float]]:
    """Divide by the interval: db_bench calls the operations of an interval interval_qps, whatever its seconds.

    `start`: when the first interval began, or None. Seconds are rounded, so that one may seem to be two: the
    interval is the median of the differences.
    """
    ends = [*(() if start is None else (start,)), *(second for second, _ in rows)]
    differences = sorted(map(sub, ends[1:], ends))
    interval = differences[len(differences) // 2] if differences else 1.0
    if interval == 1.0 or interval <= 0:
        return list(rows)
    return [(second, operations / interval) for second, operations in rows]
