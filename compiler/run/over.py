"""The answer when everything is measured, for a plan that need not be compiled, or even read, again."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from compiler.plan import files
from compiler.run.remembered import Remembered, Request, find
from compiler.run.revision import revision
from compiler.store import complete
from compiler.store.asked import all_pending
from compiler.store.store import Store


class Products(NamedTuple):
    """What a run makes of its results."""

    tables: Path
    text: Path
    page: Path
    stamps: tuple[Path, Path]  # of the tables and of the report: there when the code as it is made them

    @classmethod
    def of(cls, store: Store, plan: str) -> Products:
        folder = store.summary(plan)
        tables, text, page = folder / "tables" / "steps.parquet", folder / "summary.txt", folder / "index.html"
        return cls(tables, text, page, store.stamps(plan, revision()))

    @property
    def made(self) -> float:
        """When the first of them was made; OSError unless all are there."""
        return min(path.stat().st_mtime for path in (self.tables, self.text, self.page, *self.stamps))


def answer(store: Store, request: Request) -> tuple[str, str] | None:
    """The compilation's warnings, and that there is nothing to do; None when that is not certain."""
    found = find(store, request)
    return (found.said, _nothing_to_do(store, found)) if found and _over(store, found) else None


def _over(store: Store, found: Remembered) -> bool:
    try:
        folder, looked = store.plan(found.plan), store.looked(found.plan)
        stages = files.ids(folder)
        records = [store.build(build) / "build.json" for build in files.builds(folder)]
        if len(stages) != found.stages or any(record.stat().st_ctime >= looked for record in records):
            return False
        if all_pending(store, stages):
            return False
        times, made = complete.times(store, stages), Products.of(store, found.plan).made
    except (OSError, ValueError):
        return False
    return times is not None and times.made <= made and times.touched < looked


def _nothing_to_do(store: Store, found: Remembered) -> str:
    """As the workflow says it when it has looked at everything."""
    products = Products.of(store, found.plan)
    text = products.text.read_text(encoding="utf-8").rstrip("\n")
    said = f"nothing to do: {counted(found.cells, 'cell')}, {counted(found.stages, 'stage')} measured"
    return f"{said}\n\n{text}\n\n{products.text}\n{products.page}"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
