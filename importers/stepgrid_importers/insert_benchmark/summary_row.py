"""A row of o.sum.t from a step's o.res by the published rules: of inserts in a load, of queries where there are any."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_DOWN, Decimal

from stepgrid_importers.insert_benchmark import steps
from stepgrid_importers.insert_benchmark.outcome import Cells, Outcome
from stepgrid_importers.insert_benchmark.table import COLUMNS, NONE
from stepgrid_importers.shared.awk import number

_SIX = Decimal("0.000001")  # the digits that bc keeps
KIB_OF_GIB = 1024 * 1024


def row(found: Outcome, step: str, tag: str, cores: int | None) -> dict[str, str]:
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
    lines: list[Mapping[str, str]] = list(found.processes)
    return f"{number(lines[0]['resident']) / KIB_OF_GIB:.1f}" if lines else NONE
