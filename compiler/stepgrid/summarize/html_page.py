"""index.html: answer, doubts, chart and table first, the rest closed; one file, readable without scripts."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from stepgrid.model import units
from stepgrid.model.plan import is_imported
from stepgrid.model.status import Status
from stepgrid.model.table import ABSENT, MOST_ROWS, NOTHING, Cell, Column, Table, columns
from stepgrid.model.units import counted
from stepgrid.package import TEMPLATES
from stepgrid.summarize import absolute_figures, claims, provenance, setup
from stepgrid.summarize.causes import why_table
from stepgrid.summarize.charts import report_charts, step_charts
from stepgrid.summarize.charts.drawing import PageMarks, stand_alone
from stepgrid.summarize.charts.step_charts import Chart
from stepgrid.summarize.comparisons import decisions
from stepgrid.summarize.comparisons.comparison import BASE, RATIO, Comparison, Entry, PooledRatio
from stepgrid.summarize.comparisons.comparison_table import MIXED, MOST_PLACES, comparison_table
from stepgrid.summarize.findings import findings
from stepgrid.summarize.formats import group_html, html_body, html_text
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_tables import search_tables
from stepgrid.summarize.sentences import (
    advice,
    banner,
    doubt_briefs,
    doubts_line,
    glossary,
    ratio_note,
    reason_line,
    spec_words,
    subtitle,
)
from stepgrid.summarize.statistics import verdicts
from stepgrid.summarize.statistics.verdicts import ARROWS

if TYPE_CHECKING:
    from markupsafe import Markup

MOST_CARDS, MOST_CLAIMS, MOST_OPEN = 3, 6, 2  # open answers, claims, and comparisons beside the first
MOST_METRICS = 6  # other metrics whose ratios are drawn
MOST_CELLS, MOST_COLUMNS = 72, 8  # of a table that is open
DOUBT_ROOMS = 270, 85  # letters of doubts that two lines hold, of a wide and a narrow screen
KINDS = {
    "latency": ("Latency", "In µs: the mark is p50, the ticks are p99 and p99.9; medians of the loads."),
    "over time": (
        "Over time",
        "Grey: single loads; bold: their median. Red ticks: stalls, seconds with less than a tenth of the median.",
    ),
    "device": ("Device over time", "The first load of an arm; reads and writes of the whole device, also for others."),
    "trade-offs": (
        "Trade-offs",
        "Medians of the loads; a line joins the points that no other one beats in both figures.",
    ),
    "scaling": ("Scaling", "Medians of the loads; a band reaches from the lowest to the highest load."),
}
SIGNS = {"holds": "✔", "fails": "✘", "undecided": "?"}
STYLES, SCRIPT = ("chart.css", "style.css"), "page.js"


class ComparisonPart(NamedTuple):
    """A comparison on the page; its chart and table are open as long as there is room."""

    id: str
    title: str
    base: str
    chart: Chart | None
    table: Table | None
    intervals: str  # the table with intervals as HTML, where it takes the place of the other
    rows: int
    is_open: bool = False
    pooled: Table | None = None
    is_table_open: bool = False


def page(report: Report, alone: bool = False, image: str = "") -> str:
    """Render the page of a report. `alone`: no other files lie beside it; `image`: address of its picture."""
    return render("index.html.j2", {**_context(report), "alone": alone, "image": image})


def fragment(report: Report) -> str:
    """Render what a post quotes: answer, doubts, chart and table, for a page with a style of its own."""
    chart = report_charts.main_chart(report, PageMarks())
    comparison = next(iter(report.comparisons.leading), None)
    table = compact_table(comparison) if comparison else None
    if comparison and table and len(table.rows) * len(table.columns) > MOST_CELLS:
        table = pooled_table(comparison)
    values = {
        "report": report,
        "setup_line": subtitle(report),
        "answers": findings(report)[:MOST_CARDS],
        "doubt_line": doubts_line(report),
        "chart": chart,
        "picture": b64encode(stand_alone(chart.svg).encode()).decode() if chart else "",
        "why": reason_line(report),
        "table": table,
        "legend": _legend(report),
        "origin": provenance.origin_line(report.setup),
    }
    return render("fragment.html.j2", values) + "\n"


def render(name: str, values: Mapping[str, Any], folder: str = "report", script: bool = True) -> str:
    """Render a template under the content policy of our pages."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader([TEMPLATES / folder, TEMPLATES / "report"]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["quoted"] = quoted
    environment.filters["split_figure"] = split_figure
    return environment.get_template(name).render(**policy(script), **values)


def quoted(text: str) -> Markup:
    """Set names in backquotes as code."""
    from markupsafe import Markup

    return Markup(html_text(text))


