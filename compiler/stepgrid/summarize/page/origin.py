"""Where a report comes from: when and by whom it was measured, and by which program, spec and plan."""

from __future__ import annotations

from collections import Counter

from stepgrid.model.units import counted
from stepgrid.package import __version__
from stepgrid.summarize.report import Report


def measured(report: Report) -> str:
    """2026-11-20, or the first and the last day; then who signed what other checkouts measured."""
    return "; ".join(filter(None, (_days(report), _imported(report))))


def _days(report: Report) -> str:
    if report.setup.measured is None:
        return "nothing yet"
    first, last = (f"{when:%Y-%m-%d}" for when in report.setup.measured)
    return first if first == last else f"{first} to {last}"


def _imported(report: Report) -> str:
    signers = Counter(facts.get("signer", "") for facts in report.data.facts.get("imported", {}).values())
    signed = [f"{counted(signers[name], 'result')} signed by {name}" for name in sorted(signers) if name]
    unsigned = [f"{counted(signers[''], 'result')} without a verified signature"] if signers[""] else []
    return f"imported: {', '.join([*signed, *unsigned])}" if signers else ""


def line(report: Report) -> str:
    scale = f", scale {report.setup.scale}" if report.setup.scale else ""
    return f"spec {report.setup.spec}{scale}; plan {report.setup.plan}; stepgrid {__version__}"
