"""Figures that somebody published of an experiment: the tables of `published/NAME.yaml` beside a spec `NAME.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from stepgrid.language.files import TooLargeError, head
from stepgrid.language.problems import Problems
from stepgrid.language.validation import Label, Model, Title, validate
from stepgrid.language.yaml import load
from stepgrid.model.units import size

FOLDER = "published"
METRIC = "metric"  # of `rows` or `columns`: the figures there are of different metrics
MOST_BYTES = 4 << 20  # of a published file
LONGEST_LINE = 10_000  # characters


class PublishedTable(Model):
    """A published table, or a part of one, with its source and the labels of its figures."""

    from_: Annotated[Title, Field(alias="from")]  # repository@commit, or the article
    file: str | None = None  # in that repository
    after: str | None = None  # the table begins behind the first line that has this text
    sentence: bool = False  # no table: a sentence of the article, which claims are written from
    relative: bool = False  # its figures of a metric are known up to a factor that all of them share
    where: dict[str, Label] = {}  # axis, or `step` -> label, which all of its figures have
    metric: Label | None = None  # of all of its figures
    rows: Label  # the axis whose labels name rows, `step` or `metric`
    columns: Label
    labels: Annotated[tuple[Label, ...], Field(min_length=1)]  # of its columns
    names: dict[str, str] = {}  # label -> what the file calls it, where all tables' `names` do not say so
    figures: dict[str, tuple[float | None, ...]]  # label of a row -> a figure per column; none: not read yet


class Published(Model):
    published: Literal["1"]
    names: dict[str, str] = {}  # label -> what the files call it
    unclaimed: dict[str, str] = {}  # what the article says with a number -> why no claim says it
    tables: tuple[PublishedTable, ...] = ()


class TableFigure(NamedTuple):
    """A figure, the labels of the cells and the step that it is of, and its table."""

    labels: Mapping[str, str]
    metric: str
    value: float
    table: PublishedTable


def path(spec: str) -> Path:
    return Path(spec).parent / FOLDER / Path(spec).name


def read(spec: str, problems: Problems) -> Published | None:
    """Read the figures of a spec; None, with the reasons among the problems."""
    nodes = load(str(path(spec)), problems)
    published = validate(Published, nodes, problems)[0] if nodes is not None else None
    for table in published.tables if published else ():
        for row, figures in table.figures.items():
            if figures and len(figures) != len(table.labels):
                message = f"`{row}`: {len(figures)} figures of {len(table.labels)} columns"
                problems.add("wrong-type", table.rows.where, message, "a figure that is not published is null")
        if (table.metric is None) != (METRIC in (table.rows, table.columns)):
            message = "a table has one `metric`, or its rows or columns are metrics"
            problems.add("missing-key", table.rows.where, message)
    return published


def figures(published: Published) -> Iterator[TableFigure]:
    for table in published.tables:
        for row, values in table.figures.items():
            for column, value in zip(table.labels, values, strict=False):
                if value is not None:
                    labels = {**table.where, table.rows: row, table.columns: column}
                    metric = labels.pop(METRIC, None) or table.metric or ""
                    yield TableFigure(labels, metric, value, table)


def read_again(table: PublishedTable, names: Mapping[str, str], file: Path) -> PublishedTable:
    """Take the figures of the table from its file; one that is not there is none. `names`: those of all tables."""
    grid, names = read_grid(file, table.after), {**names, **table.names}
    rows = {
        row: tuple(grid.get((names.get(row, row), names.get(label, label))) for label in table.labels)
        for row in table.figures
    }
    return table.model_copy(update={"figures": rows})


def with_figures(text: str, published: Published) -> str:
    """Write the figures into the text of their file, which stays as it is otherwise."""
    rows = ((row, values) for table in published.tables for row, values in table.figures.items())
    following, lines = next(rows, None), []
    for line in text.splitlines():
        if following and line.startswith(f"      {following[0]}: ["):
            numbers = ", ".join("null" if value is None else f"{value:.10g}" for value in following[1])
            line, following = f"      {following[0]}: [{numbers}]", next(rows, None)
        lines.append(line)
    return "".join(f"{line}\n" for line in lines)


# Tables of text: of sysbench's QPS, of the insert benchmark's pages, of NOPM, of an index; a name and numbers per line

_LEGEND = re.compile(r"(col-\d+) : (\S+)")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|NA|-", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,]+")

Grid = Mapping[tuple[str, str], float]  # name of a row and of a column -> figure


def read_grid(file: Path, after: str | None) -> Grid:
    """Read the rows of a file; columns without a head are called 1, 2 … OSError where it cannot be read."""
    content = head(str(file), MOST_BYTES)
    if len(content) > MOST_BYTES:
        raise TooLargeError(size(MOST_BYTES))
    lines = content.decode("utf-8", errors="replace").splitlines()
    if after is not None:
        lines = lines[next((at for at, line in enumerate(lines, 1) if after in line), len(lines)) :]
    return parse_grid(lines)


def parse_grid(lines: Sequence[str]) -> Grid:
    """Read rows; the first of a name counts."""
    grid: dict[tuple[str, str], float] = {}
    legend: dict[str, str] = {}
    heads: list[str] = []
    for line in (line[:LONGEST_LINE].strip() for line in lines):
        if match := _LEGEND.fullmatch(line):
            legend[match[1]] = match[2]
            continue
        words = [word for word in _BETWEEN.split(line) if word]
        name, values = _name_and_values(words)
        if not values:
            heads = words
            continue
        is_headed = len(heads) == len(words) or (len(heads) == len(values) and heads[0] in legend)
        columns = heads if is_headed else [str(at) for at in range(1, len(values) + 1)]
        if is_headed and len(heads) > len(values):
            columns = heads[:-1] if words[0] == values[0] else heads[1:]
        for column, value in zip(columns, values, strict=True):
            if value not in ("NA", "-"):
                grid.setdefault((name, legend.get(column, column)), float(value))
    return grid


def _name_and_values(words: list[str]) -> tuple[str, list[str]]:
    """Split `2.43 2.44 hot-points_range=100`, or `Built index in 33.1`, into its name and its numbers."""
    is_first = bool(words) and _NUMBER.fullmatch(words[0]) is not None
    ordered = words if is_first else words[::-1]
    count = next((at for at, word in enumerate(ordered) if not _NUMBER.fullmatch(word)), 0)
    split = count if is_first else len(words) - count
    name, values = (words[split:], words[:split]) if is_first else (words[:split], words[split:])
    return " ".join(name), values
