"""The published summary files, by name: o.sum.t.TAG, mrg.STEP and rel.STEP, o.getmin….r, o.rt.t.KIND."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from stepgrid_importers.insert_benchmark import metric_rows, steps, tables
from stepgrid_importers.insert_benchmark.folder import MERGED, SUMMARY, Records
from stepgrid_importers.insert_benchmark.raw_files import KINDS, Cells
from stepgrid_importers.insert_benchmark.tables import COLUMNS, Table, relative, written
from stepgrid_published.importer import ImportProblem

RELATIVE, TIMES = "rel.", "o.rt.t."


def summaries(found: Records) -> dict[str, str]:
    each = (*_sums(found), *_merges(found), *_probes(found), *_times(found))
    return {str(path.relative_to(found.path)): text for path, text in each}


def _sums(found: Records) -> Iterator[tuple[Path, str]]:
    for tag, rows in metric_rows.summaries(found).items():
        if tag not in found.summaries:
            yield found.path / f"{SUMMARY}{tag}", written(COLUMNS, rows.values())


def _merges(found: Records) -> Iterator[tuple[Path, str]]:
    """Where there are merges, of the same configurations in the same order."""
    for folder, merges in (found.merged or {found.path: {}}).items():
        known = {step for rows in metric_rows.summaries(found).values() for step in rows}
        for step in sorted({*merges, *known}, key=steps.order):
            yield from _merge(folder, step, _rows(found, merges, step), metric_rows.head(found))


def _merge(folder: Path, step: str, rows: list[Cells | None], head: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """Columns of another release would be no part of the same table: those rows are left out."""
    same = [row for row in rows if row is None or list(row) == list(head)]
    yield folder / f"{MERGED}{step}", written(head, same)
    yield folder / f"{RELATIVE}{step}", written(head, relative(same))


def other_columns(found: Records) -> list[ImportProblem]:
    """Rows that no merge has: their columns are those of another release than the first table's."""
    head = list(metric_rows.head(found))
    return [
        ImportProblem(
            row.path, row.line, f"the published summaries leave {row.tag} out: its columns are not those of the first"
        )
        for tables in found.merged.values()
        for each in tables.values()
        for row in each.known
        if list(row.cells) != head
    ]


def _rows(found: Records, tables: Mapping[str, Table], step: str) -> list[Cells | None]:
    known = metric_rows.by_short_tag(found, step)
    if step in tables:
        return [None if row is None else known.get(row.tag, row.cells) for row in tables[step].rows]
    said = next(iter(tables.values()), None)
    order = [row and row.tag for row in said.rows] if said else list(known)
    return [None if tag is None else known[tag] for tag in order if tag is None or tag in known]


def _probes(found: Records) -> Iterator[tuple[Path, str]]:
    for path, probes in found.probes.items():
        yield path.with_name(path.name + tables.SORTED), tables.probe_table(probes)


def _times(found: Records) -> Iterator[tuple[Path, str]]:
    for raw in found.raw.values():
        for kind in KINDS:
            if tables.any_times(times := [client.times[kind] for client in raw.clients if kind in client.times]):
                yield raw.folder / f"{TIMES}{kind.lower()}", tables.times_table(times)
