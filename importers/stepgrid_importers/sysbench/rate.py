"""A run's rate of operations as the scripts have it: queries per second; of a scan, thousands of rows."""

from __future__ import annotations

from stepgrid_importers.sysbench import met_file, scan
from stepgrid_importers.sysbench.runs import Run, published
from stepgrid_importers.sysbench.scan import Scan


def scanned(run: Run) -> Scan | None:
    """None of what is no scan, or does not say of how much."""
    report = run.output.report
    return scan.scan(run.output.command, report) if run.test.scans and report else None


def definition(run: Run, found: Scan) -> str:
    figures = published(run)
    return scan.definition(found, float(figures[-1]) if figures else None)


def rate(run: Run) -> str | None:
    """As it is printed; None where the run failed, or was a scan of an unknown number of rows."""
    if run.output.report is None:
        return None if run.output.failure else run.cells.get(met_file.RATE)
    if not run.test.scans:
        return run.output.report.rated["queries"].text
    found = scanned(run)
    value = scan.DEFINITIONS[definition(run, found)](found) if found else None
    return None if value is None else f"{value:.0f}"
