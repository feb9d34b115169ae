"""LinkBench: response times of its operations on nodes and on links, as published: p99, longest and mean."""

from __future__ import annotations

from collections.abc import Mapping

from stepgrid.model.table import Cell, Table, columns
from stepgrid.plugins.layout import Block, Layout, LayoutCell, fixed

NODES: Mapping[str, str] = {"an": "addnode", "un": "updatenode", "dn": "deletenode", "gn": "getnode"}
LINKS: Mapping[str, str] = {
    "al": "addlink", "dl": "deletelink", "ul": "updatelink", "cl": "countlink", "mg": "getlink", "gll": "getlinklist",
}  # fmt: skip
FIGURES: Mapping[str, tuple[str, int]] = {"9": ("p99_us", 2), "x": ("max_us", 1), "m": ("avg_us", 3)}
RATE = "qps"
MICROSECONDS = 1000  # of a millisecond
LEGEND = "milliseconds; 9: 99th percentile, x: longest, m: mean; ips: requests/s"


def tables(block: Block) -> list[Table]:
    parts = {"nodes": NODES, "links": LINKS}
    return [_table(block, part, operations) for part, operations in parts.items() if _is_asked(block, operations)]


def _is_asked(block: Block, operations: Mapping[str, str]) -> bool:
    """A load has none of them; of a step without any figures it is not known."""
    spots = [spot for spot in block.spots.values() if spot.values]
    return not spots or any(f"{name}_max_us" in spot.values for spot in spots for name in operations.values())


def metrics() -> tuple[str, ...]:
    return tuple(f"{name}_{figure}" for name in (*NODES.values(), *LINKS.values()) for figure, _ in FIGURES.values())


def _table(block: Block, part: str, operations: Mapping[str, str]) -> Table:
    heads = [f"{short}{mark}" for short in operations for mark in FIGURES]
    rows = ((*_cells(spot, operations), Cell(subject)) for subject, spot in block.subjects())
    legend = f"{LEGEND}; {', '.join(f'{short}: {name}' for short, name in operations.items())}"
    return block.table(columns(("ips", *heads), ["tag"]), rows, part, notes=(*block.notes, legend))


def _cells(spot: LayoutCell, operations: Mapping[str, str]) -> list[Cell]:
    rate = fixed(spot, spot.values.get(RATE), 0)
    return [rate, *(_time(spot, name, *figure) for name in operations.values() for figure in FIGURES.values())]


def _time(spot: LayoutCell, name: str, figure: str, digits: int) -> Cell:
    found = spot.values.get(f"{name}_{figure}")
    return fixed(spot, None if found is None else found / MICROSECONDS, digits)


LAYOUT = Layout("linkbench response times", tables, metrics=metrics())
