"""index.html: one file, no scripts, nothing loaded from anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.model.counted import counted
from stepgrid.summarize import (
    claim_words,
    commands,
    figures,
    host,
    in_short,
    pictures,
    starts,
    summary,
    verdicts,
    wording,
)
from stepgrid.summarize.comparison import Entry
from stepgrid.summarize.formats.html import grouped
from stepgrid.summarize.overview import Overview
from stepgrid.summarize.report import Report, Section

if TYPE_CHECKING:
    from markupsafe import Markup

TEMPLATES = Path(__file__).resolve().parents[3] / "templates" / "report"
MOST_FINDINGS = 12
UNFOLDED = 16  # charts over time that are shown without asking


def page(report: Report) -> str:
    return finished(begun(report))


def begun(report: Report) -> Mapping[str, Any]:
    """What the page says; its charts are being drawn."""
    return _context(report)


def finished(context: Mapping[str, Any]) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["cells"] = _cells
    return environment.get_template("index.html.j2").render(context)


def _cells(texts: Iterable[str], tag: str, kind: str = "") -> Markup:
    """Of a row: a large page has hundreds of thousands, and a loop of the template takes four times as long."""
    from markupsafe import Markup

    begin, end = f'<{tag} class="{kind}">' if kind else f"<{tag}>", f"</{tag}>"
    return Markup("".join(f"{begin}{escape(text)}{end}" for text in texts))


def _context(report: Report) -> dict[str, Any]:
    hosts = report.facts.get("host", {})
    return {
        "report": report,
        "repeats": summary.repeats(report),
        "host": host.line(report.hardware, next(iter(hosts.values()), {})),
        "host_rows": [*host.rows(report.hardware, hosts), *starts.rows(report.facts.get("image", {}))],
        "answer": [text for _, text in in_short.tallies(report)],
        "headline": in_short.headline(report),
        "findings": in_short.findings(report)[:MOST_FINDINGS],
        "overviews": [_overview(report, table) for table in report.overviews],
        "sections": [_section(report, section) for section in report.sections],
        "dropped": commands.dropped(report),
        "claims": claim_words.ordered(report.claims),
        "claim_words": claim_words,
        "tables": grouped(report.shown),
        "tables_first": summary.tables_first(report),
        "meaning": verdicts.MEANING,
        "counted": counted,
        "unfolded": UNFOLDED,
        "most": pictures.most(report),
    }


def _section(report: Report, section: Section) -> dict[str, Any]:
    return {
        "step": section.step,
        "names": section.names,
        "figures": figures.figures(report, section),
        "note": pictures.note(report, section),
        "over_time": pictures.over_time(report, section),
        "longest": pictures.longest(report, section),
        "commands": list(commands.commands(report, section)),
    }


def _overview(report: Report, table: Overview) -> Mapping[str, Any]:
    drawn = [pictures.ratios(report, each) for each in table.tables]
    return {
        "base": table.base,
        "down": table.down,
        "columns": table.heads,
        "rows": [
            (row.step, row.labels, [_entry(entry, table.base) for entry in row.entries], wording.floor(row))
            for row in table.rows
        ],
        "floors": any(wording.floor(row) for row in table.rows),
        "caveats": table.caveats,
        "doubts": list(wording.doubts(table)),
        "pictures": [picture for picture in drawn if picture],
        "intervals": any(entry.interval for row in table.rows for entry in row.entries),
    }


def _entry(entry: Entry, base: str) -> tuple[str, str]:
    return _class(entry.kind, entry.verdict), wording.entry(entry, base)


def _class(kind: str, verdict: str | None) -> str:
    return (verdict or kind).replace(" ", "-")
