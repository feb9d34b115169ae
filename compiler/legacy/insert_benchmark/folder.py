"""The files of a folder that hold results of the insert benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compiler.legacy import text
from compiler.legacy.fault import Faults
from compiler.legacy.insert_benchmark import outcome, probe, raw, steps, table
from compiler.legacy.insert_benchmark.merged import merged, short
from compiler.legacy.insert_benchmark.probe import Probe
from compiler.legacy.insert_benchmark.raw import Raw
from compiler.legacy.insert_benchmark.table import COLUMNS, Row, Table

SUMMARY, MERGED = "o.sum.t.", "mrg."


@dataclass(slots=True)
class Records:
    path: Path
    summaries: dict[str, Mapping[str, Row]] = field(default_factory=dict)  # tag -> step -> row
    merged: dict[Path, dict[str, Table]] = field(default_factory=dict)  # folder -> step -> table
    probes: dict[Path, Sequence[Probe]] = field(default_factory=dict)
    raw: dict[tuple[str, str], Raw] = field(default_factory=dict)  # tag, step

    @property
    def head(self) -> Sequence[str]:
        known = (table.head for tables in self.merged.values() for table in tables.values())
        return next(known, next((list(row.cells) for rows in self.summaries.values() for row in rows.values()), COLUMNS))


def read(folder: Path, faults: Faults) -> Records:
    found = Records(folder)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        _file(path, found, faults)
    return found


def _file(path: Path, found: Records, faults: Faults) -> None:
    name = text.plain(path.name)
    if name.startswith(SUMMARY):
        _summary(path, found, faults)
    elif name.startswith(MERGED) and _is_step(name.removeprefix(MERGED)):
        tables = found.merged.setdefault(path.parent, {})
        tables[name.removeprefix(MERGED)] = table.parse(text.read(path, faults) or "", path, faults)
    elif name.startswith(probe.PREFIX) and not name.endswith(probe.SORTED):
        found.probes[path] = probe.parse(text.read(path, faults) or "", path, faults)
    elif name.startswith(outcome.PREFIX) and (step := raw.read(path, faults)):
        found.raw[step.tag, step.step] = step


def _is_step(name: str) -> bool:
    return name.startswith("l.") or steps.asked(name) is not None


def _summary(path: Path, found: Records, faults: Faults) -> None:
    """The same file may be in two places: once beside the raw ones."""
    rows = table.parse(text.read(path, faults) or "", path, faults).known
    named = steps.names(len(rows))
    if rows and named is None:
        said = f"{len(rows)} rows, of which steps is not to be known: {steps.counts()} rows are"
        faults.add(path, None, said)
    elif rows:
        found.summaries.setdefault(rows[0].tag, dict(zip(named or (), rows, strict=False)))


def rows_of(found: Records, step: str) -> dict[str, Mapping[str, str]]:
    """A step's cells by the short tag, as they are merged."""
    rows = {tag: by_step[step] for tag, by_step in found.summaries.items() if step in by_step}
    return {short(tag): merged(row.cells) for tag, row in rows.items()}
