"""index.html: one file with one script for its tables, readable without it; nothing is loaded from anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stepgrid.model.table import Cell, Table, columns
from stepgrid.model.units import counted
from stepgrid.package import TEMPLATES
from stepgrid.summarize.charts import report_charts, step_charts
from stepgrid.summarize.claims import claim_text
from stepgrid.summarize.comparisons.builds import Build
from stepgrid.summarize.comparisons.comparison import Comparison
from stepgrid.summarize.comparisons.comparison_axes import Section
from stepgrid.summarize.comparisons.comparison_table import comparison_table
from stepgrid.summarize.comparisons.decisions import sentences
from stepgrid.summarize.formats import group_html, html_body, html_text
from stepgrid.summarize.notes import database_origin, step_settings
from stepgrid.summarize.page import (
    absolute_figures,
    answer,
    claimed_metrics,
    command_lines,
    content_policy,
    host,
    origin,
    summary_text,
    why,
)
from stepgrid.summarize.page.next_steps import next_steps
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_tables import search_tables
from stepgrid.summarize.statistics import verdicts

if TYPE_CHECKING:
    from markupsafe import Markup

UNFOLDED_DEVICES = 4  # of the device
UNFOLDED = 16  # charts over time that are shown without asking


def page(report: Report, alone: bool = False) -> str:
    """`alone`: neither the summary nor the tables lie beside it."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES / "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["quoted"] = quoted
    return environment.get_template("index.html.j2").render(_context(report), alone=alone)


def quoted(text: str) -> Markup:
    """Names in backquotes are set as code."""
    from markupsafe import Markup

    return Markup(html_text(text))


def _context(report: Report) -> dict[str, Any]:
    hosts = report.data.facts.get("host", {})
    return {
        **content_policy.context(TEMPLATES / "report"),
        "report": report,
        "bases": summary_text.bases,
        "brief": step_settings.brief(report.comparisons.points_by_step),
        "repeats": summary_text.repeats(report),
        "decisions": list(sentences(report.comparisons.decisions, report.setup.until)),
        "host": host.line(report.setup.hardware, hosts),
        "facts": _words(
            [*host.rows(report.setup.hardware, hosts), *database_origin.rows(report.data.facts.get("image", {}))]
        ),
        "defaults": html_body(report.setup.defaults.table) if report.setup.defaults else "",
        "artifacts": {build.id: _artifacts(build) for build in report.setup.builds.values() if build.artifacts},
        "answer": list(answer.answers(report)),
        "claimed": claimed_metrics.sentences(report.comparisons.claims, report.comparisons.all),
        "hints": answer.hints(report),
        "most_answers": answer.MOST_ARMS,
        "columns": absolute_figures.meanings(report),
        "figures_title": absolute_figures.title(report),
        "many_commands": command_lines.MANY,
        "origin": origin,
        "ladders": [(each, html_body(each.table) if each.changes else "") for each in report.comparisons.ladders],
        "overviews": [_overview(report, table) for table in report.comparisons.all],
        "sections": [_section(report, section) for section in report.comparisons.sections],
        "searches": group_html(list(search_tables(report.comparisons.searches))),
        "curves": list(report_charts.search_charts(report.comparisons.searches)),
        "common": report.setup.common,
        "settings": [(each.axis, html_body(each.table)) for each in report.setup.settings],
        "steps": html_body(step_settings.table(report.setup.steps, report.comparisons.points_by_step))
        if report.setup.steps
        else "",
        "next_steps": next_steps(report),
        "dropped": command_lines.dropped(report),
        "claims": report.comparisons.claims,
        "no_claims": claim_text.NONE,
        "claim_words": claim_text,
        "tables": group_html(report.tables.shown),
        "tables_first": summary_text.tables_first(report),
        "meaning": verdicts.MEANING,
        "counted": counted,
        "unfolded": UNFOLDED,
        "unfolded_devices": UNFOLDED_DEVICES,
        "most": step_charts.most_over_time(report),
    }


def _artifacts(build: Build) -> str:
    names = ("artifact", "version", "digest")
    return _words([(each["name"], each["version"], each["digest"]) for each in build.artifacts], names)


def _words(rows: Sequence[Sequence[str]], names: Sequence[str] = ("", "")) -> str:
    return html_body(Table("", columns((), names), tuple(tuple(map(Cell, row)) for row in rows)))


def _section(report: Report, section: Section) -> dict[str, Any]:
    return {
        "step": section.step,
        "arms": len(section.points),
        "figures": html_body(absolute_figures.table(report, section)),
        "note": step_charts.series_note(report, section),
        "over_time": step_charts.over_time(report, section),
        "scaling": step_charts.scaling(section),
        "times": step_charts.response_times(section),
        "trade_offs": step_charts.trade_offs(section),
        "recall": step_charts.recall(section),
        "device": step_charts.devices(report, section),
        "by_client": step_charts.client_rates(report, section),
        "longest": step_charts.longest_series(report, section),
        "commands": command_lines.shortened(list(command_lines.commands(report, section))),
    }


def _overview(report: Report, found: Comparison) -> Mapping[str, Any]:
    pictures = [*report_charts.ratio_charts(report, found)]
    return {
        "base": found.base,
        "html": html_body(comparison_table(found)),
        "map": report_charts.map_chart(found),
        "why": html_body(table) if (table := why.short(report, found)) else "",
        "pictures": pictures,
        "intervals": any(entry.interval for row in found.rows for entry in row.entries),
    }
