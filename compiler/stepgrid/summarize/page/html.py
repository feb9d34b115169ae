"""index.html: one file with one script for its tables, readable without it; nothing is loaded from anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stepgrid.model.package_data import TEMPLATES
from stepgrid.model.table import Cell, Table, columns
from stepgrid.model.units import counted
from stepgrid.summarize.charts import (
    client_charts,
    device_chart,
    heat_map,
    percentile_chart,
    recall_chart,
    scaling_chart,
    search_chart,
    step_charts,
    trade_off_chart,
)
from stepgrid.summarize.charts.svg import Draw, drawn
from stepgrid.summarize.claims import claim_text
from stepgrid.summarize.comparisons.builds import Build
from stepgrid.summarize.comparisons.load_decisions import sentences
from stepgrid.summarize.comparisons.overview import Overview
from stepgrid.summarize.formats.html import body, coded, grouped
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
from stepgrid.summarize.report import Report, Section
from stepgrid.summarize.statistics import verdicts
from stepgrid.summarize.tables import search_tables

if TYPE_CHECKING:
    from markupsafe import Markup

UNFOLDED_DEVICES = 4  # of the device
UNFOLDED = 16  # charts over time that are shown without asking


def page(report: Report, draw: Draw = drawn, alone: bool = False) -> str:
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
    return environment.get_template("index.html.j2").render(_context(report, draw), alone=alone)


def quoted(text: str) -> Markup:
    """Names in backquotes are set as code."""
    from markupsafe import Markup

    return Markup(coded(text))


def _context(report: Report, draw: Draw) -> dict[str, Any]:
    hosts = report.facts.get("host", {})
    return {
        **content_policy.context(TEMPLATES / "report"),
        "report": report,
        "bases": summary_text.bases,
        "brief": step_settings.brief(report.measured_points),
        "repeats": summary_text.repeats(report),
        "decisions": list(sentences(report.decisions, report.until)),
        "host": host.line(report.hardware, hosts),
        "facts": _words([*host.rows(report.hardware, hosts), *database_origin.rows(report.facts.get("image", {}))]),
        "defaults": body(report.defaults.table) if report.defaults else "",
        "artifacts": {build.id: _artifacts(build) for build in report.builds.values() if build.artifacts},
        "answer": list(answer.answers(report)),
        "claimed": claimed_metrics.sentences(report.claims, report.overviews),
        "hints": answer.hints(report),
        "most_answers": answer.MOST,
        "columns": absolute_figures.meanings(report),
        "figures_title": absolute_figures.title(report),
        "many_commands": command_lines.MANY,
        "origin": origin,
        "ladders": [(each, body(each.table) if each.changes else "") for each in report.ladders],
        "overviews": [_overview(report, table, draw) for table in report.overviews],
        "sections": [_section(report, section, draw) for section in report.sections],
        "searches": grouped(list(search_tables.tables(report.searches))),
        "curves": list(search_chart.pictures(report.searches, draw)),
        "common": report.common,
        "settings": [(each.axis, body(each.table)) for each in report.settings],
        "steps": body(step_settings.table(report.steps, report.measured_points)) if report.steps else "",
        "next_steps": next_steps(report),
        "dropped": command_lines.dropped(report),
        "claims": report.claims,
        "no_claims": claim_text.NONE,
        "claim_words": claim_text,
        "tables": grouped(report.shown),
        "tables_first": summary_text.tables_first(report),
        "meaning": verdicts.MEANING,
        "counted": counted,
        "unfolded": UNFOLDED,
        "unfolded_devices": UNFOLDED_DEVICES,
        "most": step_charts.most(report),
    }


def _artifacts(build: Build) -> str:
    names = ("artifact", "version", "digest")
    return _words([(each["name"], each["version"], each["digest"]) for each in build.artifacts], names)


def _words(rows: Sequence[Sequence[str]], names: Sequence[str] = ("", "")) -> str:
    return body(Table("", columns((), names), tuple(tuple(map(Cell, row)) for row in rows)))


def _section(report: Report, section: Section, draw: Draw) -> dict[str, Any]:
    return {
        "step": section.step,
        "arms": len(section.points),
        "figures": body(absolute_figures.table(report, section)),
        "note": step_charts.note(report, section),
        "over_time": step_charts.over_time(report, section, draw),
        "scaling": scaling_chart.pictures(section),
        "times": percentile_chart.picture(section),
        "trade_offs": trade_off_chart.pictures(section),
        "recall": recall_chart.picture(report, section, draw),
        "device": device_chart.pictures(report, section),
        "by_client": client_charts.multiples(report, section, draw),
        "longest": step_charts.longest(report, section),
        "commands": command_lines.shortened(list(command_lines.commands(report, section))),
    }


def _overview(report: Report, found: Overview, draw: Draw) -> Mapping[str, Any]:
    pictures = [step_charts.ratios(report, each, draw) for each in found.tables]
    return {
        "base": found.base,
        "html": body(found.table),
        "map": heat_map.picture(found),
        "why": body(table) if (table := why.short(report, found)) else "",
        "pictures": [picture for picture in pictures if picture],
        "intervals": any(entry.interval for row in found.rows for entry in row.entries),
    }
