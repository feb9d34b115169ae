"""Figures of a quiesce: how long it took, what there was to do at its start and at its end, what was not quiet."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stepgrid.host.failure import tail
from stepgrid.model.figures import Figures, ParseError
from stepgrid.model.metrics import Metric, MetricSet
from stepgrid.model.units import size
from stepgrid_databases.drivers.db_bench import engine_statistics
from stepgrid_databases.drivers.quiesce.waiting import AT_WORK, COMPACTED, ERRORS, OUTPUT, UNDER_WAY, WRITE_BACK

Thing = Mapping[str, Any]
LARGE = 1000
OURS = (UNDER_WAY, AT_WORK, COMPACTED, WRITE_BACK)
_PENDING = re.compile(r"^Estimated pending compaction bytes: (\d+)$", re.MULTILINE)
LOOKS_TAIL = 16_384  # bytes of the end of an output: several looks

START, END = "start", "end"


class Amount(NamedTuple):
    name: str
    unit: str
    definition: str  # of the metric

    def metric(self, when: str) -> str:
        return f"quiesce_{self.name}_{when}"


AMOUNTS: Mapping[str, Amount] = {
    "dirty pages": Amount("dirty_pages", "pages", "Dirty pages in InnoDB's buffer pool"),
    "history list": Amount("history_list", "transactions", "Length of InnoDB's history list: what is left to purge"),
    "change buffer": Amount("change_buffer", "pages", "InnoDB's change buffer, its root included"),
    "memtables": Amount("memtable_bytes", "B", "Size of the memtables of MyRocks"),
    "memtables to flush": Amount("memtables", "memtables", "Memtables of MyRocks that wait for their flush"),
    "pending compactions": Amount("pending_compactions", "families", "Column families with a compaction pending"),
    "compactions": Amount("compactions", "jobs", "Compactions of MyRocks under way"),
    "tables due for autovacuum": Amount("tables_due", "tables", "Tables that autovacuum will take"),
    "log since the checkpoint": Amount("wal_bytes", "B", "Write-ahead log of PostgreSQL since its last checkpoint"),
    "level 0 files": Amount("l0_files", "files", "Files of level 0 (db_bench)"),
    "pending compaction bytes": Amount("pending_bytes", "B", "Compaction debt as RocksDB estimates it (from 9.0)"),
    "engine reads": Amount("read_bytes_per_s", "B/s", "Reads of devices by the engine's processes, by second"),
    "engine writes": Amount("write_bytes_per_s", "B/s", "Writes to devices by the engine's processes, by second"),
}


_WINDOWS = {START: "at the first look, before anything was asked for", END: "at the last look"}

_METRICS = (
    Metric("quiesce_seconds", "s", "lower",
           "Time until everything was idle, without the stretch in which it had to stay so. Absent when it did not "
           "become quiet in time.", "from the first look"),
    *(
        Metric(amount.metric(when), amount.unit, None, f"{amount.definition}.", window)
        for amount in AMOUNTS.values()
        for when, window in _WINDOWS.items()
    ),
)  # fmt: skip

METRICS = MetricSet({"Quiet": _METRICS})


def parse(folder: Path, settings: Mapping[str, Any]) -> Figures:
    looks, end = _lines(folder / "stdout")
    metrics = {**_amounts(looks), **_debt(folder)}
    if end["since"] is not None:
        metrics["quiesce_seconds"] = float(end["since"])
    facts = {
        "at the start": _describe(looks[0]),
        "at the end": _describe(looks[-1]),
        "looks": str(len(looks)),
    }
    return Figures(metrics, facts, warnings=tuple(_warnings(looks[-1], end)))


def waits_for(folder: Path) -> str:
    """Tell what the last look did not find idle; empty before the first one, and when everything is idle."""
    try:
        lines = tail(folder / "stdout", LOOKS_TAIL).split("\n")[:-1]
        look = json.loads(lines[-1])["look"]
    except (OSError, ValueError, LookupError):
        return ""
    return "; ".join(busy(thing) for thing in look["seen"] if not thing["idle"])


def _lines(path: Path) -> tuple[list[Sequence[Thing]], Mapping[str, Any]]:
    looks: list[Sequence[Thing]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            raise ParseError(f"stdout has a line that is no look: {line[:60]}") from None
        if "end" in record:
            return looks, record["end"]
        looks.append(record["look"]["seen"])
    raise ParseError("stdout ends before the last look: it has no line `end`")


def _amounts(looks: Sequence[Sequence[Thing]]) -> dict[str, float]:
    """Give the amounts at the start, which of a rate is the second look, and at the end."""
    first: dict[str, float] = {}
    for look in looks:
        for thing in look:
            first.setdefault(thing["what"], float(thing["value"]))
    last = {thing["what"]: float(thing["value"]) for thing in looks[-1]}
    return {**_named(first, START), **_named(last, END)}


def _named(values: Mapping[str, float], when: str) -> dict[str, float]:
    return {AMOUNTS[name].metric(when): value for name, value in values.items() if name in AMOUNTS}


def _debt(folder: Path) -> dict[str, float]:
    """Read the statistics of an embedded RocksDB before and after; one that is held open has them among its errors."""
    paths = [path for path in (folder / OUTPUT, folder / ERRORS) if path.is_file()]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in paths]
    text = next(filter(engine_statistics.compaction_tables, texts), "")
    files = [_level0(table) for table in engine_statistics.compaction_tables(text)]
    pending = [float(size) for size in _PENDING.findall(text)]
    return {**_first_and_last("level 0 files", files), **_first_and_last("pending compaction bytes", pending)}


def _level0(table: Mapping[str, engine_statistics.Row]) -> float | None:
    """Subtract the files of other levels from all: an empty level that had nothing to do is not listed."""
    total = _files(table.get("Sum", {}))
    higher_levels = [_files(row) for level, row in table.items() if re.fullmatch(r"L[1-9]\d*", level)]
    return None if total is None else total - sum(count for count in higher_levels if count is not None)


def _files(row: engine_statistics.Row) -> float | None:
    return engine_statistics.read_count(row.get("Files", "").partition("/")[0])


def _first_and_last(name: str, values: Sequence[float | None]) -> dict[str, float]:
    """Name the first and the last value; there is no last one where the time was over first."""
    pairs = zip((START, END), (*values[:1], *values[1:][-1:]), strict=False)
    return {AMOUNTS[name].metric(when): value for when, value in pairs if value is not None}


def _describe(look: Sequence[Thing]) -> str:
    amounts = (
        f"{thing['what']} {_amount(thing['value'], thing['unit'])}" for thing in look if thing["what"] not in OURS
    )
    return ", ".join(amounts) or "nothing was looked at yet"


def _amount(value: float, unit: str) -> str:
    if unit.startswith("B"):
        return f"{size(value)}{unit[1:]}"
    number = f"{value:,.0f}" if value >= LARGE else f"{value:g}"
    return f"{number} %" if unit == "%" else number


def _warnings(last: Sequence[Thing], end: Mapping[str, Any]) -> Iterator[str]:
    """Warn of what was not quiet, also beside the figures of the steps that follow."""
    yield from end.get("notes", ())  # of results from before it was held open
    if end["quiet"]:
        return
    reasons = "; ".join(busy(thing) for thing in last if not thing["idle"]) or "it was idle for too short a time"
    yield f"not quiet after {end['seconds']:.3g} s, what follows was measured all the same: {reasons}"


def busy(thing: Thing) -> str:
    if thing["what"] in OURS:
        return str(thing["what"])
    value, least = (_amount(thing[name], thing["unit"]) for name in ("value", "least"))
    return f"{thing['what']} {value} (idle at {least})"
