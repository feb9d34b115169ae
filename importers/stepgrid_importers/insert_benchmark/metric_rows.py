"""Rows of metrics by configuration and step: from a summary, from raw files where there is none, else from a merge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from stepgrid_importers.insert_benchmark import steps, summary_row
from stepgrid_importers.insert_benchmark.folder import Records
from stepgrid_importers.insert_benchmark.merged_tables import Cells, merged, short
from stepgrid_importers.insert_benchmark.raw_files import RawRun
from stepgrid_importers.insert_benchmark.table import COLUMNS
from stepgrid_importers.shared.awk import number


class Sum(NamedTuple):
    tag: str
    step: str
    cells: Cells
    path: Path
    line: int | None
    raw: RawRun | None = None


def summaries(found: Records) -> dict[str, dict[str, Cells]]:
    """By tag and step, as o.sum.t has them."""
    said: dict[str, dict[str, Cells]] = {
        tag: {step: row.cells for step, row in rows.items()} for tag, rows in found.summaries.items()
    }
    for (tag, step), raw in sorted(found.raw.items(), key=lambda item: (item[0][0], steps.order(item[0][1]))):
        if tag not in found.summaries:
            said.setdefault(tag, {})[step] = summary_row.row(raw.outcome, step, tag, raw.cores)
    return said


def sums(found: Records) -> list[Sum]:
    """Tags as tables have them, their steps in order; a row that only a merge has is of that."""
    each = [_sum(found, tag, step, cells) for tag, rows in summaries(found).items() for step, cells in rows.items()]
    known = {(short(one.tag), one.step) for one in each}
    each += [one for one in _only_merged(found) if (one.tag, one.step) not in known]
    order = {tag: at for at, tag in enumerate(tags(found))}
    return sorted(each, key=lambda one: (order.get(short(one.tag), len(order)), steps.order(one.step)))


def tags(found: Records) -> list[str]:
    """Short ones: as merges have them, then the others."""
    said = (row.tag for tables in found.merged.values() for table in tables.values() for row in table.known)
    return list(dict.fromkeys((*said, *(short(tag) for tag in summaries(found)))))


def by_short_tag(found: Records, step: str) -> dict[str, Cells]:
    """A step's rows as they are merged."""
    return {short(tag): merged(rows[step]) for tag, rows in summaries(found).items() if step in rows}


def head(found: Records) -> Sequence[str]:
    known = [table.head for tables in found.merged.values() for table in tables.values()]
    known += [list(cells) for rows in summaries(found).values() for cells in rows.values()]
    return known[0] if known else COLUMNS


def clients(each: Sequence[Sum], tag: str) -> int | None:
    return steps.clients([(one.step, number(one.cells["ips"])) for one in each if short(one.tag) == short(tag)])


def _sum(found: Records, tag: str, step: str, cells: Cells) -> Sum:
    row, raw = found.summaries.get(tag, {}).get(step), found.raw.get((tag, step))
    if row:
        return Sum(tag, step, cells, row.path, row.line, raw)
    return Sum(tag, step, cells, raw.outcome.path if raw else found.path, None, raw)


def _only_merged(found: Records) -> list[Sum]:
    return [
        Sum(row.tag, step, row.cells, row.path, row.line)
        for tables in found.merged.values()
        for step, table in tables.items()
        for row in table.known
    ]
