"""A form of a report: its title, and an answer on each line."""

from __future__ import annotations

from stepgrid.summarize.findings import findings
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_formats import FormOptions


def brief(report: Report, options: FormOptions) -> str:
    lines = [f"# {report.setup.title}", "", *(f"- {finding.text}" for finding in findings(report))]
    return "\n".join(lines) + "\n"
