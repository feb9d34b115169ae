"""The tables of queries per second: qps.abs, qps.rel made of it, and .edit, as it went into a post."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from stepgrid_importers.shared import text_files
from stepgrid_importers.sysbench import names
from stepgrid_published.importer import Faults

ABSOLUTE, RELATIVE, EDIT = "qps.abs", "qps.rel", ".edit"

_COLUMN = re.compile(r"col-(?P<number>\d+) : (?P<name>\S(?:.*\S)?)")
_HEADS = re.compile(r"(?P<heads>col-1(?:\tcol-\d+)*)(?P<title>\s+(?:->\s*)?\D.*)?")  # a title names the rows below
_FIGURE = re.compile(r"\d+(?:\.\d+)?", re.ASCII)


class Row(Struct, frozen=True):
    name: str
    values: Sequence[float | None]  # by column
    line: int


class Section(Struct, frozen=True):
    """Rows below a line of heads."""

    title: str  # what stands behind the heads, with the space before it
    rows: list[Row]


class Table(Struct, frozen=True):
    path: Path
    columns: Sequence[str]  # directories
    sections: Sequence[Section]

    @property
    def rows(self) -> list[Row]:
        return [row for section in self.sections for row in section.rows]

    @property
    def name(self) -> str:
        """qps.abs.NAME.tsv, as somebody called it."""
        return self.path.name.removesuffix(".gz").removesuffix(".tsv").removeprefix(f"{ABSOLUTE}.")


def is_figure(cell: str) -> bool:
    return _FIGURE.fullmatch(cell) is not None


def is_table(name: str) -> bool:
    return name.startswith(f"{ABSOLUTE}.") and name.endswith(".tsv")


def parse(text: str, path: Path, faults: Faults) -> Table:
    columns: dict[str, str] = {}
    sections: list[Section] = []
    heads: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if match := _COLUMN.fullmatch(line):
            columns[f"col-{match['number']}"] = match["name"]
        elif match := _HEADS.fullmatch(line):
            heads = _heads(match["heads"].split("\t"), heads, columns, faults, (path, number, line))
            sections.append(Section(match["title"] or "", []))
        elif line and not heads:
            faults.add(path, number, "`col-1 : DIRECTORY`, or the head `col-1 …` was expected here", line)
        elif line:
            sections[-1].rows.extend(_row(line.split("\t"), len(heads), path, number, faults))
    if not any(section.rows for section in sections):
        faults.add(path, None, "a table of queries per second was expected: it has no rows")
    return Table(path, [columns[head] for head in heads if head in columns], sections)


def _heads(
    cells: list[str], before: list[str], columns: Mapping[str, str], faults: Faults, place: tuple[Path, int, str]
) -> list[str]:
    """Those of each section are the same."""
    path, number, line = place
    for head in cells:
        if head not in columns:
            faults.add(path, number, f"no line above says what `{head}` is (`{head} : DIRECTORY`)", line)
    if before and cells != before:
        faults.add(path, number, f"the heads `{before[0]}` to `{before[-1]}` were expected here, as above", line)
    return before or cells


def _row(cells: Sequence[str], columns: int, path: Path, number: int, faults: Faults) -> list[Row]:
    *values, name = (cell.strip() for cell in cells)
    line = "\t".join(cells)
    if len(values) != columns:
        faults.add(path, number, f"{columns} figures and the name of a test were expected here", line)
    elif names.row(name) is None:
        faults.add(path, number, f"`{name}` is no test: NAME_range=NUMBER was expected in the last column", line)
    elif wrong := [value for value in values if value and not is_figure(value)]:
        faults.add(path, number, f"`{wrong[0]}` is no figure", line)
    else:
        return [Row(name, [float(value) if value else None for value in values], number)]
    return []


def absolute(table: Table) -> str:
    """The table as the scripts print it."""
    lines = [*_columns(table.columns), *_sections(table, len(table.columns), _absolute)]
    return "\n".join(lines) + "\n"


def relative(table: Table) -> str:
    others = table.columns[1:]
    lines = [f"Relative to: {table.columns[0]}", *_columns(others), *_sections(table, len(others), _ratios)]
    return "\n".join(lines) + "\n"


def _sections(table: Table, columns: int, line: Callable[[Row, str], str]) -> Iterator[str]:
    for section in table.sections:
        yield from ("", _head(columns) + section.title, *(line(row, row.name) for row in section.rows))


def _absolute(row: Row, name: str) -> str:
    return "\t".join([*("" if value is None else f"{value:.0f}" for value in row.values), name])


def edited(table: Table) -> str:
    """In groups, with short names, and without what only warms up."""
    shown = [row for row in table.rows if not row.name.startswith(f"{names.SCAN}.warm")]
    short = names.short(row.name for row in shown)
    columns = [names.build(directory)[0] for directory in table.columns]
    lines = [f"Relative to: {columns[0]}", *_columns(columns[1:])]
    for number, title in enumerate(names.GROUPS):
        group = [row for row in shown if names.group(row.name) == number]
        if group:
            lines += ["", f"- {title}", _head(len(columns) - 1), *(_ratios(row, short[row.name]) for row in group)]
    return "\n".join(lines) + "\n"


def _columns(directories: Sequence[str]) -> Iterator[str]:
    return (f"col-{number} : {name}" for number, name in enumerate(directories, 1))


def _head(columns: int) -> str:
    return "\t".join(f"col-{number}" for number in range(1, columns + 1))


def _ratios(row: Row, name: str) -> str:
    base, *others = row.values
    return "\t".join([*("" if not base or value is None else f"{value / base:.2f}" for value in others), name])


# The tables of a folder, and which of them have other figures of the same runs

_TSV, _CSV = ".tsv", ".csv"


def read(folder: Path, faults: Faults) -> list[Table]:
    """A table that lies there as .csv as well is one."""
    files = {text_files.plain(path.name): path for path in sorted(folder.iterdir()) if path.is_file()}
    found = [table for name, path in files.items() if is_table(name) and (table := _table(path, faults))]
    for table in found:
        _check_columns(table, faults)
        if copy := files.get(text_files.plain(table.path.name).removesuffix(_TSV) + _CSV):
            _compare(copy, table, faults)
    return found


def _table(path: Path, faults: Faults) -> Table | None:
    content = text_files.read(path, faults)
    return None if content is None else parse(text_files.readable(content), path, faults)


def _compare(copy: Path, table: Table, faults: Faults) -> None:
    """A line that is not in the table is not understood."""
    known = {(row.name, *row.values) for row in table.rows}
    for number, line in enumerate(text_files.all_lines(text_files.read(copy, faults) or ""), 1):
        name, *cells = line.rstrip(",").split(",")
        if line and (name, *map(_figure, cells)) not in known:
            faults.add_unknown(copy, number, f"a row of {table.path.name} was expected", line)
    faults.add_left_out(copy, None, f"its figures are those of {table.path.name}: counted once")


def _figure(cell: str) -> float | str | None:
    return float(cell) if is_figure(cell) else cell or None


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
    return {name for values in seen.values() if len(values) > 1 for found in values.values() for name in found}


def figures(table: Table) -> Iterator[tuple[str, str, float]]:
    for row in table.rows:
        for directory, value in zip(table.columns, row.values, strict=False):
            if value is not None:
                yield directory, row.name, value
