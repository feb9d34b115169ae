"""Plain text, no wider than a page: what names a row stands again where columns go on below."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from stepgrid.host.terminal_output import INDENT, WIDTH, wrap
from stepgrid.model.table import Cell, Column, Table

SENTENCES = 100
GAP = "  "
FEW = 3


def table(found: Table) -> str:
    title = (found.name, "-" * len(found.name)) if found.name else ()
    return "".join(f"{line}\n" for line in (*title, *lines(found)))


def lines(found: Table, indent: str = INDENT, width: int = WIDTH) -> Iterator[str]:
    """Without the title."""
    yield from (f"{indent}{line}" for line in found.before)
    widths = _widths(found)
    for number, page in enumerate(_pages(found, widths, width)):
        yield from ("",) if number else ()
        columns = [found.columns[index] for index in page]
        room = [widths[index] for index in page]
        yield _line((column.head for column in columns), columns, room, indent)
        for row in found.rows:
            yield _row([row[index] for index in page], found.lacking(row), columns, room, indent)
    for note in found.notes:
        yield from wrap(note, indent, f"{indent}  ", width)


def aligned(rows: Iterable[Sequence[str]], indent: str = INDENT, right: Collection[int] = ()) -> Iterator[str]:
    """Rows that have no heads; the columns of these numbers stand to the right."""
    listed = list(rows)
    widths = [max(map(len, column)) for column in zip(*listed, strict=True)]
    columns = [Column("", is_text=index not in right) for index in range(len(widths))]
    yield from (_line(row, columns, widths, indent) for row in listed)


def _line(texts: Iterable[str], columns: Sequence[Column], widths: Sequence[int], indent: str) -> str:
    cells = (
        text.ljust(width) if column.label or column.is_text else text.rjust(width)
        for text, column, width in zip(texts, columns, widths, strict=True)
    )
    return (indent + GAP.join(cells)).rstrip()


def _row(row: Sequence[Cell], said: Cell | None, columns: Sequence[Column], widths: Sequence[int], indent: str) -> str:
    """What is said of all figures stands over them once: before the labels to the right, behind them to the left."""
    figures = [index for index, column in enumerate(columns) if not column.label]
    span = sum(widths[index] + len(GAP) for index in figures) - len(GAP)
    before = columns[-1].label
    if said is None or not figures or (before and len(said.text) > span):
        return _line((cell.text for cell in row), columns, widths, indent)
    over = Column("", is_text=not before)
    shown = [*range(figures[0] + 1), *range(figures[-1] + 1, len(columns))]
    return _line(
        (said.text if index == figures[0] else row[index].text for index in shown),
        [over if index == figures[0] else columns[index] for index in shown],
        [span if index == figures[0] else widths[index] for index in shown],
        indent,
    )


def _widths(found: Table) -> list[int]:
    """What stands over all figures does not count for theirs, unless they are too few for it."""
    few = sum(not column.label for column in found.columns) < FEW
    counting = found.rows if few else [row for row in found.rows if found.lacking(row) is None]
    return [
        max([len(column.head), *(len(row[index].text) for row in (found.rows if column.label else counting))])
        for index, column in enumerate(found.columns)
    ]


def _pages(found: Table, widths: Sequence[int], width: int) -> list[list[int]]:
    """Columns by page: the labels stand on each, where the table has them."""
    labels = [index for index, column in enumerate(found.columns) if column.label]
    room = width - sum(widths[index] + len(GAP) for index in labels)
    pages: list[list[int]] = [[]]
    for index in (index for index in range(len(found.columns)) if index not in labels):
        if pages[-1] and sum(widths[each] + len(GAP) for each in [*pages[-1], index]) > room:
            pages.append([])
        pages[-1].append(index)
    return [sorted([*labels, *page]) for page in pages]
