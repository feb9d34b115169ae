"""A table as text, Markdown, CSV, TSV or HTML: one module each."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from stepgrid.model.table import Table

FORMATS = {"text": "text", "markdown": "markdown", "csv": "csv", "tsv": "tsv", "html": "html"}


def written(name: str) -> Callable[[Table], str]:
    found: Callable[[Table], str] = import_module(f"stepgrid.summarize.formats.{FORMATS[name]}").table
    return found
