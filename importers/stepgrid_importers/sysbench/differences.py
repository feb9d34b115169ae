"""Figures of sb.met where our rule is another: what vmstat counted, and a scan's rate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stepgrid.plugins.importer import PublishedFigure
from stepgrid_importers.shared import vmstat
from stepgrid_importers.sysbench import sb_met, scan, summaries
from stepgrid_importers.sysbench.rate import definition, rate, scanned
from stepgrid_importers.sysbench.runs import MET, Run

BANNERS, SCANS = "vmstat's banner lines", "The three rates of a scan"


def beside(runs: Sequence[Run], device: str | None) -> Iterator[PublishedFigure]:
    for run in runs:
        yield from _vmstat(run, device)
        yield from _scan(run)


def _vmstat(run: Run, device: str | None) -> Iterator[PublishedFigure]:
    legacy = summaries.of(run, device)
    per_second = rate(run)
    if legacy is None or run.vm is None or per_second is None:
        return
    clean = dict(zip(sb_met.HOST, sb_met.host(vmstat.clean(run.vm), float(per_second)), strict=True))
    for name in sb_met.HOST[1:]:
        yield PublishedFigure(MET + run.test.suffix, run.directory, name, legacy[name], clean[name], BANNERS)


def _scan(run: Run) -> Iterator[PublishedFigure]:
    found, per_second = scanned(run), rate(run)
    if found is None or per_second is None:
        return
    figure = f"scan, thousands of rows/s, {definition(run, found)}"
    clean = f"{scan.clean(found) / scan.THOUSAND:.0f}"
    yield PublishedFigure(MET + run.test.suffix, run.directory, figure, per_second, clean, SCANS)
