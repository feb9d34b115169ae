"""A published sb.met as figures of a run, where the output of iostat or vmstat that it is made of was not published."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from stepgrid.plugins.importer import Faults
from stepgrid_importers.shared import text_files
from stepgrid_importers.shared.iostat import KIB

Cells = Mapping[str, str]  # by head, as they stand

RATE = "o/s"
NOTE = "figures of sb.met, rounded as it prints them; CPU and context switches count vmstat's banner lines"

_NUMBER = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_DISK: Mapping[str, tuple[str, str, float]] = {  # metric -> column per second, column per operation, one of it in ours
    "device_reads_per_s": ("r/s", "r/o", 1),
    "device_read_mb_per_s": ("rMB/s", "rKB/o", 1 / KIB),
    "device_writes_per_s": ("w/s", "", 1),
    "device_write_mb_per_s": ("wMB/s", "wKB/o", 1 / KIB),
}
_HOST: Mapping[str, tuple[str, str, float]] = {
    "context_switches_per_s": ("cs/s", "cs/o", 1),
    "host_cpu_busy_pct": ("cpu/s", "cpu/o", 1),
}
_PER_OPERATION: Mapping[str, tuple[str, float]] = {
    "reads_per_op": ("device_reads_per_s", 1),
    "read_kb_per_op": ("device_read_mb_per_s", KIB),
    "writes_per_op": ("device_writes_per_s", 1),
    "write_kb_per_op": ("device_write_mb_per_s", KIB),
    "context_switches_per_op": ("context_switches_per_s", 1),
}


def parse(text: str, path: Path, faults: Faults) -> Cells:
    """Each line of heads, and the cells of the line below it."""
    found: dict[str, str] = {}
    lines = text_files.all_lines(text)
    for at, line in enumerate(lines):
        if line.startswith("samp"):
            heads, cells = line.split(), lines[at + 1].split() if at + 1 < len(lines) else []
            found |= _cells(heads, cells, faults, (path, at + 2, "\t".join(cells)))
    if RATE not in found:
        faults.add_unknown(path, None, f"a line of heads with {RATE}, and figures below it were expected")
    return found


def _cells(heads: list[str], cells: list[str], faults: Faults, place: tuple[Path, int, str]) -> Cells:
    if len(cells) == len(heads) and all(map(is_number, cells)):
        return dict(zip(heads, cells, strict=True))
    faults.add_unknown(
        place[0], place[1], f"{len(heads)} figures were expected here, as the head above names them", place[2]
    )
    return {}


def is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell) is not None


def disk(cells: Cells) -> dict[str, float]:
    return dict(_figures(cells, _DISK))


def host(cells: Cells) -> dict[str, float]:
    return dict(_figures(cells, _HOST))


def per_operation(metrics: Mapping[str, float], rate: float) -> dict[str, float]:
    """By the operations that our `qps` counts: of a scan sb.met counts thousands of rows."""
    return {
        name: metrics[per_second] * unit / rate
        for name, (per_second, unit) in _PER_OPERATION.items()
        if rate and per_second in metrics
    }


def _figures(cells: Cells, columns: Mapping[str, tuple[str, str, float]]) -> Iterator[tuple[str, float]]:
    """Of the two columns that tell a rate the one that is rounded less."""
    rate = float(cells.get(RATE, "0"))
    for metric, (per_second, per_operation_, unit) in columns.items():
        found = [(_half_a_digit(cells[per_second]), float(cells[per_second]))] if per_second in cells else []
        if rate and per_operation_ in cells:
            factor = rate * unit
            found.append((_half_a_digit(cells[per_operation_]) * factor, float(cells[per_operation_]) * factor))
        if found:
            yield metric, min(found)[1]


def _half_a_digit(cell: str) -> float:
    decimals = len(cell.partition(".")[2])
    return 0.5 / float(10**decimals)
