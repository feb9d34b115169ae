"""The published summary files of a source, by name: summary.tsv, cuts of it, and what is made of these."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from stepgrid_importers.db_bench import deviation, names, report_row, short_tables, summary_file
from stepgrid_importers.db_bench.columns import HEAD
from stepgrid_importers.db_bench.result_set import Column, Source


def summaries(source: Source, root: Path) -> dict[str, str]:
    place = source.path if source.path.is_dir() else source.path.parent
    below = place.relative_to(root) if place.is_relative_to(root) else Path()  # of a folder that is a build's own
    beside = {path.name for path in place.iterdir()}
    found = dict(_summarized(source, beside)) if source.summarized else _of_cut(source, beside)
    return {str(below / name): text for name, text in found.items()} | dict(_reports(source, root))


def _summarized(source: Source, beside: Collection[str]) -> Iterator[tuple[str, str]]:
    yield names.SUMMARY, summary_file.written(source.blocks, source.reports)
    builds = [column.build for column in source.columns]
    for variant, places in names.variants(builds).items():
        name = names.cut_name(source.workload, variant)
        cut = [[block[place] for place in places] for block in source.blocks]
        yield f"sum.{name}.txt", summary_file.written(cut)
        yield from short_tables.tables(name, cut, beside=beside).items()


def _of_cut(source: Source, beside: Collection[str]) -> dict[str, str]:
    if len(source.columns) < 2:
        return {}
    spread = deviation.repeated(source.blocks)
    more = {f"{source.path.name}{deviation.SUFFIX}": deviation.text(source.blocks)} if spread else {}
    return short_tables.tables(source.workload, source.blocks, source.set, beside) | more


def _reports(source: Source, root: Path) -> Iterator[tuple[str, str]]:
    """Where every step has its log, the report is made of these."""
    for column in source.columns:
        if column.folder and column.rows and all(row.test in column.logs for row in column.rows):
            name = names.REPORT if source.summarized else f"{names.REPORT}.{source.workload}"
            yield str(column.folder.relative_to(root) / name), _report(column)


def _report(column: Column) -> str:
    rows = (report_row.row(column.logs[row.test]) for row in column.rows)
    return column.before + "".join(f"{line}\n" for line in (HEAD, *rows))
