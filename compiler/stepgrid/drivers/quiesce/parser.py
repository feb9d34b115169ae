"""The figures of a quiesce: how long it took, what there was to do at its start and its end, what was not quiet."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.drivers.db_bench import engine_statistics
from stepgrid.drivers.quiesce.drain_process import AT_WORK, COMPACTED, ERRORS, OUTPUT
from stepgrid.drivers.quiesce.metrics import AMOUNTS, END, START
from stepgrid.drivers.quiesce.settle_request import UNDER_WAY
from stepgrid.model.figures import Figures, ParseError
from stepgrid.model.number_format import size

Thing = Mapping[str, Any]
LARGE = 1000
OURS = (UNDER_WAY, AT_WORK, COMPACTED)
_PENDING = re.compile(r"^Estimated pending compaction bytes: (\d+)$", re.MULTILINE)


def parse(folder: Path, settings: Mapping[str, Any]) -> Figures:
    looks, end = _lines(folder / "stdout")
    debt = _debt(folder)
    metrics = {**_amounts(looks), **debt}
    if end["since"] is not None:
        metrics["quiesce_seconds"] = float(end["since"])
    return Figures(metrics, _facts(looks, end), warnings=tuple(_warnings(looks[-1], end)))


def _lines(path: Path) -> tuple[list[Sequence[Thing]], Mapping[str, Any]]:
    looks: list[Sequence[Thing]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            said = json.loads(line)
        except ValueError:
            raise ParseError(f"stdout has a line that is no look: {line[:60]}") from None
        if "end" in said:
            return looks, said["end"]
        looks.append(said["look"]["seen"])
    raise ParseError("stdout ends before the last look: it has no line `end`")


def _amounts(looks: Sequence[Sequence[Thing]]) -> dict[str, float]:
    """Of what was first seen later (a rate needs two looks), the start is that later look."""
    first: dict[str, float] = {}
    for look in looks:
        for thing in look:
            first.setdefault(thing["what"], float(thing["value"]))
    last = {thing["what"]: float(thing["value"]) for thing in looks[-1]}
    return {**_named(first, START), **_named(last, END)}


def _named(values: Mapping[str, float], when: str) -> dict[str, float]:
    return {AMOUNTS[what].metric(when): value for what, value in values.items() if what in AMOUNTS}


def _debt(folder: Path) -> dict[str, float]:
    """Of an embedded RocksDB: from its statistics before and after; one that is held open has them among its errors."""
    paths = [path for path in (folder / OUTPUT, folder / ERRORS) if path.is_file()]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in paths]
    text = next(filter(engine_statistics.compaction_tables, texts), "")
    files = [_level0(table) for table in engine_statistics.compaction_tables(text)]
    pending = [float(size) for size in _PENDING.findall(text)]
    return {**_first_and_last("level 0 files", files), **_first_and_last("pending compaction bytes", pending)}


def _level0(table: Mapping[str, engine_statistics.Row]) -> float | None:
    """Of all files, those of no other level: one that is empty and had nothing to do is not listed."""
    total = _files(table.get("Sum", {}))
    others = [_files(row) for level, row in table.items() if re.fullmatch(r"L[1-9]\d*", level)]
    return None if total is None else total - sum(count for count in others if count is not None)


def _files(row: engine_statistics.Row) -> float | None:
    return engine_statistics.read_count(row.get("Files", "").partition("/")[0])


def _first_and_last(what: str, values: Sequence[float | None]) -> dict[str, float]:
    """Where the time was over first, there is no last."""
    pairs = zip((START, END), (*values[:1], *values[1:][-1:]), strict=False)
    return {AMOUNTS[what].metric(when): value for when, value in pairs if value is not None}


def _facts(looks: Sequence[Sequence[Thing]], end: Mapping[str, Any]) -> dict[str, str]:
    facts = {"at the start": _shown(looks[0]), "at the end": _shown(looks[-1]), "looks": str(len(looks))}
    return {**facts, "device": end["device"] or "none: no block device holds the database"}


def _shown(look: Sequence[Thing]) -> str:
    shown = (f"{thing['what']} {_amount(thing['value'], thing['unit'])}" for thing in look if thing["what"] not in OURS)
    return ", ".join(shown) or "nothing was looked at yet"


def _amount(value: float, unit: str) -> str:
    if unit.startswith("B"):
        return f"{size(value)}{unit[1:]}"
    number = f"{value:,.0f}" if value >= LARGE else f"{value:g}"
    return f"{number} %" if unit == "%" else number


def _warnings(last: Sequence[Thing], end: Mapping[str, Any]) -> Iterator[str]:
    """They travel with the report, and so with the figures of the steps after it."""
    yield from end.get("notes", ())  # of results from before it was held open
    if end["quiet"]:
        return
    why = "; ".join(busy(thing) for thing in last if not thing["idle"]) or "it was idle for too short a time"
    yield f"not quiet after {end['seconds']:.3g} s, what follows was measured all the same: {why}"


def busy(thing: Thing) -> str:
    if thing["what"] in OURS:
        return str(thing["what"])
    value, least = (_amount(thing[name], thing["unit"]) for name in ("value", "least"))
    return f"{thing['what']} {value} (idle at {least})"
