"""HTML: a table for the page, or to be put into another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape

from stepgrid.model.table import Cell, Column, Table

_BEGIN = '<div class="scroll"><table>\n<tbody>'  # without heads
_NUMBER = ' class="number"'


def table(found: Table) -> str:
    return "\n".join(_parts(found)) + "\n"


def grouped(tables: Sequence[Table]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Tables of one title under it: (what each is of, its HTML). A note below several of them stands once."""
    found: dict[str, list[tuple[str, str]]] = {}
    said: set[str] = set()
    for each in tables:
        notes = tuple(note for note in each.notes if note not in said)
        said |= set(notes)
        found.setdefault(each.title, []).append((each.block, body(replace(each, notes=notes))))
    return list(found.items())


def body(found: Table) -> str:
    """Without its name."""
    return "\n".join(_body(found)) + "\n"


def coded(text: str) -> str:
    """Safe to be shown; names in backquotes are set as code."""
    parts = [escape(part) for part in text.split("`")]
    if len(parts) % 2 == 0:  # a label has one of its own
        return escape(text)
    return "".join(f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts))


def _parts(found: Table) -> Iterator[str]:
    yield f'<section class="table"><h3>{escape(found.name)}</h3>'
    yield from _body(found)
    yield "</section>"


def _body(found: Table) -> Iterator[str]:
    if found.before:
        yield f'<p class="note">{"<br>".join(map(escape, found.before))}</p>'
    heads = "".join(map(_head, found.columns)) if any(column.name for column in found.columns) else ""
    begin = f'<div class="scroll"><table aria-label="{escape(found.name)}">\n<thead><tr>'
    yield f"{begin}{heads}</tr></thead>\n<tbody>" if heads else _BEGIN
    yield from (f"{tr}{''.join(_cells(found, row))}</tr>" for tr, row in zip(_begins(found), found.rows, strict=True))
    yield "</tbody></table></div>"
    yield from (f'<p class="note">{coded(note)}</p>' for note in found.notes)


def _begins(found: Table) -> Iterator[str]:
    """Where several rows have one first label, a line stands between these groups."""
    firsts = [row[0].text for row in found.rows]
    is_grouped = found.columns[:1] and found.columns[0].label and len(dict.fromkeys(firsts)) < len(firsts)
    for before, label in zip([None, *firsts], firsts, strict=False):
        yield '<tr class="next">' if is_grouped and before not in (None, label) else "<tr>"


def _head(column: Column) -> str:
    unit = f"<br><small>{escape(column.unit)}</small>" if column.unit else ""
    return f'<th scope="col"{_NUMBER if not column.label else ""}>{escape(column.name)}{unit}</th>'


def _cells(found: Table, row: tuple[Cell, ...]) -> Iterator[str]:
    """What stands for all figures of a row stands once."""
    said, span = found.lacking(row), sum(not column.label for column in found.columns)
    for cell, column in zip(row, found.columns, strict=True):
        if said is None or column.label:
            yield _cell(cell, column)
        elif span:
            yield _cell(cell, column).replace("<td", f'<td colspan="{span}"', 1)
            span = 0


def _cell(cell: Cell, column: Column) -> str:
    if column.label:
        return f"<th>{coded(cell.text)}</th>"
    kind = f" {cell.kind.replace(' ', '-')}" if cell.kind else ""
    ratio = f' data-v="{cell.value:.6g}"' if cell.verdict and cell.value is not None else ""
    return f'<td class="number{kind}"{ratio}>{escape(cell.text)}</td>'
