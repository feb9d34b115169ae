"""A table as text, Markdown, CSV, TSV or HTML: one module each."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from stepgrid.layouts.table import Table

FORMATS = {"text": "text", "markdown": "markdown", "csv": "comma", "tsv": "tab", "html": "page"}


def written(name: str) -> Callable[[Table], str]:
    found: Callable[[Table], str] = import_module(f"stepgrid.layouts.formats.{FORMATS[name]}").table
    return found
