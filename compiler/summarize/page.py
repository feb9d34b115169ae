"""index.html: one file, no scripts, nothing loaded from anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compiler.summarize import commands, figures, host, layout, numbers, pictures, summary, verdicts, wording
from compiler.summarize.comparison import Comparison
from compiler.summarize.report import Report, Section

TEMPLATES = Path(__file__).resolve().parents[2] / "templates" / "report"
MOST_FINDINGS = 12
UNFOLDED = 16  # charts over time that are shown without asking


def page(report: Report) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("index.html.j2").render(_context(report))


def _context(report: Report) -> dict[str, Any]:
    hosts = report.facts.get("host", {})
    return {
        "report": report,
        "repeats": summary.repeats(report),
        "host": host.line(report.hardware, next(iter(hosts.values()), {})),
        "host_rows": list(host.rows(report.hardware, hosts)),
        "answer": summary.answer(report),
        "findings": wording.findings([table for each in report.sections for table in each.comparisons], MOST_FINDINGS),
        "sections": [_section(report, section) for section in report.sections],
        "dropped": commands.dropped(report),
        "meaning": verdicts.MEANING,
        "counted": numbers.counted,
        "unfolded": UNFOLDED,
        "most": pictures.MOST,
    }


def _section(report: Report, section: Section) -> dict[str, Any]:
    return {
        "step": section.step,
        "names": section.names,
        "tables": [_table(report, table) for table in section.comparisons],
        "figures": figures.figures(report, section),
        "note": pictures.note(report, section),
        "over_time": pictures.over_time(report, section),
        "commands": list(commands.commands(report, section)),
    }


def _table(report: Report, table: Comparison) -> Mapping[str, Any]:
    base = layout.words(table.columns[0], table.layout.across)
    return {
        "base": base,
        "down": table.layout.down,
        "columns": [layout.words(labels, table.layout.across) or "-" for labels in table.columns[1:]],
        "lines": [
            (line.labels, [(_class(entry.kind, entry.verdict), wording.entry(entry, base)) for entry in line.entries])
            for line in table.lines
        ],
        "caveats": table.caveats,
        "picture": pictures.ratios(report, table),
    }


def _class(kind: str, verdict: str | None) -> str:
    return (verdict or kind).replace(" ", "-")