def split_figure(text: str) -> Markup:
    """Set the figure of a cell apart from its arrow and ratio, which the page's controls may replace."""
    from markupsafe import Markup

    words = text.split(" ")
    index = next((at for at, word in enumerate(words) if word in ARROWS.values() or units.TIMES in word), 0)
    figure = Markup('<span class="abs">{}</span> ').format(" ".join(words[:index])) if index else Markup("")
    return figure + Markup('<span class="ratio">{}</span>').format(" ".join(words[index:]))


def policy(script: bool = True) -> Mapping[str, Markup]:
    """Return `policy`, `style` and `script` of a template.

    The browser compares both texts to the policy, loads nothing from anywhere, and may draw pictures from data.
    A name that became markup after all would run nothing.
    """
    from markupsafe import Markup

    texts = {"style": "\n".join(_template(name) for name in STYLES)}
    if script:
        texts["script"] = _template(SCRIPT)
    digests = {name: b64encode(hashlib.sha256(text.encode()).digest()).decode() for name, text in texts.items()}
    rules = [f"{name}-src 'sha256-{digest}'" for name, digest in digests.items()]
    pictures = ["img-src data:"] if script else []
    rule = "; ".join(["default-src 'none'", *rules, *pictures, "base-uri 'none'", "form-action 'none'"])
    return {"policy": Markup(rule), **{name: Markup(text) for name, text in texts.items()}}


def _template(name: str) -> str:
    return Path(TEMPLATES / "report" / name).read_text(encoding="utf-8")


def _context(report: Report) -> dict[str, Any]:
    marks = PageMarks()
    answers = findings(report)
    main = report_charts.main_chart(report, marks)
    hosts = report.data.facts.get("host", {})
    short = [comparison for comparison in report.comparisons.all if len(comparison.rows) <= MOST_ROWS]
    return {
        "report": report,
        "setup_line": subtitle(report),
        "banner": banner(report),
        "cards": answers[:MOST_CARDS],
        "more_cards": answers[MOST_CARDS:],
        "doubts": report.notes.doubts,
        "doubt_briefs": doubt_briefs(report),
        "most_doubts": [_doubts_within(doubt_briefs(report), room) for room in DOUBT_ROOMS],
        "main_chart": main,
        "why": reason_line(report),
        "comparisons": [*_comparisons(report, marks)],
        "other_metrics": _other_metrics(report, marks),
        "legend": " ".join(filter(None, (_legend(report), ratio_note(report)))),
        "ladders": [
            (ladder, html_body(ladder.table) if ladder.changes else "") for ladder in report.comparisons.ladders
        ],
        "claims": report.comparisons.claims,
        "most_claims": MOST_CLAIMS,
        "claim_words": claims,
        "signs": SIGNS,
        "step_charts": _step_charts(report, marks),
        "titles": {kind: title for kind, (title, _) in KINDS.items()},
        "kind_notes": {kind: note for kind, (_, note) in KINDS.items()},
        "searches": group_html(list(search_tables(report.comparisons.searches))),
        "curves": [*report_charts.search_charts(report.comparisons.searches, marks)],
        "causes": _causes(report),
        "intervals": [(table.title, html_body(table)) for table in map(comparison_table, short)],
        "sections": [_section(report, section) for section in report.comparisons.sections],
        "figures_title": absolute_figures.title(report),
        "steps": html_body(setup.step_table(report.setup.steps, report.comparisons.points_by_step))
        if report.setup.steps
        else "",
        "tables": group_html([_with_names(table) for table in report.tables.visible]),
        "settings": [(setting.axis, html_body(setting.table)) for setting in report.setup.settings],
        "common": report.setup.common,
        "dropped": provenance.dropped_options(report.comparisons.sections, report.data.facts.get("command", {})),
        "defaults": html_body(report.setup.defaults.table) if report.setup.defaults else "",
        "many_commands": provenance.MANY,
        "missing": report.notes.coverage.troubles,
        "artifacts": {build.id: _artifacts(build) for build in report.setup.builds.values() if build.artifacts},
        "facts": _words(
            [
                *provenance.host_rows(report.setup.hardware, hosts),
                *provenance.database_rows(report.data.facts.get("image", {})),
            ]
        ),
        "method": verdicts.METHOD,
        "meaning": [*glossary(report).items(), *verdicts.MEANING.items(), *absolute_figures.meanings(report)],
        "run_command": "" if is_imported(report.setup.spec) else f"stepgrid run {spec_words(report)}",
        "setup": _setup(report),
        "advice": advice(report),
        "next_steps": provenance.next_steps(
            report.setup,
            report.comparisons.leading,
            report.comparisons.claims,
            report.notes.coverage.incomplete,
            report.data.facts,
        ),
        "zip": zip,
        "counted": counted,
    }


