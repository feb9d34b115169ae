"""Raw files as text: plain or gzipped, as the scripts leave them."""

from __future__ import annotations

from pathlib import Path

from stepgrid.plugins import driver
from stepgrid.plugins.driver import GZ
from stepgrid_published.importer import Faults


def read(path: Path, faults: Faults) -> str | None:
    """None for one that cannot be read, or is refused. Lines may end as on Windows.

    A byte that is no UTF-8 is a surrogate, so that it can be written again.
    """
    faults.read.add(path)
    if faults.refuses(path):
        return None
    try:
        content = driver.read_output(path)
    except OSError as error:
        faults.add(path, None, f"cannot be read: {error}")
        return None
    return content.replace(b"\r\n", b"\n").decode("utf-8", errors="surrogateescape")


def readable(text: str) -> str:
    """Without surrogates, which no result can hold."""
    return text.encode("utf-8", errors="surrogateescape").decode("utf-8", errors="replace")


def plain(name: str) -> str:
    """What a file is called without its compression."""
    return name.removesuffix(GZ)


def unfinished(text: str) -> str:
    """What stands behind the last end of a line."""
    return text[text.rfind("\n") + 1 :]


def all_lines(text: str) -> list[str]:
    """Of a table, whose last line may lack its end: half a one has too few cells, and is told."""
    return [*lines(text), *filter(None, [unfinished(text)])]


def lines(text: str) -> list[str]:
    """The whole ones: half a line, of an output that was cut off, can end in half a number."""
    return text[: text.rfind("\n") + 1].split("\n")[:-1]
