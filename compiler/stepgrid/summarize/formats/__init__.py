"""A table as text, Markdown, CSV, TSV, HTML or JSON: one renderer each, for all tables that there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stepgrid.model.table import Table
from stepgrid.summarize.formats import csv_format, html, json_format, markdown, text

FORMATS: Mapping[str, Callable[[Table], str]] = {
    "text": text.table,
    "markdown": markdown.table,
    "csv": csv_format.csv,
    "tsv": csv_format.tsv,
    "html": html.table,
    "json": json_format.table,
}
