"""mrg.STEP: a step's row of every configuration; and rel.STEP: what each is of the first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from stepgrid_importers.insert_benchmark.table import NONE, TAG
from stepgrid_importers.shared.awk import number

Cells = Mapping[str, str]

_WHOLE = 3  # the first columns, of which no fraction is kept
_SIZE, _WIDE = "dbgb2", 10.0  # from which on it has one decimal
_ROWS = re.compile(r"\d+m\.")


def short(tag: str) -> str:
    """Without how many million rows there were: `20m.rx80.cx6a`."""
    return _ROWS.sub("", tag)


def merged(cells: Cells) -> dict[str, str]:
    found = {name: f"{number(cell):.0f}" if at < _WHOLE else cell for at, (name, cell) in enumerate(cells.items())}
    if number(cells.get(_SIZE, "")) >= _WIDE:
        found[_SIZE] = f"{number(cells[_SIZE]):.1f}"
    return {**found, TAG: short(cells[TAG])}


def relative(rows: Sequence[Cells | None]) -> Iterator[Cells | None]:
    """None is a break: a new group, with a base of its own."""
    base: Cells | None = None
    for row in rows:
        if row is None:
            yield None
        elif base is not None:
            yield {name: cell if name == TAG else ratio(cell, base[name]) for name, cell in row.items()}
        base = None if row is None else base or row


def ratio(cell: str, base: str) -> str:
    """What was nothing and still is stands as 1."""
    if NONE in (cell, base):
        return NONE
    mine, theirs = number(cell), number(base)
    if theirs == 0:
        return "1" if mine == 0 else "inf"
    return f"{mine / theirs:.2f}"
