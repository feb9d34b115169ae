"""What the stages of two plans that are compared differ by: field by field, with the number of cells it is true of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from stepgrid.model.plan import Header
from stepgrid.model.units import counted
from stepgrid.plan import difference
from stepgrid.plan.difference import differences
from stepgrid.summarize.side_by_side.matching_cells import Match
from stepgrid.summarize.side_by_side.result_set import ResultSet

MOST_DIFFERENCES, MOST_CELLS = 12, 200  # differences that are told, cells that are looked at


def sentences(first: ResultSet, second: ResultSet, match: Match) -> Iterator[str]:
    """`params.keys: 1000 -> 2000 (4 of 6 cells)`"""
    yield from match.differs
    keys = match.common[:MOST_CELLS]
    chains = [_chains(side.header) for side in (first, second)]
    found: Counter[str] = Counter()
    for key in keys:
        old, new = chains[0][match.first[key]], chains[1][match.second[key]]
        if old != new:
            found.update(map(difference.input_text, differences(first.links(old), second.links(new))))
    for text, cells in list(found.items())[:MOST_DIFFERENCES]:
        yield text if cells == len(keys) else f"{text} ({cells} of {counted(len(keys), 'cell')})"
    if len(found) > MOST_DIFFERENCES:
        yield f"and {len(found) - MOST_DIFFERENCES} more inputs"


def _chains(header: Header) -> dict[str, Sequence[str]]:
    """Of the first load of each cell, its stages."""
    return {cell.id: cell.repeats[0].stages for cell in header.cells}
