"""The files of a folder that hold results of the insert benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from stepgrid_importers.insert_benchmark import raw_files, steps, tables
from stepgrid_importers.insert_benchmark.raw_files import RawRun
from stepgrid_importers.insert_benchmark.tables import Probe, Row, Table
from stepgrid_importers.shared import text_files
from stepgrid_published.importer import Faults

SUMMARY, MERGED = "o.sum.t.", "mrg."


class Records(Struct):
    path: Path
    summaries: dict[str, Mapping[str, Row]] = {}  # tag -> step -> row
    merged: dict[Path, dict[str, Table]] = {}  # folder -> step -> table
    probes: dict[Path, Sequence[Probe]] = {}
    raw: dict[tuple[str, str], RawRun] = {}  # tag, step


def read(folder: Path, faults: Faults) -> Records:
    found = Records(folder)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        _file(path, found, faults)
    return found


def _file(path: Path, found: Records, faults: Faults) -> None:
    name = text_files.plain(path.name)
    if name.startswith(SUMMARY):
        _summary(path, found, faults)
    elif name.startswith(MERGED) and steps.known(name.removeprefix(MERGED)):
        table = tables.parse_table(text_files.read(path, faults) or "", path, faults)
        found.merged.setdefault(path.parent, {})[name.removeprefix(MERGED)] = table
    elif name.startswith(tables.PROBES) and not name.endswith(tables.SORTED):
        found.probes[path] = tables.parse_probes(text_files.read(path, faults) or "", path, faults)
    elif name.startswith(raw_files.OUTCOME):
        _raw(path, found, faults)


def _raw(path: Path, found: Records, faults: Faults) -> None:
    step = path.parent.name
    if not steps.known(step):
        faults.add(path, None, f"its folder is {step}, which is no step: l.i0, l.x, l.i1, … q1000.1 are")
    elif one := raw_files.read(path, faults):
        first = found.raw.setdefault((one.tag, one.step), one)
        if first is not one:
            said = f"{one.step} of {one.tag} has another result, {first.outcome.path.name}: one may not stand for both"
            faults.add(path, None, said)


def _summary(path: Path, found: Records, faults: Faults) -> None:
    """The same file may be in two places: once beside the raw ones."""
    rows = tables.parse_table(text_files.read(path, faults) or "", path, faults).known
    named = steps.names(len(rows))
    if rows and named is None:
        said = f"{len(rows)} rows, of which steps is not to be known: {steps.counts()} rows are"
        faults.add(path, None, said)
    elif rows:
        first = found.summaries.setdefault(rows[0].tag, dict(zip(named or (), rows, strict=False)))
        _same(list(first.values()), rows, faults)


def _same(first: Sequence[Row], rows: Sequence[Row], faults: Faults) -> None:
    if [row.cells for row in first] != [row.cells for row in rows]:
        said = f"{rows[0].tag} has other figures in {first[0].path}: one may not stand for both"
        faults.add(rows[0].path, None, said)