def _doubts_within(briefs: Sequence[str], room: int) -> int:
    """Count the doubts that two lines hold whole, at least one."""
    lengths = accumulate(len(brief) + 3 for brief in briefs)
    return max(1, sum(length <= room for length in lengths))


# Comparisons


def _comparisons(report: Report, marks: PageMarks) -> Iterator[ComparisonPart]:
    """Lay out the comparisons of the leading metric: the first has its chart above, a few more theirs here."""
    for number, comparison in enumerate(report.comparisons.leading):
        chart = report_charts.ratio_chart(report, comparison, marks) if number else None
        part = _part(f"against-{number + 1}", comparison, chart)
        if number:
            yield part._replace(is_open=chart is not None and number <= MOST_OPEN)
        else:
            columns_count = len(comparison.arms) + len(comparison.layout.down) + 1
            is_small = len(comparison.rows) * columns_count <= MOST_CELLS and columns_count <= MOST_COLUMNS
            title = f"{comparison.metric.title} and ratio to {comparison.base}"
            pooled = None if is_small else pooled_table(comparison)
            yield part._replace(title=title, is_open=True, pooled=pooled, is_table_open=is_small)


def _other_metrics(report: Report, marks: PageMarks) -> list[ComparisonPart]:
    """Lay out what other metrics say, all of it closed."""
    closed_comparisons = report.comparisons.all[len(report.comparisons.leading) :]
    charts = [report_charts.ratio_chart(report, comparison, marks) for comparison in closed_comparisons[:MOST_METRICS]]
    pairs = zip_longest(closed_comparisons, charts)
    return [_part(f"other-{number}", *pair) for number, pair in enumerate(pairs, 1)]


def _part(name: str, comparison: Comparison, chart: Chart | None) -> ComparisonPart:
    """Lay out a comparison, closed; of many points the table with intervals takes the place of the short one."""
    is_long = len(comparison.rows) > MOST_ROWS
    table = None if is_long else compact_table(comparison)
    intervals = html_body(comparison_table(comparison)) if is_long else ""
    count = len(comparison.rows)
    return ComparisonPart(name, _title(comparison), comparison.base, chart, table, intervals, count)


def _title(comparison: Comparison) -> str:
    shipped = any(entry.as_shipped for row in comparison.rows for entry in row.entries)
    return f"{comparison.metric.title} relative to {comparison.base}{', as shipped' if shipped else ''}"


def compact_table(comparison: Comparison) -> Table:
    """Make the table to paste: figure, arrow and ratio of each arm; without labels that are the same in all rows."""
    names = ("step", *comparison.layout.down)
    labels = [tuple(label or "-" for label in (row.step, *row.labels)) for row in comparison.rows]
    varying = [index for index in range(len(names)) if len({row[index] for row in labels}) > 1] or [0]
    heads = [Column(names[index], label=True) for index in varying]
    heads += [Column(comparison.base, unit=BASE), *map(Column, comparison.arm_names)]
    rows = tuple(
        (*(Cell(row_labels[index]) for index in varying), *(_compact(entry, comparison) for entry in row.entries))
        for row, row_labels in zip(comparison.rows, labels, strict=True)
    )
    return Table(f"{comparison.metric.title} and ratio to {comparison.base}", tuple(heads), rows)


def _compact(entry: Entry, comparison: Comparison) -> Cell:
    """Write figure and ratio; the verdict with its interval is what a reader gets who points at it."""
    spread = entry.point.spread(comparison.metric.name) if entry.point else None
    figure = units.figure(spread[0], comparison.metric.unit) if spread else ""
    if entry.kind == RATIO and entry.ratio is not None:
        ratio = " ".join(filter(None, (ARROWS.get(entry.verdict or ""), units.times(entry.ratio))))
        return Cell(f"{figure} {ratio}", entry.verdict or "", entry.ratio, verdict=report_charts.entry_text(entry))
    return Cell(figure or (NOTHING if entry.kind == ABSENT else entry.kind), entry.kind)


