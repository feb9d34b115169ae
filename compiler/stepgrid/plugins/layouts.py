"""The layouts of tables, by the name that a spec gives: one module each, imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepgrid.plugins.layout import Layout

NAMES = (
    "figures", "relative", "groups", "percentiles", "stalls", "compaction", "compaction_sum", "iostat", "vmstat",
    "per_operation", "insert_benchmark", "recall", "probes", "counters", "absolute", "before_after", "load", "errors",
    "cpu", "response_times",
)  # fmt: skip
FIGURES = "figures"  # of a table that names none


def by_name(name: str) -> Layout:
    if name not in NAMES:
        raise LookupError(f"there is no layout `{name}`")
    found: Layout = import_module(f"stepgrid.layouts.{name}").LAYOUT
    return found


# by the kind of step that they are about; a table that would be empty is left out
_DEFAULTS = {
    "db_bench": ("relative", "percentiles", "stalls", "compaction_sum", "iostat", "vmstat"),
    "sysbench": ("groups", "absolute", "before_after", "load", "errors", "cpu", "per_operation"),
    "insert_benchmark": ("insert_benchmark", "response_times", "iostat"),
    "linkbench": ("relative", "percentiles", "per_operation"),
    "vector_search": ("recall",),
    "command": ("relative",),
}


def defaults(kind: str) -> tuple[str, ...]:
    """What the report of a kind of step shows where the spec names no tables."""
    return _DEFAULTS.get(kind, ())
