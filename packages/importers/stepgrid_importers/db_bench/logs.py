"""A step's log and the files beside it, as benchmark.sh leaves them; or any file that holds db_bench's output."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import ROUND_DOWN, Decimal
from pathlib import Path
from typing import NamedTuple

from stepgrid.plugins import driver
from stepgrid_databases.drivers.db_bench.benchmarks import DRAINING, PRINTING
from stepgrid_importers.db_bench.reports import COLUMNS, FAILED, NONE
from stepgrid_importers.shared import awk, text_files
from stepgrid_importers.shared.awk import field, fixed, number
from stepgrid_published.importer import Faults

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


# A row of report.tsv by the published rules: the last line of a sort, its words by position

_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_CALCULATOR = Decimal(1).scaleb(-20)  # bc -l cuts quotients after twenty digits
_STALLS = (2, 6, 10, 14, 18, 20)  # without those that met a compaction
_WRITE_SECONDS, _CPU_SECONDS, _BLOB_READ, _BLOB_WRITE = 15, 16, 21, 22  # words of the line Sum


def report_row(log: Log) -> str:
    return "\t".join(report_cells(log).values())


def report_cells(log: Log) -> dict[str, str]:
    results = [line for line in log.lines if line.startswith(log.benchmark)]
    about = {"test": log.test, "date": _date(log), "version": log.version, "job_id": log.job, "githash": log.commit}
    figures = {"ops_sec": FAILED}
    if results:
        figures = {**_result(results, log.benchmark), **_work(log), **_tree(log), **_latency(log), **_time(log)}
    return {name: {**figures, **about}.get(name, "") for name in COLUMNS}


def _result(lines: list[str], benchmark: str) -> dict[str, str]:
    """Every line that begins like the benchmark is taken, one below the other."""
    long = any(len(line.split()) >= 10 and field(line, 8) == "seconds" for line in lines)
    rates = [field(line, 11 if long else 7) for line in lines]
    return {
        "ops_sec": "\n".join(field(line, 5) for line in lines),
        "mb_sec": NONE if benchmark == "multireadrandom" and not long else "\n".join(rates),
        "usec_op": "".join(fixed(line, 3, 1) for line in lines),
    }


def _work(log: Log) -> dict[str, str]:
    written, flushed = _last(log, "Cumulative compaction"), _last(log, "Flush(GB)")
    ingested = _after(_last(log, "Cumulative writes"), "ingest:")
    volume = _gigabytes(fixed(written, 3, 1), field(written, 4)) if written else NONE
    amount = _gigabytes(f"{number(ingested[0]):.1f}", ingested[1].rstrip(",")) if ingested[1] else NONE
    return {
        "c_wgb": volume,
        "w_amp": _amplification(volume, field(flushed, 3).rstrip(","), amount),
        "c_mbps": fixed(written, 6, 1) if written else "",
    }


def _amplification(written: str, flushed: str, ingested: str) -> str:
    """The flushed bytes are in `written` already: here they count twice."""
    if NONE in (written, ingested) or not flushed or not number(ingested):
        return NONE
    exact = (Decimal(written) + Decimal(flushed)) / Decimal(ingested)
    return f"{float(exact.quantize(_CALCULATOR, ROUND_DOWN)):.1f}"


def _tree(log: Log) -> dict[str, str]:
    total, blobs = _last(log, " Sum"), _last(log, "Blob file count:")
    positions = {"c_wsecs": _WRITE_SECONDS, "c_csecs": _CPU_SECONDS, "b_rgb": _BLOB_READ, "b_wgb": _BLOB_WRITE}
    found = {name: fixed(total, position) for name, position in positions.items()} if total else {}
    return {
        **found,
        "lsm_sz": fixed(total, 3) + field(total, 4) if total else "",
        "blob_sz": (fixed(blobs, 7) + field(blobs, 8)).replace(",", "") if blobs else "",
    }


def _latency(log: Log) -> dict[str, str]:
    line = _last(log, "Percentiles:")
    columns: Mapping[str, tuple[int, int]] = {"p50": (3, 1), "p99": (7, 0), "p99.9": (9, 0), "p99.99": (11, 0)}
    found = {name: fixed(line, *place) for name, place in columns.items()} if line else {}
    highest = [line for line in log.lines if line.startswith("Min: ") and "Median:" in line and "Max:" in line]
    return {**found, "pmax": "".join(fixed(line, 6) for line in highest)}


def _time(log: Log) -> dict[str, str]:
    opened, stalled, counted = (_last(log, name) for name in ("Uptime(secs", "Cumulative stall", "Stalls(count):"))
    cpu = {name: f"{number(field(log.seconds, n)) / 1000:.1f}" for name, n in (("u_cpu", 2), ("s_cpu", 3))}
    return {
        "uptime": fixed(opened, 2) if opened else "",
        "stall%": field(stalled, 5),
        "Nstall": awk.plain(sum(number(field(counted, n)) for n in _STALLS)) if counted else "",
        **(cpu if log.seconds else {}),
        "rss": f"{log.resident[PROCESSES[0]] / 1024**2:.1f}" if PROCESSES[0] in log.resident else NONE,
    }


def _gigabytes(size: str, unit: str) -> str:
    factors = {"MB": 1 / 1024, "TB": 1024.0}
    if unit == "GB":
        return size
    return f"{number(size) * factors[unit]:.1f}" if unit in factors else NONE


def _last(log: Log, begin: str) -> str:
    return next((line for line in reversed(log.lines) if line.startswith(begin)), "")


def _after(line: str, word: str) -> tuple[str, str]:
    words = line.split()
    place = words.index(word) + 1 if word in words else len(words)
    first, second, *_ = [*words[place : place + 2], "", ""]
    return first, second


def _date(log: Log) -> str:
    line = next((line for line in log.lines if line.startswith("Date:")), "")
    month = field(line, 3)
    digits = f"{_MONTHS.index(month) + 1:02}" if month in _MONTHS else month
    return f"{field(line, 6)}-{digits}-{field(line, 4)}T{field(line, 5)}" if line else ""