def pooled_table(comparison: Comparison) -> Table | None:
    """Make the table of ratios over all points of a step, with a column for each arm."""
    names = list(dict.fromkeys(pooled.name for pooled in comparison.pooled))[:MOST_COLUMNS]
    steps = list(dict.fromkeys(pooled.step for pooled in comparison.pooled))[: MOST_CELLS // 6]
    cells = {(pooled.step, pooled.name): _pooled_cell(pooled) for pooled in comparison.pooled}
    if not names:
        return None
    rows = tuple((Cell(step), *(cells.get((step, name), Cell(NOTHING, ABSENT)) for name in names)) for step in steps)
    heads = (Column("over all points", label=True), *map(Column, names))
    is_mixed = any(pooled.dissenting for pooled in comparison.pooled)
    notes = (f"{MIXED}: some points are on the other side of 1.",) if is_mixed else ()
    return Table(f"Ratio to {comparison.base} over all points", heads, rows, notes=notes)


def _pooled_cell(pooled: PooledRatio) -> Cell:
    parts = [f"{counted(pooled.points, 'point')}, {units.times(pooled.lowest)} to {units.times(pooled.highest)}"]
    if pooled.interval:
        parts.insert(0, units.ratio_with_interval(pooled.ratio, pooled.interval.low, pooled.interval.high, units.TIMES))
    if pooled.dissenting:
        parts.append(f"the other way round at {'; '.join(pooled.dissenting[:MOST_PLACES])}")
    signs = (ARROWS.get(pooled.verdict or ""), units.times(pooled.ratio), MIXED if pooled.dissenting else "")
    return Cell(" ".join(filter(None, signs)), pooled.verdict or "", pooled.ratio, verdict="; ".join(parts))


def _legend(report: Report) -> str:
    """Explain the marks of the table to paste."""
    effect = units.percent(report.setup.effect)
    if report.setup.loads[1] == 1:
        return "One load of each: figures and ratios as they came out, without verdicts."
    return (
        f"▼ slower, ▲ faster: the whole 95 % interval is more than {effect} from 1. Point at a ratio for its interval."
    )


# What is closed


def _step_charts(report: Report, marks: PageMarks) -> dict[str, list[Chart]]:
    charts: dict[str, list[Chart]] = {}
    for section in report.comparisons.sections:
        for kind, members in step_charts.step_charts(report, section, marks).items():
            charts.setdefault(kind, []).extend(members)
    return {kind: charts[kind] for kind in KINDS if kind in charts}


def _causes(report: Report) -> list[tuple[str, str]]:
    tables = (
        (comparison, why_table(comparison, report.setup, report.data.details, MOST_ROWS))
        for comparison in report.comparisons.all
    )
    return [(f"Differences from {comparison.base}", html_body(table)) for comparison, table in tables if table]


def _section(report: Report, section: Any) -> dict[str, Any]:
    return {
        "step": section.step,
        "figures": html_body(absolute_figures.table(report, section)),
        "note": "",
        "commands": provenance.shorten_commands(
            list(provenance.commands(section, report.data.facts.get("command", {})))
        ),
    }


def _with_names(table: Table) -> Table:
    """Head columns by the names that lines above a published table give its numbered ones; a page has the room."""
    pairs = [(line, line.partition(" : ")) for line in table.before]
    names = {head: name for _, (head, _, name) in pairs if head in {column.name for column in table.columns}}
    return replace(
        table,
        columns=tuple(column._replace(name=names.get(column.name, column.name)) for column in table.columns),
        rows=tuple(
            tuple(cell._replace(text="∞") if cell.text == "INF" else cell for cell in row) for row in table.rows
        ),
        before=tuple(line for line, (head, *_) in pairs if head not in names),
    )


def _artifacts(build: Any) -> str:
    names = ("artifact", "version", "digest")
    return _words([(artifact["name"], artifact["version"], artifact["digest"]) for artifact in build.artifacts], names)


def _words(rows: Sequence[Sequence[str]], names: Sequence[str] = ("", "")) -> str:
    return html_body(Table("", columns((), names), tuple(tuple(map(Cell, row)) for row in rows)))


def _setup(report: Report) -> list[tuple[str, Sequence[str]]]:
    bases = {
        comparison.layout.base.get(axis.name) for comparison in report.comparisons.all for axis in report.setup.axes
    }
    axes = [
        f"{axis.name}: {', '.join(f'{label} (base)' if label in bases else label for label in axis.labels)}"
        for axis in report.setup.axes
    ]
    counts = ", ".join(
        f"{number} {name}" for name, number in report.notes.coverage.counts.items() if number or name == Status.DONE
    )
    fewest, most = report.setup.loads
    loads = counted(most, "load") if fewest == most else f"{fewest} to {most} loads"
    repeats = f"{loads}{f', {report.setup.runs} runs of each' if report.setup.runs > 1 else ''}"
    rows = [
        ("Compared", axes),
        ("Steps", [setup.steps_in_brief(report.comparisons.points_by_step)]),
        ("Repeats", [repeats, *decisions.decision_sentences(report.comparisons.decisions, report.setup.until)]),
        ("Status", [f"{counts} (measured steps)"]),
        ("Quiet after", report.notes.quiet),
        ("Differs", report.notes.differs),
        ("Not compared", report.notes.left_out),
        ("Host", [provenance.host_line(report.setup.hardware, report.data.facts.get("host", {}))]),
        ("Measured", [provenance.measured_text(report.setup, report.data.facts)]),
        ("Made from", [provenance.origin_line(report.setup)]),
    ]
    return [(name, [text for text in texts if text]) for name, texts in rows if any(texts)]
