"""The LSM tree that a step of an embedded engine begins with, as its files tell it: kept where a server's word is."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from stepgrid.host.files import write_json
from stepgrid.plugins.engine import TreeReader
from stepgrid.run.server.server_statistics import BEFORE, FOLDER


def keep(engine: TreeReader, database: Path, step: Path) -> None:
    """What cannot be read or kept fails no step: it is missing."""
    with suppress(OSError, ValueError):
        if levels := engine.levels(database):
            (step / FOLDER).mkdir()
            write_json(step / FOLDER / f"{BEFORE}.json", {"levels": levels}, durable=False)
