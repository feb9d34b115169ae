"""What a run makes of its results, and what is said when there is nothing left to measure."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from stepgrid.model.units import counted
from stepgrid.store.code_revision import revision
from stepgrid.store.store import Store


class Products(NamedTuple):
    """Of a plan."""

    tables: Path
    text: Path
    page: Path
    stamps: tuple[Path, Path]  # of the tables and of the report: there when the code as it is made them

    @classmethod
    def of(cls, store: Store, plan: str) -> Products:
        folder = store.summary(plan)
        tables, text, page = store.tables(plan) / "steps.parquet", folder / "summary.txt", folder / "index.html"
        return cls(tables, text, page, store.stamps(plan, revision()))

    @property
    def made(self) -> float:
        """When the first of them was made; OSError unless all are there."""
        return min(path.stat().st_mtime for path in (self.tables, self.text, self.page, *self.stamps))

    @property
    def summary(self) -> str:
        """Its text, and where it is."""
        text = self.text.read_text(encoding="utf-8").rstrip("\n")
        return f"{text}\n\n{self.text}\n{self.page}"

    def nothing_to_do(self, cells: int, stages: int, others: str = "") -> str:
        return f"nothing to do: {counted(cells, 'cell')}, {counted(stages, 'stage')} measured{others}\n\n{self.summary}"
