"""Figures of a crash: how long until there are answers and the rate of before, the log that was replayed, rows lost."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from stepgrid.model.figures import Figures, ParseError
from stepgrid.model.metrics import Metric, MetricSet

TRANSACTIONS, UNANSWERED = "transactions", "-"  # a file: when one was due and committed, in seconds of the load
REGAINED = 0.9  # of the rate before
WINDOW = 1.0  # seconds in which it is regained

_BEFORE = "before the crash: the kill, or the stop"
_SINCE = "from the crash on; of db_bench that ends by itself, from its last key"
_RECOVERY = "while the engine recovers"
_METRICS = (
    Metric("rate_before", "transactions/s", None,
           "Transactions that clients committed per second; of db_bench, keys.", _BEFORE),
    Metric("stop_seconds", "s", "lower", "Time until the processes were gone.", _SINCE),
    Metric("first_answer_seconds", "s", "lower",
           "Time until the server, which is started again at once, answered `select 1`; of db_bench, until it had read "
           "a key.", _SINCE),
    Metric("first_commit_seconds", "s", "lower", "Time until a client was told that its transaction is committed.",
           _SINCE),
    Metric("regained_seconds", "s", "lower",
           "Time until the first second in which clients committed 90 % of rate_before. The count of db_bench's keys, "
           "which comes between, is not in it.", _SINCE),
    Metric("replay_seconds", "s", "lower",
           "Time of the replay, as the logs of RocksDB, MyRocks and PostgreSQL have it.", _RECOVERY),
    Metric("replayed_bytes", "B", None,
           "Log that was read: the log files of RocksDB and MyRocks; of InnoDB and PostgreSQL the difference of the "
           "log sequence numbers that they print.", _RECOVERY),
    Metric("replayed_records", "records", None,
           "Entries of the tables that RocksDB and MyRocks wrote from their log.", _RECOVERY),
    Metric("excess_latency_seconds", "s", "lower",
           "Time that transactions under way at the crash, or due later, took beyond the median of those before, all "
           "together. Each counts from when it was due; one without an answer counts to the end of the step.",
           _SINCE),
    Metric("unanswered", "transactions", "lower", "Transactions that were due and never committed.", "the step"),
    Metric("rows_checked", "rows", None,
           "Rows whose commit a client was told of; of db_bench, keys that it said it wrote.", _BEFORE),
    Metric("rows_lost", "rows", "lower", "Those of rows_checked that are not there at the end.", "at the end"),
)  # fmt: skip

METRICS = MetricSet({"Crash and recovery": _METRICS})


class Transaction(NamedTuple):
    due: float
    commit: float | None


class Work(NamedTuple):
    """Transactions, or keys, that were through at a second."""

    second: float
    amount: int


def parse(folder: Path, settings: Mapping[str, Any]) -> Figures:
    lines = [json.loads(line) for line in (folder / "stdout").read_text(encoding="utf-8").splitlines()]
    facts: dict[str, float] = {name: value for line in lines if "second" not in line for name, value in line.items()}
    if missing := {"crash", "end", "answer", "rows"} - facts.keys():
        raise ParseError(f"stdout has no line of `{min(missing)}`")
    crash, transactions = facts["crash"], _transactions(folder / TRANSACTIONS)
    work = (
        _written(lines)
        if not transactions
        else [Work(item.commit, 1) for item in transactions if item.commit is not None]
    )
    work.sort()
    before = sum(item.amount for item in work if item.second < crash) / crash
    metrics = {
        "rate_before": before,
        "stop_seconds": facts["end"] - crash,
        "first_answer_seconds": facts["answer"] - crash,
        "rows_checked": float(facts["rows"]),
        "rows_lost": float(facts["lost"]),
        "operations": float(sum(item.amount for item in work)),
        **_regained([item for item in work if item.second >= facts["end"]], before, crash),
        **_waits(transactions, crash, facts["end"]),
    }
    if "log_bytes" in facts:
        metrics |= {"replayed_bytes": float(facts["log_bytes"]), **rocksdb_recovery(_text(folder / "LOG"))}
    elif settings.get("storage_engine") != "rocksdb":  # else its power was cut
        metrics |= server_recovery(_text(folder / "server" / "stderr"))
    warnings = [f"{facts['lost']} of {facts['rows']} acknowledged rows are lost"] if facts["lost"] else []
    return Figures(metrics, qps=_series(work), warnings=warnings)


def _transactions(path: Path) -> list[Transaction]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:  # of db_bench
        return []
    pairs = (line.split() for line in lines)
    return [Transaction(float(due), None if commit == UNANSWERED else float(commit)) for due, commit in pairs]


def _written(lines: Sequence[Mapping[str, Any]]) -> list[Work]:
    """Subtract the totals of db_bench, which begin anew where it was started again."""
    work, total = [], 0
    for line in lines:
        if "second" in line:
            work.append(Work(line["second"], line["written"] - total))
            total = line["written"]
        elif "answer" in line:
            total = 0
    return work


def _regained(work: Sequence[Work], rate: float, crash: float) -> dict[str, float]:
    """Find the first second with enough work, that begins with some."""
    last = count = 0
    for item in work:
        while last < len(work) and work[last].second < item.second + WINDOW:
            count += work[last].amount
            last += 1
        if count >= REGAINED * rate * WINDOW:
            return {"regained_seconds": item.second - crash}
        count -= item.amount
    return {}


def _waits(transactions: Sequence[Transaction], crash: float, end: float) -> dict[str, float]:
    """Compute what transactions waited because of the end."""
    usual = [item.commit - item.due for item in transactions if item.commit is not None and item.commit < crash]
    if not usual:
        return {}
    last = max(item.commit or item.due for item in transactions)
    later = [item for item in transactions if item.commit is None or item.commit >= crash]
    waits = [(last if item.commit is None else item.commit) - item.due for item in later]
    commits = [item.commit for item in later if item.commit is not None and item.commit >= end]
    return {
        "excess_latency_seconds": sum(max(0.0, wait - median(usual)) for wait in waits),
        "max_us": max(*usual, *waits) * 1e6,
        "unanswered": float(sum(item.commit is None for item in transactions)),
        **({"first_commit_seconds": min(commits) - crash} if commits else {}),
    }


def _series(work: Sequence[Work]) -> list[tuple[float, float]]:
    """Sum by second; a second without work has a rate of 0."""
    counts: Counter[int] = Counter()
    for item in work:
        counts[int(item.second)] += item.amount
    return [(second + 1.0, float(counts[second])) for second in range(max(counts, default=0))]


# What the engines' own logs say of a recovery

_ROCKSDB = re.compile(
    r'"time_micros": (?P<began>\d+), "job": \d+, "event": "recovery_started"(?P<work>.*)'
    r'"time_micros": (?P<ended>\d+), "job": \d+, "event": "recovery_finished"',
    re.DOTALL,
)
_ENTRIES = re.compile(r'"event": "table_file_creation", .*"num_entries": (\d+)')
_POSTGRES = re.compile(r"redo starts at (\w+)/(\w+).*redo done at (\w+)/(\w+)(?: .* elapsed: ([\d.]+) s)?", re.DOTALL)
_CHECKPOINT = re.compile(r"checkpoint LSN=(\d+)|checkpoint_lsn = (\d+)")  # of InnoDB, in MariaDB and in MySQL
_END_OF_LOG = re.compile(r"End of log at LSN=(\d+)|scanned up to log sequence number (\d+)")


def rocksdb_recovery(log: str) -> dict[str, float]:
    recovery = _ROCKSDB.search(log)
    if recovery is None:
        return {}
    return {
        "replay_seconds": (int(recovery["ended"]) - int(recovery["began"])) / 1e6,
        "replayed_records": float(sum(map(int, _ENTRIES.findall(recovery["work"])))),
    }


def server_recovery(log: str) -> dict[str, float]:
    """Read what InnoDB and PostgreSQL say; nothing where there was nothing to replay."""
    if redo := _POSTGRES.search(log):
        first, last = (int(high, 16) * 2**32 + int(low, 16) for high, low in (redo.group(1, 2), redo.group(3, 4)))
        return {"replayed_bytes": float(last - first), **({"replay_seconds": float(redo[5])} if redo[5] else {})}
    checkpoint, ends = _CHECKPOINT.search(log), _END_OF_LOG.findall(log)
    if checkpoint is None or not ends:
        return {}
    return {"replayed_bytes": float(int("".join(ends[-1])) - int(checkpoint[1] or checkpoint[2]))}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
