"""The tables of queries per second in a folder, and which of them have other figures of the same runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from stepgrid.plugins.importer import Faults
from stepgrid_importers.shared import text_files
from stepgrid_importers.sysbench import names, qps
from stepgrid_importers.sysbench.qps import Table

_TSV, _CSV = ".tsv", ".csv"


def read(folder: Path, faults: Faults) -> list[Table]:
    """A table that lies there as .csv as well is one."""
    files = {text_files.plain(path.name): path for path in sorted(folder.iterdir()) if path.is_file()}
    found = [table for name, path in files.items() if qps.is_table(name) and (table := _table(path, faults))]
    for table in found:
        _check_columns(table, faults)
        if copy := files.get(text_files.plain(table.path.name).removesuffix(_TSV) + _CSV):
            _compare(copy, table, faults)
    return found


def _table(path: Path, faults: Faults) -> Table | None:
    content = text_files.read(path, faults)
    return None if content is None else qps.read(text_files.readable(content), path, faults)


def _compare(copy: Path, table: Table, faults: Faults) -> None:
    """A line that is not in the table is not understood."""
    known = {(row.name, *row.values) for row in table.rows}
    for number, line in enumerate(text_files.all_lines(text_files.read(copy, faults) or ""), 1):
        name, *cells = line.rstrip(",").split(",")
        if line and (name, *map(_figure, cells)) not in known:
            faults.add_unknown(copy, number, f"a row of {table.path.name} was expected", line)
    faults.add_left_out(copy, None, f"its figures are those of {table.path.name}: counted once")


def _figure(cell: str) -> float | str | None:
    return float(cell) if qps.is_figure(cell) else cell or None


def _check_columns(table: Table, faults: Faults) -> None:
    """Directories that differ in their primary key alone are one build, which has one figure of a test."""
    first: dict[str, str] = {}
    for directory in table.columns:
        build = names.build(directory)[0]
        if (other := first.setdefault(build, directory)) != directory:
            said = f"{other} and {directory} are both {build}: import one of them at a time"
            faults.add(table.path, None, said)


def disagreeing(tables: Sequence[Table]) -> set[str]:
    """Names of those that have another figure of a run than another one: each is of an experiment of its own."""
    seen: dict[tuple[str, str], dict[float, list[str]]] = {}
    for table in tables:
        for directory, test, value in figures(table):
            seen.setdefault((directory, test), {}).setdefault(value, []).append(table.name)
    several = (names for values in seen.values() if len(values) > 1 for names in values.values())
    return {name for found in several for name in found}


def figures(table: Table) -> Iterator[tuple[str, str, float]]:
    for row in table.rows:
        for directory, value in zip(table.columns, row.values, strict=False):
            if value is not None:
                yield directory, row.name, value
