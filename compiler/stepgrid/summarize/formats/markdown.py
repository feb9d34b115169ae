"""Markdown: a table as GitHub and most others show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stepgrid.model.table import Column, Table


def table(found: Table) -> str:
    return "\n".join(_parts(found)) + "\n"


def _parts(found: Table) -> Iterator[str]:
    yield from (f"### {_escaped(found.name)}", "")
    if found.before:
        yield from (*(f"{_escaped(line)}  " for line in found.before), "")
    yield _row([_head(column) for column in found.columns])
    yield _row(["---" if column.label else "---:" for column in found.columns])
    yield from (_row([_escaped(cell.text) for cell in row]) for row in found.rows)
    if found.notes:
        yield from ("", *(f"{_escaped(note)}  " for note in found.notes))


def _head(column: Column) -> str:
    return _escaped(f"{column.name} ({column.unit})" if column.unit else column.name)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """As it is: nothing of a label is markup."""
    for sign in "\\`*_|<>[]":
        text = text.replace(sign, f"\\{sign}")
    return text
