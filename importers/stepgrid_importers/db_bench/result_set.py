"""Results that belong together: of some builds, their rows of each step, and the logs that there are of these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stepgrid_importers.db_bench.columns import Row
from stepgrid_importers.db_bench.logs import Log
from stepgrid_importers.db_bench.summary_file import Block


@dataclass(frozen=True, slots=True)
class Column:
    """A build, or one of several repeats of one."""

    build: str
    rows: Sequence[Row]  # in the order of its report
    load: int = 0
    logs: Mapping[str, Log] = field(default_factory=dict)  # by test
    folder: Path | None = None  # of its report
    before: str = ""  # what stands above the heads of that report


@dataclass(frozen=True, slots=True)
class Source:
    path: Path
    workload: str
    run: str
    columns: Sequence[Column]
    reports: Sequence[str] = ()  # how summary.tsv names each; a cut names none
    summarized: bool = False  # whether there is more than this one file to write of it
    set: str = ""  # of a cut with another base
    known: bool = False  # whether its rows are those of another source: only tables are made of it

    @property
    def given(self) -> bool:
        """Whether it is a file that is made of no other one here."""
        return not (self.summarized or self.known)

    @property
    def blocks(self) -> list[Block]:
        """As the scripts group: lines of one number. Without the report of the first build there is none."""
        count = len(self.columns[0].rows)
        return [[_nth(column.rows, number) for column in self.columns] for number in range(count)]

    def steps(self) -> Iterator[tuple[Column, str, Row | None, Log | None]]:
        for column in () if self.known else self._once():
            rows = {row.test: row for row in column.rows}
            for test in dict.fromkeys((*rows, *column.logs)):
                yield column, test, rows.get(test), column.logs.get(test)

    def _once(self) -> list[Column]:
        """A cut may have one build twice."""
        seen: set[tuple[str, ...]] = set()
        found = []
        for column in self.columns:
            rows = tuple(row.text for row in column.rows)
            found += [] if rows and rows in seen else [column]
            seen.add(rows)
        return found


def _nth(rows: Sequence[Row], number: int) -> Row | None:
    return rows[number] if number < len(rows) else None
