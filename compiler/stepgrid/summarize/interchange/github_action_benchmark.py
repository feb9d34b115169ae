"""github-action-benchmark, `tool: customBiggerIsBetter`: a list of {name, unit, value, range, extra}."""

from __future__ import annotations

from stepgrid.summarize import json_text
from stepgrid.summarize.interchange import series_names
from stepgrid.summarize.report import Report

UNIT = "operations/s"


def text(report: Report) -> str:
    """QPS alone: of all entries more must be better."""
    found = []
    for name, point in series_names.points(report):
        if spread := point.spread():
            median, low, high = spread
            reach = max(high - median, median - low)
            loads = point.loads[0]
            extra = f"plan {report.setup.plan}\nloads {loads}"
            entry = {"name": name, "unit": UNIT, "value": median, "extra": extra}
            found.append(entry | ({"range": f"± {_plain(reach)}"} if loads > 1 else {}))
    return json_text.text(found) + "\n"


def _plain(value: float) -> str:
    """It is read as a number: without thousands, and without an exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3f}"
