"""Plain text, no wider than a page: figures to the right, and what names a row again where columns go on below."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from compiler.layouts.table import Table

WIDTH = 100
GAP = "  "


def table(found: Table) -> str:
    return "\n".join([found.name, "-" * len(found.name), *lines(found)]) + "\n"


def lines(found: Table) -> Iterator[str]:
    """Without the title."""
    yield from (f"  {line}" for line in found.before)
    for number, block in enumerate(_blocks(found)):
        yield from ("",) if number else ()
        yield from _block(found, block)
    for note in found.notes:
        yield from textwrap.wrap(note, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def _block(found: Table, block: Sequence[int]) -> Iterator[str]:
    widths = _widths(found)
    yield _line([_head(found, index) for index in block], block, found, widths)
    for row in found.rows:
        yield _line([row[index].text for index in block], block, found, widths)


def _line(texts: Sequence[str], block: Sequence[int], found: Table, widths: Sequence[int]) -> str:
    cells = [
        text.ljust(widths[index]) if found.columns[index].label else text.rjust(widths[index])
        for text, index in zip(texts, block, strict=True)
    ]
    return ("  " + GAP.join(cells)).rstrip()


def _head(found: Table, index: int) -> str:
    column = found.columns[index]
    return f"{column.name} ({column.unit})" if column.unit else column.name


def _widths(found: Table) -> list[int]:
    return [
        max([len(_head(found, index)), *(len(row[index].text) for row in found.rows)])
        for index in range(len(found.columns))
    ]


def _blocks(found: Table) -> list[list[int]]:
    """Columns by page: the labels stand on each, where the table has them."""
    widths = _widths(found)
    labels = [index for index, column in enumerate(found.columns) if column.label]
    room = WIDTH - sum(widths[index] + len(GAP) for index in labels)
    pages: list[list[int]] = [[]]
    for index in (index for index in range(len(found.columns)) if index not in labels):
        if pages[-1] and sum(widths[each] + len(GAP) for each in [*pages[-1], index]) > room:
            pages.append([])
        pages[-1].append(index)
    return [sorted([*labels, *page]) for page in pages]
