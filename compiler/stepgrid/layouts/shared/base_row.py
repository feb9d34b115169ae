"""Which row the others of a table are held to: the base that the table names, else the first one with figures."""

from __future__ import annotations

from collections.abc import Iterable


def base_row(names: Iterable[str], base: str | None) -> str | None:
    """`names`: of the rows that have figures."""
    known = list(names)
    return next((name for name in known if is_base(name, base)), next(iter(known), None))


def is_base(name: str, base: str | None) -> bool:
    """A row of one axis is called by its label alone, one of several without commas."""
    return base is not None and (name == base.replace(", ", " ") or base.endswith(f"={name}"))
