"""Results of the published scripts, taken in. A kind's module is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepgrid.plugins.importer import Kind

KINDS = ("sysbench", "db_bench", "insert_benchmark", "vector_search")


def kind(name: str) -> Kind[Any]:
    if name not in KINDS:
        raise LookupError(f"there is no kind {name!r} of published results; the kinds are: {', '.join(KINDS)}")
    found: Kind[Any] = import_module(f"stepgrid.importers.{name}").KIND
    return found
