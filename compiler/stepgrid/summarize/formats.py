"""A table as text, Markdown, CSV, TSV, HTML or JSON."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from html import escape
from typing import Any

from stepgrid.host.terminal_output import INDENT, WIDTH, wrap
from stepgrid.model import units
from stepgrid.model.plan import BUILD
from stepgrid.model.records import replace
from stepgrid.model.table import NOTHING, Cell, Column, Table

# Plain text, no wider than a page: columns that find no room go on below, with the labels of the rows again.

SENTENCES = 100  # width of sentences
_GAP = "  "
_FEW = 3  # figures


def text_table(table: Table) -> str:
    title = (table.name, "-" * len(table.name)) if table.name else ()
    return "".join(f"{line}\n" for line in (*title, *text_lines(table)))


def text_lines(table: Table, indent: str = INDENT, width: int = WIDTH) -> Iterator[str]:
    """Write a table without its title."""
    yield from (f"{indent}{line}" for line in table.before)
    widths = _widths(table)
    for number, page in enumerate(_pages(table, widths, width)):
        if number:
            yield ""
        columns = [table.columns[index] for index in page]
        page_widths = [widths[index] for index in page]
        yield _line((column.head for column in columns), columns, page_widths, indent)
        for row in table.rows:
            cells, status = [row[index] for index in page], table.lacking(row)
            line = _status_line(cells, status, columns, page_widths, indent) if status else None
            yield line or _line((cell.text for cell in cells), columns, page_widths, indent)
    for note in table.notes:
        yield from wrap(note, indent, f"{indent}  ", width)


def aligned(rows: Iterable[Sequence[str]], indent: str = INDENT, right: Collection[int] = ()) -> Iterator[str]:
    """Write rows without heads; columns whose numbers are in `right` are flush right."""
    lines = list(rows)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    columns = [Column("", is_text=index not in right) for index in range(len(widths))]
    yield from (_line(line, columns, widths, indent) for line in lines)


def _line(texts: Iterable[str], columns: Sequence[Column], widths: Sequence[int], indent: str) -> str:
    cells = (
        text.ljust(width) if column.label or column.is_text else text.rjust(width)
        for text, column, width in zip(texts, columns, widths, strict=True)
    )
    return (indent + _GAP.join(cells)).rstrip()


def _status_line(
    row: Sequence[Cell], status: Cell, columns: Sequence[Column], widths: Sequence[int], indent: str
) -> str | None:
    """Write a status once for all figures; None if it has no room before labels that stand behind the figures."""
    figures = [index for index, column in enumerate(columns) if not column.label]
    span = sum(widths[index] + len(_GAP) for index in figures) - len(_GAP)
    has_labels_behind = columns[-1].label
    if not figures or (has_labels_behind and len(status.text) > span):
        return None
    first, last = figures[0], figures[-1]
    texts = [cell.text for cell in row]
    return _line(
        [*texts[:first], status.text, *texts[last + 1 :]],
        [*columns[:first], Column("", is_text=not has_labels_behind), *columns[last + 1 :]],
        [*widths[:first], span, *widths[last + 1 :]],
        indent,
    )


def _widths(table: Table) -> list[int]:
    """Compute widths; a status that stands for all figures counts only if the figures are too few for it."""
    is_few = sum(not column.label for column in table.columns) < _FEW
    counting = table.rows if is_few else [row for row in table.rows if table.lacking(row) is None]
    return [
        max([len(column.head), *(len(row[index].text) for row in (table.rows if column.label else counting))])
        for index, column in enumerate(table.columns)
    ]


def _pages(table: Table, widths: Sequence[int], width: int) -> list[list[int]]:
    """Divide the columns, with the labels on each page, where the table has them."""
    labels = [index for index, column in enumerate(table.columns) if column.label]
    room = width - sum(widths[index] + len(_GAP) for index in labels)
    pages: list[list[int]] = [[]]
    for index in range(len(table.columns)):
        if index in labels:
            continue
        if pages[-1] and sum(widths[other] + len(_GAP) for other in [*pages[-1], index]) > room:
            pages.append([])
        pages[-1].append(index)
    return [sorted([*labels, *page]) for page in pages]


# Markdown, as GitHub and most others show it.

_MARKUP = re.compile(r"[\\`*|<>\[\]]|(?<![^\W_])_|_(?![^\W_])")  # an underscore within a word is none


def markdown_table(table: Table) -> str:
    lines = [f"### {escape_markdown(table.name)}", ""] if table.name else []
    if table.before:
        lines += [*(f"{escape_markdown(line)}  " for line in table.before), ""]
    rows = [
        [escape_markdown(column.head) for column in table.columns],
        ["---" if column.label else "---:" for column in table.columns],
        *([escape_markdown(cell.text) for cell in row] for row in table.rows),
    ]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    if table.notes:
        lines += ["", *(f"{escape_markdown(note)}  " for note in table.notes)]
    return "\n".join(lines) + "\n"


def escape_markdown(text: str) -> str:
    return " ".join(_MARKUP.sub(r"\\\g<0>", text).split())


# CSV and TSV: a table under its name as a comment; figures that people get rounded have all their digits.

COMMA, TAB = ",", "\t"
_NAMES = ("step", "arm", "base", BUILD)  # columns of names: an arm or a build called 2k stays 2k
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?[\d.,]+(?:[eE][+-]?\d+)?[x%]?")


def csv_table(table: Table) -> str:
    return _delimited_table(table, COMMA, "# ")


def tsv_table(table: Table) -> str:
    """Write a table like the published ones, whose lines above the columns are no comments."""
    return _delimited_table(table, TAB, "")


def delimited_text(rows: Iterable[Iterable[object]], sign: str = COMMA) -> str:
    """Write rows of data."""
    out = io.StringIO()
    csv.writer(out, delimiter=sign, lineterminator="\n").writerows(map(_without_formula, row) for row in rows)
    return out.getvalue()


def _without_formula(value: object) -> object:
    """Put a quote before a text that a spreadsheet would compute, such as `=HYPERLINK(…)`; a number stays."""
    if not isinstance(value, str) or not value.startswith(_FORMULA) or value == NOTHING:
        return value
    return value if _NUMBER.fullmatch(value) else f"'{value}"


def _delimited_table(table: Table, sign: str, mark: str) -> str:
    """Give each part of a ratio a column of its own: a cell is a number, or why there is none."""
    columns: list[list[str]] = []
    for index, column in enumerate(table.columns):
        cells = [row[index] for row in table.rows]
        parts = [_parts(cell) for cell in cells]
        if column.label or not any(parts) or any(cell.value is not None for cell in cells):
            is_name = column.name in _NAMES
            figures = [cell.text if cell.value is None else _digits(cell.value) for cell in cells]
            labels = [cell.text for cell in cells] if is_name else _plain_labels(cells)
            columns.append([column.head, *(labels if column.label else figures)])
        for name in dict.fromkeys(name for part in parts for name in part):
            columns.append([f"{column.head} {name}", *(part.get(name, "") for part in parts)])
    comments = "".join(f"{line}\n" for line in (f"# {table.name}", *(f"{mark}{line}" for line in table.before)))
    return comments + delimited_text(list(zip(*columns, strict=True)) or [()], sign)


def _plain_labels(cells: Sequence[Cell]) -> list[str]:
    """Write the values of an axis of numbers as numbers: 2k is 2000."""
    numbers = [_label_number(cell.text) for cell in cells if cell.text != NOTHING]
    is_plain = any(number is None for number in numbers) or all(_NUMBER.fullmatch(cell.text) for cell in cells)
    if is_plain:
        return [cell.text for cell in cells]
    return [cell.text if cell.text == NOTHING else _label_digits(_label_number(cell.text) or 0) for cell in cells]


def _label_number(text: str) -> int | float | None:
    """Read a count or a size; a duration is a text, for a number would not say its unit."""
    return None if text.strip().endswith(tuple(units.DURATIONS)) else units.number(text)


def _label_digits(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.15g}"


def _parts(cell: Cell) -> dict[str, str]:
    """Name the parts of a figure: ends of its interval; of a ratio the verdict, and what recomputes the interval."""
    if not cell.verdict and not cell.interval:
        return {}
    low, high = map(_digits, cell.interval) if cell.interval else ("", "")
    parts = {"low": low, "high": high, **({"verdict": cell.verdict} if cell.verdict else {})}
    if cell.basis:
        parts |= {name: _digits(getattr(cell.basis, name)) for name in ("deviation", "freedom", "critical")}
        parts |= {f"load {number}": _digits(ratio) for number, ratio in enumerate(cell.basis.ratios, 1)}
    return parts


def _digits(value: float) -> str:
    return f"{value:.10g}"


# HTML: a table for the page, or to be put into another one.


def html_table(table: Table) -> str:
    return f'<section class="table"><h3>{escape(table.name)}</h3>\n{html_body(table)}</section>\n'


def note_once(tables: Iterable[Table]) -> Iterator[Table]:
    """Leave out the notes that a table before has."""
    previous: set[str] = set()
    for table in tables:
        yield replace(table, notes=tuple(note for note in table.notes if note not in previous))
        previous |= {*table.notes}


def html_body(table: Table) -> str:
    """Write a table without its name."""
    return "\n".join(_html_lines(table)) + "\n"


def html_text(text: str) -> str:
    """Escape a text, with names in backquotes as code."""
    parts = [escape(part) for part in text.split("`")]
    if len(parts) % 2 == 0:  # a label has a backquote of its own
        return escape(text)
    return "".join(f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts))


def _html_lines(table: Table) -> Iterator[str]:
    if table.before:
        yield f'<p class="note">{"<br>".join(map(escape, table.before))}</p>'
    if any(column.name for column in table.columns):
        heads = []
        for column in table.columns:
            unit = f"<br><small>{escape(column.unit)}</small>" if column.unit else ""
            kind = "" if column.label else ' class="number"'
            heads.append(f'<th scope="col"{kind}>{escape(column.name)}{unit}</th>')
        yield f'<div class="scroll"><table aria-label="{escape(table.name)}">'
        yield f"<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>"
    else:
        yield '<div class="scroll"><table>\n<tbody>'
    # a line stands between groups of rows that have the same first label
    firsts = [row[0].text for row in table.rows]
    is_grouped = table.columns[:1] and table.columns[0].label and len(set(firsts)) < len(firsts)
    for row, first, previous in zip(table.rows, firsts, [*firsts[:1], *firsts], strict=False):
        begin = '<tr class="next">' if is_grouped and first != previous else "<tr>"
        yield f"{begin}{''.join(_html_cells(table, row))}</tr>"
    yield "</tbody></table></div>"
    yield from (f'<p class="note">{html_text(note)}</p>' for note in table.notes)


def _html_cells(table: Table, row: tuple[Cell, ...]) -> Iterator[str]:
    """Write the cells of a row; a status that stands for all figures stands once."""
    status, span = table.lacking(row), sum(not column.label for column in table.columns)
    for cell, column in zip(row, table.columns, strict=True):
        if column.label:
            yield f"<th{cell_data(cell, column.name or '-')}>{html_text(cell.text)}</th>"
        elif status is None:
            yield _html_cell(cell)
        elif span:
            yield _html_cell(cell, f' colspan="{span}"')
            span = 0


def _html_cell(cell: Cell, span: str = "") -> str:
    kind = f" {cell.kind.replace(' ', '-')}" if cell.kind else ""
    return f'<td{span} class="number{kind}"{cell_data(cell)}>{escape(cell.text)}</td>'


def cell_data(cell: Cell, label: str = "") -> str:
    """Write what a page sorts by and copies as CSV: a figure or value of an axis, a ratio, the ends of its interval.

    `label`: the name of the axis."""
    ratio = cell.value if cell.verdict else None
    value = cell.figure if cell.verdict else cell.value
    if label and label not in _NAMES and not _NUMBER.fullmatch(cell.text):
        value = units.number(cell.text)
    digits = _label_digits if label else _digits
    values = (("figure", (value,)), ("v", (ratio,)), ("ends", cell.interval or (None,)))
    return "".join(
        f' data-{name}="{" ".join(digits(number) for number in numbers if number is not None)}"'
        for name, numbers in values
        if None not in numbers
    )


# JSON: a table as data; `kind` is what a page shows by colour, `value` a figure with all its digits.


def json_table(table: Table) -> str:
    """Write a table on one line."""
    return json.dumps(json_value(table), ensure_ascii=False) + "\n"


def join_json(tables: Iterable[str]) -> str:
    """Join tables in JSON to one list."""
    return f"[{','.join(tables)}]\n"


def json_value(table: Table) -> Mapping[str, object]:
    return {
        "title": table.title,
        "block": table.block,
        "columns": [{"name": column.name, "unit": column.unit, "label": column.label} for column in table.columns],
        "rows": [[_json_cell(cell) for cell in row] for row in table.rows],
        "before": table.before,
        "notes": table.notes,
    }


def _json_cell(cell: Cell) -> Mapping[str, object]:
    """Leave infinity, which is no number of JSON, to the text."""
    fields: dict[str, object] = {"text": cell.text}
    if cell.kind:
        fields["kind"] = cell.kind
    if cell.value is not None and math.isfinite(cell.value):
        fields["value"] = cell.value
    if cell.interval:
        fields["interval"] = [bound if math.isfinite(bound) else None for bound in cell.interval]
    if cell.basis:
        fields["basis"] = cell.basis._asdict()
    return fields


FORMATS: Mapping[str, Callable[[Table], str]] = {
    "text": text_table,
    "markdown": markdown_table,
    "csv": csv_table,
    "tsv": tsv_table,
    "html": html_table,
    "json": json_table,
}


def json_text(value: Any, indent: int | None = 1) -> str:
    return json.dumps(_plain(value), ensure_ascii=False, indent=indent)


def _plain(value: Any) -> Any:
    """Turn what JSON lacks into text, and infinity into null."""
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_plain, value)]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    return value.isoformat() if isinstance(value, date) else str(value)
