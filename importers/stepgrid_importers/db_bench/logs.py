"""A step's log and the files beside it, as benchmark.sh leaves them; or any file that holds db_bench's output."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from stepgrid.drivers.db_bench.benchmarks import DRAINING, PRINTING
from stepgrid.plugins import driver
from stepgrid.plugins.importer import Faults
from stepgrid_importers.shared import text_files
from stepgrid_importers.shared.awk import field, number

PREFIX, SUFFIX = "benchmark_", ".log"
TIME, SERIES = ".time", ".r.csv"
PROCESSES = (".stats.ps", ".ps")  # the first is what the published rule reads
OUTPUTS = ("stdout", ".txt", ".log", ".out")  # how names of other files end that may hold db_bench's output

_RESULT = re.compile(r"^(\w+) +: +\d+\.\d+ micros/op ", re.MULTILINE)
_DATE = re.compile(r"^Date: +(.+)$", re.MULTILINE)
_VERSION = re.compile(r"RocksDB version: (\S+)")
_SHA = re.compile(r"Git sha (\S+)")
_BENCHMARKS: Mapping[str, str] = {  # how the name of a test begins -> what its result line is called, longest first
    "revrangewhile": "seekrandomwhile",
    "fwdrangewhile": "seekrandomwhile",
    "revrange": "seekrandom",
    "fwdrange": "seekrandom",
    "overwrite": "overwrite",
}


class Log(NamedTuple):
    path: Path
    test: str
    benchmark: str
    lines: Sequence[str]
    text: str
    seconds: str = ""  # the last line of /usr/bin/time: elapsed, user, system
    version: str = ""  # as the engine's own LOG says
    commit: str = ""
    job: str = ""
    resident: Mapping[str, float] = {}  # of PROCESSES those that there are: highest KiB
    series: Path | None = None  # the file of the rates over time

    @property
    def began(self) -> datetime:
        return began(self.text) or datetime.min


def benchmark_of(test: str) -> str:
    """`revrangewhilewriting.t40` prints a line of seekrandomwhilewriting."""
    name = test.partition(".")[0]
    for begin, meant in _BENCHMARKS.items():
        if name.startswith(begin):
            return meant if meant == "overwrite" else meant + name[len(begin) :]
    return name


def is_log(path: Path, content: str) -> bool:
    return named(path) or (path.name.endswith(OUTPUTS) and _RESULT.search(content) is not None)


def named(path: Path) -> bool:
    return path.name.startswith(PREFIX) and text_files.plain(path.name).endswith(SUFFIX)


def test_of(path: Path, content: str) -> str:
    """By the file's name, or the first benchmark that has a result."""
    if named(path):
        return text_files.plain(path.name)[len(PREFIX) : -len(SUFFIX)]
    found = _RESULT.search(content)
    return found[1] if found else path.stem


def parse(path: Path, content: str, faults: Faults) -> Log:
    test = test_of(path, content)
    engine = _engine(path.parent, faults)
    version, commit = (_first(pattern, engine) for pattern in (_VERSION, _SHA))
    job = re.match(r"Job ID: (.*)", content)
    series = path.with_name(text_files.plain(path.name) + SERIES)
    return Log(
        path=path,
        test=test,
        benchmark=benchmark_of(test),
        lines=text_files.lines(content),
        text=content,
        seconds=_seconds(path, faults),
        version=version,
        commit=commit[:10],
        job=job[1] if job else "",
        resident=_resident(path, faults),
        series=series if series.is_file() and not faults.refuses(series) else None,
    )


def further(log: Log) -> list[tuple[int, str]]:
    """Lines with a result, behind the first, of benchmarks that count operations."""
    found = [(number, line, match[1]) for number, line in enumerate(log.lines, 1) if (match := _RESULT.match(line))]
    return [(number, line) for number, line, name in found[1:] if name not in DRAINING | PRINTING]


def began(content: str) -> datetime | None:
    found = _DATE.search(content)
    try:
        return datetime.strptime(" ".join(found[1].split()), "%a %b %d %H:%M:%S %Y") if found else None
    except ValueError:
        return None


def _seconds(path: Path, faults: Faults) -> str:
    """The last line: others can be before it when db_bench ended badly."""
    lines = _beside(path, TIME, faults).splitlines()
    return lines[-1] if lines else ""


def _resident(path: Path, faults: Faults) -> dict[str, float]:
    """ps aux: the sixth word of a line is KiB."""
    lines = {suffix: _beside(path, suffix, faults).splitlines() for suffix in PROCESSES}
    return {suffix: max(number(field(line, 6)) for line in found) for suffix, found in lines.items() if found}


def _beside(path: Path, suffix: str, faults: Faults) -> str:
    there = path.with_name(text_files.plain(path.name) + suffix)
    return (text_files.read(there, faults) or "") if there.is_file() else ""


def _engine(folder: Path, faults: Faults) -> str:
    there = (folder / name for name in ("LOG", f"LOG{driver.GZ}"))
    return next(((text_files.read(path, faults) or "") for path in there if path.is_file()), "")


def _first(pattern: re.Pattern[str], content: str) -> str:
    found = pattern.search(content)
    return found[1] if found else ""
