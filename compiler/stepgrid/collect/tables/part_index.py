"""Which results are in which part of a plan's tables, and whether they are still what was read.

A part is known by its number: the first is NAME.parquet, the others NAME.1.parquet …
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

from stepgrid.collect.figures.metrics_cache import REVISION, parser
from stepgrid.collect.tables.part import FIGURES, PARTS
from stepgrid.host.durable_writes import write_text
from stepgrid.model import result_schema
from stepgrid.model.plan import PlannedStage

FILE = "parts.json"
HIDDEN = "parts"  # the folder of what is no table by itself
_WITHIN = ("attempts", FIGURES)


class Entry(NamedTuple):
    """A result, as it was when it was read, and who read it."""

    attempt: str
    changed: int
    parsers: str


@dataclass
class PartFile:
    """A part: the stages whose results are in it."""

    number: int
    rows: int
    results: dict[str, Entry] = field(default_factory=dict)


def read(folder: Path) -> list[PartFile]:
    """Nothing where another version of the tables is, or none."""
    try:
        raw = json.loads((folder / FILE).read_text(encoding="utf-8"))
        if raw["made"] != _made():
            return []
        return [
            PartFile(part["number"], part["rows"], {stage: Entry(*entry) for stage, entry in part["results"].items()})
            for part in raw["parts"]
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def write(folder: Path, parts: Sequence[PartFile]) -> None:
    write_text(folder / FILE, json.dumps({"made": _made(), "parts": [asdict(part) for part in parts]}))


def drop(folder: Path) -> None:
    """From here on the parts are being changed."""
    with suppress(FileNotFoundError):
        (folder / FILE).unlink()


def entry(stage: PlannedStage, result: Path) -> Entry | None:
    """None where it is not whole."""
    kinds = sorted({step.kind for step in stage.steps})
    try:
        changed = max(os.stat(path).st_ctime_ns for path in _records(f"{result}"))  # noqa: PTH116
    except OSError:
        return None
    return Entry(result.name, changed, ",".join(f"{kind}.{parser(kind)}" for kind in kinds))


def _records(result: str) -> Iterator[str]:
    """What says that a result is another one than it was: results are not changed, but a hand may do it."""
    yield from (f"{result}/result.json", f"{result}/steps")
    if os.path.exists(attempt := f"{result}/attempt.json"):  # noqa: PTH110 - of 10,000
        yield attempt
    with os.scandir(f"{result}/steps") as entries:
        yield from (path for entry in entries if os.path.exists(path := f"{entry.path}/step.json"))  # noqa: PTH110


def sweep(folder: Path, parts: Iterable[PartFile]) -> None:
    """Removes the files of parts that are not listed: a collect that was killed left them."""
    known = {path for part in parts for path in paths(folder, part.number).values()}
    for table, first in paths(folder, 0).items():
        for path in (first, *first.parent.glob(f"{table}.[0-9]*.parquet")):
            if path not in known:
                path.unlink(missing_ok=True)


def paths(folder: Path, number: int) -> dict[str, Path]:
    """By table."""
    tables = (*PARTS, FIGURES)
    return {name: (folder / HIDDEN if name in _WITHIN else folder) / file_name(name, number) for name in tables}


def file_name(table: str, number: int) -> str:
    return f"{table}.{number}.parquet" if number else f"{table}.parquet"


def files(folder: Path, table: str, parts: Iterable[PartFile]) -> list[Path]:
    return [paths(folder, part.number)[table] for part in parts]


def _made() -> str:
    """By what: another one's parts are read again."""
    shapes: Mapping[str, object] = {name: list(types.items()) for name, types in PARTS.items()}
    text = json.dumps([result_schema.SCHEMA, REVISION, shapes])
    return hashlib.sha256(text.encode()).hexdigest()[:16]
