"""Markdown: a table as GitHub and most others show it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from stepgrid.model.table import Table

_MARKUP = re.compile(r"[\\`*|<>\[\]]|(?<![^\W_])_|_(?![^\W_])")  # within a word an underscore is none


def table(found: Table) -> str:
    return "\n".join(_parts(found)) + "\n"


def _parts(found: Table) -> Iterator[str]:
    if found.name:
        yield from (f"### {escaped(found.name)}", "")
    if found.before:
        yield from (*(f"{escaped(line)}  " for line in found.before), "")
    yield _row([escaped(column.head) for column in found.columns])
    yield _row(["---" if column.label else "---:" for column in found.columns])
    yield from (_row([escaped(cell.text) for cell in row]) for row in found.rows)
    if found.notes:
        yield from ("", *(f"{escaped(note)}  " for note in found.notes))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def escaped(text: str) -> str:
    """As it is: nothing of a label is markup."""
    return " ".join(_MARKUP.sub(r"\\\g<0>", text).split())
