"""A row of report.tsv from a step's log by the published rules: the last line of a sort, its words by position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import ROUND_DOWN, Decimal

from stepgrid_importers.db_bench.columns import COLUMNS, FAILED, NONE
from stepgrid_importers.db_bench.logs import PROCESSES, Log
from stepgrid_importers.shared import awk
from stepgrid_importers.shared.awk import field, fixed, number

_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_CALCULATOR = Decimal(1).scaleb(-20)  # bc -l cuts quotients after twenty digits
_STALLS = (2, 6, 10, 14, 18, 20)  # without those that met a compaction
_WRITE_SECONDS, _CPU_SECONDS, _BLOB_READ, _BLOB_WRITE = 15, 16, 21, 22  # words of the line Sum


def row(log: Log) -> str:
    return "\t".join(cells(log).values())


def cells(log: Log) -> dict[str, str]:
    results = [line for line in log.lines if line.startswith(log.benchmark)]
    about = {"test": log.test, "date": _date(log), "version": log.version, "job_id": log.job, "githash": log.commit}
    figures = {**_result(results, log.benchmark), **_engine(log)} if results else {"ops_sec": FAILED}
    return {name: {**figures, **about}.get(name, "") for name in COLUMNS}


def _engine(log: Log) -> dict[str, str]:
    return {**_work(log), **_tree(log), **_latency(log), **_time(log)}


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
    return next(_dates(log), "")


def _dates(log: Log) -> Iterator[str]:
    for line in log.lines:
        if line.startswith("Date:"):
            month = field(line, 3)
            digits = f"{_MONTHS.index(month) + 1:02}" if month in _MONTHS else month
            yield f"{field(line, 6)}-{digits}-{field(line, 4)}T{field(line, 5)}"
