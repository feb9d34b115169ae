"""Rows of metrics by configuration and step: from a summary, from raw files where there is none, else from a merge."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_DOWN, Decimal
from pathlib import Path
from typing import NamedTuple

from stepgrid_importers.insert_benchmark import steps
from stepgrid_importers.insert_benchmark.folder import Records
from stepgrid_importers.insert_benchmark.raw_files import Cells, Outcome, RawRun
from stepgrid_importers.insert_benchmark.tables import COLUMNS, NONE, merged, short
from stepgrid_importers.shared.awk import number


class Sum(NamedTuple):
    tag: str
    step: str
    cells: Cells
    path: Path
    line: int | None
    raw: RawRun | None = None


def summaries(found: Records) -> dict[str, dict[str, Cells]]:
    """By tag and step, as o.sum.t has them."""
    said: dict[str, dict[str, Cells]] = {
        tag: {step: row.cells for step, row in rows.items()} for tag, rows in found.summaries.items()
    }
    for (tag, step), raw in sorted(found.raw.items(), key=lambda item: (item[0][0], steps.order(item[0][1]))):
        if tag not in found.summaries:
            said.setdefault(tag, {})[step] = summary_row(raw.outcome, step, tag, raw.cores)
    return said


def sums(found: Records) -> list[Sum]:
    """Tags as tables have them, their steps in order; a row that only a merge has is of that."""
    each = [_sum(found, tag, step, cells) for tag, rows in summaries(found).items() for step, cells in rows.items()]
    known = {(short(one.tag), one.step) for one in each}
    each += [one for one in _only_merged(found) if (one.tag, one.step) not in known]
    order = {tag: at for at, tag in enumerate(tags(found))}
    return sorted(each, key=lambda one: (order.get(short(one.tag), len(order)), steps.order(one.step)))


def tags(found: Records) -> list[str]:
    """Short ones: as merges have them, then the others."""
    said = (row.tag for tables in found.merged.values() for table in tables.values() for row in table.known)
    return list(dict.fromkeys((*said, *(short(tag) for tag in summaries(found)))))


def by_short_tag(found: Records, step: str) -> dict[str, Cells]:
    """A step's rows as they are merged."""
    return {short(tag): merged(rows[step]) for tag, rows in summaries(found).items() if step in rows}


def head(found: Records) -> Sequence[str]:
    known = [table.head for tables in found.merged.values() for table in tables.values()]
    known += [list(cells) for rows in summaries(found).values() for cells in rows.values()]
    return known[0] if known else COLUMNS


def clients(each: Sequence[Sum], tag: str) -> int | None:
    return steps.clients([(one.step, number(one.cells["ips"])) for one in each if short(one.tag) == short(tag)])


def _sum(found: Records, tag: str, step: str, cells: Cells) -> Sum:
    row, raw = found.summaries.get(tag, {}).get(step), found.raw.get((tag, step))
    if row:
        return Sum(tag, step, cells, row.path, row.line, raw)
    return Sum(tag, step, cells, raw.outcome.path if raw else found.path, None, raw)


def _only_merged(found: Records) -> list[Sum]:
    return [
        Sum(row.tag, step, row.cells, row.path, row.line)
        for tables in found.merged.values()
        for step, table in tables.items()
        for row in table.known
    ]


# A row of o.sum.t from a step's o.res by the published rules: of inserts in a load, of queries where there are any.

_SIX = Decimal("0.000001")  # the digits that bc keeps
KIB_OF_GIB = 1024 * 1024


def summary_row(found: Outcome, step: str, tag: str, cores: int | None) -> dict[str, str]:
    """`cores`: of the server's host; the script is told them, and no file of its own says them."""
    query = steps.asked(step) is not None
    of, rows = found.normalized.get("query" if query else "insert", {}), found.normalized.get("insert", {})
    cells = {**_rates(found, query), **_devices(of, rows, "q" if query else "i")}
    cells |= _processors(found, of, query, cores)
    cells |= {"dbgb1": _size(found, "dbGB"), "dbgb2": _size(found, "dbdirGB"), "rss": _resident(found), "tag": tag}
    return {name: cells[name] for name in COLUMNS}


def _rates(found: Outcome, query: bool) -> dict[str, str]:
    kind = "query" if query else "insert"
    return {
        "ips": f"{number(found.first['ips']):.0f}",
        "qps": f"{number(found.first['qps']):.0f}" if query else "0",
        "maxop": found.longest.get(kind.capitalize(), ""),
        **{name: found.rates.get(of, {}).get(kind, "") for name, of in (("p50", "50"), ("p99", "99"))},
    }


def _devices(of: Cells, rows: Cells, per: str) -> dict[str, str]:
    """What is written is always per row."""
    said = {"rps": "r/s", "rmbps": "rMB/s", "wps": "w/s", "wmbps": "wMB/s", "rpq": f"r/{per}", "rkbpq": f"rKB/{per}"}
    return {
        **{name: of.get(head, "") for name, head in said.items()},
        "wpi": rows.get("w/i", ""),
        "wkbpi": rows.get("wKB/i", ""),
    }


def _processors(found: Outcome, of: Cells, query: bool, cores: int | None) -> dict[str, str]:
    rate, seconds = found.first["qps" if query else "ips"], found.first["seconds"]
    return {
        "csps": of.get("cs/s", ""),
        "cpups": of.get("cpu/s", ""),
        "cspq": of.get("cs/q", ""),
        "cpupq": _per_operation(of.get("cpu/s", ""), rate, seconds, cores),
    }


def _per_operation(busy: str, rate: str, seconds: str, cores: int | None) -> str:
    """Microseconds. The seconds of all cores are rounded to a tenth on the way."""
    if not busy or not cores or not number(rate) or not number(seconds):
        return NONE
    total = _cut(Decimal(busy) / 100) * Decimal(seconds) * cores
    return f"{float(_cut(Decimal(f'{float(total):.1f}') * 1_000_000 / (Decimal(rate) * Decimal(seconds)))):.0f}"


def _cut(value: Decimal) -> Decimal:
    return value.quantize(_SIX, ROUND_DOWN)


def _size(found: Outcome, what: str) -> str:
    return f"{number(found.sizes[what]):.1f}" if what in found.sizes else ""


def _resident(found: Outcome) -> str:
    return f"{number(found.processes[0]['resident']) / KIB_OF_GIB:.1f}" if found.processes else NONE
