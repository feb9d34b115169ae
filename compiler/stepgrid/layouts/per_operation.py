"""What an operation costs, by vmstat and iostat: absolute, and relative to the first result."""

from __future__ import annotations

from collections.abc import Mapping

from stepgrid.layouts.shared.base_row import base_row
from stepgrid.model import number_format
from stepgrid.model.table import Cell, Table, columns
from stepgrid.plugins.layout import ARMS, BASE, RANGE, STEP, Block, Layout, LayoutCell, cell, fixed

HEADS = ("cpu/o", "cs/o", "r/o", "rKB/o", "wKB/o", "o/s")
DIGITS = {"cpu/o": 6, "cs/o": 3, "o/s": 0}
LEGEND = (
    "cpu/o: CPU of the host in % / operations/s; cs/o, r/o: context switches and reads per operation",
    "rKB/o, wKB/o: KiB read and written per operation; o/s: operations/s",
)
_METRICS = (
    "qps", "host_cpu_user_pct", "host_cpu_system_pct", "host_cpu_busy_pct", "context_switches_per_s",
    "device_reads_per_s", "device_read_mb_per_s", "device_write_mb_per_s",
)  # fmt: skip


def tables(block: Block) -> list[Table]:
    subjects = block.subjects()
    heads = columns(HEADS, ["dbms"])
    absolute = ((*absolute_cells(spot), Cell(name)) for name, spot in subjects)
    base = _base(block, subjects)
    found = [block.table(heads, absolute, before=["--- absolute"], notes=(*block.notes, *LEGEND))]
    if base and len(subjects) > 1:
        rows = ((*_relative(spot, base[1]), Cell(name)) for name, spot in subjects if name != base[0])
        found.append(block.table(heads, rows, before=[f"--- relative to {base[0]}"]))
    return found


def _base(block: Block, subjects: list[tuple[str, LayoutCell]]) -> tuple[str, LayoutCell] | None:
    known = {name: spot for name, spot in subjects if not spot.status and spot.values}
    name = base_row(known, block.base)
    return None if name is None else (name, known[name])


def absolute_cells(spot: LayoutCell) -> list[Cell]:
    found = per_operation(spot.values)
    return [
        fixed(spot, found.get(head), DIGITS[head]) if head in DIGITS else cell(spot, _short(found.get(head)))
        for head in HEADS
    ]


def _short(value: float | None) -> str | None:
    """%.6g of a figure that is cut to three decimals: 0.000 is 0."""
    return None if value is None else f"{float(f'{value:.3f}'):.6g}"


def _relative(spot: LayoutCell, base: LayoutCell) -> list[Cell]:
    """Of the figures as they are shown: a thousandth of a read that is rounded away is none."""
    return [_ratio(spot, mine, theirs) for mine, theirs in zip(absolute_cells(spot), absolute_cells(base), strict=True)]


def _ratio(spot: LayoutCell, mine: Cell, theirs: Cell) -> Cell:
    if mine.kind or theirs.kind:
        return cell(spot, None)
    return Cell(number_format.ratio_to(float(mine.text), float(theirs.text)))


def per_operation(values: Mapping[str, float]) -> dict[str, float]:
    """By head; those whose figures are there. Published results may have user and system time together alone."""
    rate = values.get("qps")
    sums = {
        "cpu/o": ("host_cpu_busy_pct",)
        if "host_cpu_busy_pct" in values
        else ("host_cpu_user_pct", "host_cpu_system_pct"),
        "cs/o": ("context_switches_per_s",),
        "r/o": ("device_reads_per_s",),
        "rKB/o": ("device_read_mb_per_s",),
        "wKB/o": ("device_write_mb_per_s",),
    }
    if not rate:
        return {} if rate is None else {"o/s": rate}
    found = {
        head: sum(values[name] for name in names) * (1024 if "KB" in head else 1) / rate
        for head, names in sums.items()
        if all(name in values for name in names)
    }
    return {**found, "o/s": rate}


LAYOUT = Layout("per operation", tables, (BASE,), (), (STEP, RANGE, ARMS), _METRICS, compares=True)
