"""Headings of columns that are arms: by their names, or by numbers under a legend where these are too long."""

from __future__ import annotations

from collections.abc import Sequence

ROOM = 40  # characters that the names of all columns may take


def legend(names: Sequence[str], room: int = ROOM) -> tuple[list[str], tuple[str, ...]]:
    """The headings, and the lines above them."""
    if sum(len(name) + 2 for name in names) <= room:
        return list(names), ()
    heads = [f"col-{number}" for number in range(1, len(names) + 1)]
    return heads, tuple(f"{head} : {name}" for head, name in zip(heads, names, strict=True))
