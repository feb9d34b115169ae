"""Where a published cell is something else than its column says: what stands there, and what we have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stepgrid.model.figures import Figures
from stepgrid.plugins.importer import PublishedFigure
from stepgrid_importers.db_bench import deviation, short_tables
from stepgrid_importers.db_bench.columns import COLUMNS, METRICS, NONE, SHIFTED, Row, glued, shifted
from stepgrid_importers.db_bench.result_set import Source

SHIFT = "c_wsecs, c_csecs, b_rgb and b_wgb from RocksDB 10.3 on"
NSTALL, AMPLIFIED, GLUED = "Nstall from RocksDB 8.1 on", "w_amp", "pmax of two histograms"
FAILURE, REPEATS = "A step that failed", "stddev of repeats"


def of_steps(source: Source) -> Iterator[PublishedFigure]:
    """Of what is made of a step's rows together."""
    for block in source.blocks:
        test = next((row.test for row in block if row), "")
        for column, (legacy, clean) in zip(source.columns, short_tables.moved(block), strict=False):
            yield PublishedFigure(f"csum.{source.workload}", test, column.build, legacy, clean, FAILURE)
        if deviation.repeated(source.blocks):
            file = f"{source.path.name}{deviation.SUFFIX}"
            legacy, clean = (f"{spread(block).deviation:.1f}" for spread in (deviation.published, deviation.clean))
            yield PublishedFigure(file, test, "stddev", legacy, clean, REPEATS)


def of_row(file: str, build: str, row: Row, clean: Figures) -> Iterator[PublishedFigure]:
    for column, why in _wrong(row).items():
        yield PublishedFigure(
            file, f"{build} {row.test}", column, row.cells[column], _clean(column, clean.metrics), why
        )


def _wrong(row: Row) -> Mapping[str, str]:
    found = dict.fromkeys(SHIFTED, SHIFT) if shifted(row) and not row.failed else {}
    if not row.cells["Nstall"] and not row.failed:
        found["Nstall"] = NSTALL
    if row.cells["w_amp"] not in ("", NONE):
        found["w_amp"] = AMPLIFIED
    if glued(row):
        found["pmax"] = GLUED
    return {column: found[column] for column in COLUMNS if column in found}


def _clean(column: str, metrics: Mapping[str, float]) -> str:
    """Empty where it cannot be known."""
    name, unit = ("write_amplification", 1.0) if column == "w_amp" else METRICS[column] or ("", 1.0)
    return f"{metrics[name] / unit:.6g}" if name in metrics else ""
