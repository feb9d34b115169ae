"""HTML: a table for the page, or to be put into another one."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from compiler.layouts.table import Cell, Column, Table

_NUMBER = ' class="number"'


def table(found: Table) -> str:
    return "\n".join(_parts(found)) + "\n"


def body(found: Table) -> str:
    """Without its name."""
    return "\n".join(list(_parts(found))[1:-1]) + "\n"


def _parts(found: Table) -> Iterator[str]:
    yield f'<section class="table"><h3>{escape(found.name)}</h3>'
    if found.before:
        yield f'<p class="note">{"<br>".join(map(escape, found.before))}</p>'
    yield f'<div class="scroll"><table>\n<thead><tr>{"".join(map(_head, found.columns))}</tr></thead>\n<tbody>'
    for row in found.rows:
        cells = [_cell(cell, column) for cell, column in zip(row, found.columns, strict=True)]
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table></div>"
    yield from (f'<p class="note">{escape(note)}</p>' for note in found.notes)
    yield "</section>"


def _head(column: Column) -> str:
    unit = f"<br><small>{escape(column.unit)}</small>" if column.unit else ""
    return f"<th{_NUMBER if not column.label else ''}>{escape(column.name)}{unit}</th>"


def _cell(cell: Cell, column: Column) -> str:
    if column.label:
        return f"<th>{escape(cell.text)}</th>"
    kind = f" {cell.kind.replace(' ', '-')}" if cell.kind else ""
    return f'<td class="number{kind}">{escape(cell.text)}</td>'
