"""Plain text, no wider than a page: figures to the right, and what names a row again where columns go on below."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from stepgrid.model.table import Cell, Table

WIDTH = 120
GAP = "  "
FEW = 3


def table(found: Table) -> str:
    return "\n".join([found.name, "-" * len(found.name), *lines(found)]) + "\n"


def lines(found: Table) -> Iterator[str]:
    """Without the title."""
    yield from (f"  {line}" for line in found.before)
    widths = _widths(found)
    for number, block in enumerate(_blocks(found, widths)):
        yield from ("",) if number else ()
        yield from _block(found, block, widths)
    for note in found.notes:
        yield from textwrap.wrap(note, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def _block(found: Table, block: Sequence[int], widths: Sequence[int]) -> Iterator[str]:
    yield _line([_head(found, index) for index in block], block, found, widths)
    for row in found.rows:
        if (said := found.lacking(row)) and len(said.text) <= _span(found, block, widths):
            yield _saying(said.text, row, block, found, widths)
        else:
            yield _line([row[index].text for index in block], block, found, widths)


def _line(texts: Sequence[str], block: Sequence[int], found: Table, widths: Sequence[int]) -> str:
    cells = [
        text.ljust(widths[index]) if found.columns[index].label else text.rjust(widths[index])
        for text, index in zip(texts, block, strict=True)
    ]
    return ("  " + GAP.join(cells)).rstrip()


def _saying(said: str, row: Sequence[Cell], block: Sequence[int], found: Table, widths: Sequence[int]) -> str:
    """Over all figures, once: before the labels to the right, behind them to the left."""
    span = _span(found, block, widths)
    labels = {index: row[index].text.ljust(widths[index]) for index in block if found.columns[index].label}
    parts: list[str] = []
    for index in block:
        if index in labels:
            parts.append(labels[index])
        elif said not in (part.strip() for part in parts):
            parts.append(said.rjust(span) if block[-1] in labels else said.ljust(span))
    return ("  " + GAP.join(parts)).rstrip()


def _span(found: Table, block: Sequence[int], widths: Sequence[int]) -> int:
    figures = [widths[index] for index in block if not found.columns[index].label]
    return sum(figures) + len(GAP) * (len(figures) - 1)


def _head(found: Table, index: int) -> str:
    column = found.columns[index]
    return f"{column.name} ({column.unit})" if column.unit else column.name


def _widths(found: Table) -> list[int]:
    """What stands over all figures does not count for theirs, unless they are too few for it."""
    few = sum(not column.label for column in found.columns) < FEW
    counting = found.rows if few else [row for row in found.rows if found.lacking(row) is None]
    return [
        max([len(_head(found, index)), *(len(row[index].text) for row in (found.rows if column.label else counting))])
        for index, column in enumerate(found.columns)
    ]


def _blocks(found: Table, widths: Sequence[int]) -> list[list[int]]:
    """Columns by page: the labels stand on each, where the table has them."""
    labels = [index for index, column in enumerate(found.columns) if column.label]
    room = WIDTH - sum(widths[index] + len(GAP) for index in labels)
    pages: list[list[int]] = [[]]
    for index in (index for index in range(len(found.columns)) if index not in labels):
        if pages[-1] and sum(widths[each] + len(GAP) for each in [*pages[-1], index]) > room:
            pages.append([])
        pages[-1].append(index)
    return [sorted([*labels, *page]) for page in pages]
