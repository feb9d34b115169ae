"""Rows and columns as plain text, no wider than a page."""

from __future__ import annotations

from collections.abc import Sequence

WIDTH = 100
GAP = "  "


def grid(heads: Sequence[str], rows: Sequence[Sequence[str]], fixed: int, width: int = WIDTH) -> list[str]:
    """Columns beyond the width go into further blocks, each with the first `fixed` columns again.

    A text with nothing behind it in its row runs on over the other columns.
    """
    widths = [max(len(row[index]) for row in (heads, *rows) if _bounded(row, index)) for index in range(len(heads))]
    lines: list[str] = []
    for block in _blocks(widths, fixed, width):
        lines += [""] if lines else []
        lines += [_line(row, widths, block) for row in (heads, *rows)]
    return lines


def _bounded(row: Sequence[str], index: int) -> bool:
    return index == len(row) - 1 or any(row[index + 1 :])


def _blocks(widths: Sequence[int], fixed: int, width: int) -> list[list[int]]:
    first = list(range(fixed))
    blocks = [list(first)]
    for index in range(fixed, len(widths)):
        used = sum(widths[each] + len(GAP) for each in [*blocks[-1], index])
        if used > width and len(blocks[-1]) > fixed:
            blocks.append(list(first))
        blocks[-1].append(index)
    return blocks


def _line(row: Sequence[str], widths: Sequence[int], block: Sequence[int]) -> str:
    return ("  " + GAP.join(row[index].ljust(widths[index]) for index in block)).rstrip()
