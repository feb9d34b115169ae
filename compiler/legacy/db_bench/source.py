"""Results that belong together: of some builds, their rows of each step, and the logs that there are of these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compiler.legacy.db_bench.columns import Row
from compiler.legacy.db_bench.grouped import Block
from compiler.legacy.db_bench.logs import Log


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

    @property
    def blocks(self) -> list[Block]:
        """As the scripts group: lines of one number. Without the report of the first build there is none."""
        count = len(self.columns[0].rows)
        return [[_nth(column.rows, number) for column in self.columns] for number in range(count)]

    def steps(self) -> Iterator[tuple[Column, str, Row | None, Log | None]]:
        for column in self.columns:
            rows = {row.test: row for row in column.rows}
            for test in dict.fromkeys((*rows, *column.logs)):
                yield column, test, rows.get(test), column.logs.get(test)


def _nth(rows: Sequence[Row], number: int) -> Row | None:
    return rows[number] if number < len(rows) else None
