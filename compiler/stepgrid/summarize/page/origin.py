"""Where a report comes from: when it was measured, and by which program, spec and plan."""

from __future__ import annotations

from stepgrid.model.version import __version__
from stepgrid.summarize.report import Report


def measured(report: Report) -> str:
    """2026-11-20, or the first and the last day."""
    if report.measured is None:
        return "nothing yet"
    first, last = (f"{when:%Y-%m-%d}" for when in report.measured)
    return first if first == last else f"{first} to {last}"


def line(report: Report) -> str:
    scale = f", scale {report.scale}" if report.scale else ""
    return f"spec {report.spec}{scale}; plan {report.plan}; stepgrid {__version__}"
