"""The answer when everything is measured, for a plan that need not be compiled, or even read, again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from compiler.plan import files
from compiler.run.remembered import Remembered
from compiler.run.revision import revision
from compiler.store import complete
from compiler.store.store import Store


class Products(NamedTuple):
    """What a run makes of its results."""

    tables: str
    text: str
    page: str
    stamps: tuple[str, ...]  # of the tables and of the report: there when the code as it is made them

    @classmethod
    def of(cls, store: Store, plan: str) -> Products:
        folder = store.summary(plan)
        tables, text, page = folder / "tables" / "steps.parquet", folder / "summary.txt", folder / "index.html"
        return cls(str(tables), str(text), str(page), tuple(map(str, store.stamps(plan, revision()))))


def over(store: Store, found: Remembered) -> bool:
    """Certainly; otherwise it takes a closer look."""
    stages = files.ids(store.plan(found.plan))
    if len(stages) != found.stages or not all(map(store.has_build, files.builds(store.plan(found.plan)))):
        return False
    newest = complete.newest(store, stages)
    products = Products.of(store, found.plan)
    made = (products.tables, products.text, products.page, *products.stamps)
    try:
        return newest is not None and newest <= min(os.stat(path).st_mtime for path in made)
    except OSError:
        return False


def nothing_to_do(store: Store, plan: str, cells: int, stages: int) -> str:
    """What there is, the summary, and where it is."""
    said = f"nothing to do: {counted(cells, 'cell')}, {counted(stages, 'stage')} measured"
    return f"{said}\n\n{summary(store, plan)}"


def summary(store: Store, plan: str) -> str:
    """The summary's text and the paths of its files."""
    products = Products.of(store, plan)
    text = Path(products.text).read_text(encoding="utf-8").rstrip("\n")
    return f"{text}\n\n{products.text}\n{products.page}"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
