"""index.html: answer, doubts, chart and table first, the rest closed; one file, readable without scripts."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from stepgrid.model import units
from stepgrid.model.records import replace
from stepgrid.model.table import MOST_ROWS, Cell, Table, group, word_table
from stepgrid.model.units import counted
from stepgrid.package import TEMPLATES
from stepgrid.plan.difference import yaml_text
from stepgrid.plugins.layout import MARK
from stepgrid.summarize import absolute_figures, claims, findings, next_action, sentences, setup, summary_text
from stepgrid.summarize.comparisons.comparison import Comparison, comparison_table
from stepgrid.summarize.comparisons.comparison_axes import StepPoints
from stepgrid.summarize.formats import cell_data, html_body, html_text, note_once
from stepgrid.summarize.notes import Doubt
from stepgrid.summarize.rate_curves import rate_tables
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_formats import ALONE, FormOptions
from stepgrid.summarize.report_tables import search_tables
from stepgrid.summarize.setup import PRIVATE, SIZES, Facts, way_text
from stepgrid.summarize.statistics import verdicts
from stepgrid.summarize.statistics.verdicts import MARKS
from stepgrid_page import report_charts, step_charts
from stepgrid_page.drawing import PageMarks, stand_alone
from stepgrid_page.markdown_post import compact_table
from stepgrid_page.step_charts import Chart

if TYPE_CHECKING:
    from markupsafe import Markup

MOST_OPEN = 2  # comparisons beside the first
MOST_BASES, MOST_BASE_CELLS = 8, 600  # arms that the page can be shown against, and cells of all their tables
MOST_METRICS = 6  # other metrics whose ratios are drawn
MOST_CELLS, MOST_COLUMNS = 72, 8  # of a table that is open
DOUBT_ROOMS = 270, 85  # letters of doubts that two lines hold, of a wide and a narrow screen
MEANS = "Means of the loads."
# title, and notes: the second where there are several loads
KINDS = {
    "latency": ("Latency", "In µs: the mark is p50, the ticks are p99 and p99.9.", MEANS),
    "over time": (
        "Over time",
        "Ticks: stalls, seconds with less than a tenth of the median.",
        "Grey: single loads; bold: their median.",
    ),
    "device": (
        "Events and device over time",
        "The first load of an arm. Below QPS: what the engine's log or a collector says when it happened; grey bands: "
        "dips, seconds below half of the median QPS. Reads and writes are those of the whole device, also for others.",
        "",
    ),
    "trade-offs": ("Trade-offs", "A line joins the points that no other one beats in both figures.", MEANS),
    "scaling": ("Scaling", "", f"{MEANS} A band reaches from the lowest to the highest load."),
}
MODULES = (
    absolute_figures,
    claims,
    findings,
    next_action,
    sentences,
    setup,
    summary_text,
    verdicts,
)  # whose functions templates call
STYLES, SCRIPT = ("chart.css", "style.css"), "page.js"


class ComparisonPart(NamedTuple):
    """A comparison on the page; its chart and table are open as long as there is room."""

    id: str
    title: str
    chart: Chart | None
    table: Table | None
    intervals: str  # the table with intervals as HTML, where it takes the place of the other
    rows: int
    is_open: bool = False
    is_table_open: bool = False


class BaseView(NamedTuple):
    """Answer, chart and table of the first comparison against one of its arms."""

    label: str
    report: Report
    chart: Chart | None
    part: ComparisonPart | None


class DoubtBox(NamedTuple):
    """Doubts of a report with one base."""

    label: str
    doubts: Sequence[Doubt]
    briefs: Sequence[str]
    most: Sequence[int]  # briefs that two lines hold whole, at least one, of a wide and a narrow screen


def page(report: Report, options: FormOptions = ALONE, image: str = "") -> str:
    """Render the page of a report. `image`: address of its picture."""
    marks = PageMarks()  # arms get their marks in the order of the charts
    views = [*_base_views(report, marks)]
    charts = {
        "base_views": views,
        "comparisons": [*_comparisons(report, marks)],
        "other_metrics": _other_metrics(report, marks),
        "step_charts": _step_charts(report, marks),
        "curves": [
            *report_charts.rate_charts(report.comparisons.rates, marks),
            *report_charts.search_charts(report.comparisons.searches, marks),
        ],
    }
    values = {
        **charts,
        "report": report,
        "alone": options.alone,
        "image": image,
        "doubt_boxes": _doubt_boxes(views),
        "kinds": KINDS,
        "searches": _group_html([*rate_tables(report.comparisons.rates), *search_tables(report.comparisons.searches)]),
        "causes": _causes(report),
        "tables": _group_html([_with_names(table) for table in report.tables.visible]),
        "setup_facts": _setup(report),
    }
    return render("index.html.j2", values)


def fragment(report: Report, _: FormOptions = ALONE) -> str:
    """Render what a post quotes: answer, doubts, chart and table, for a page with a style of its own."""
    chart = report_charts.main_chart(report, PageMarks())
    comparison = next(iter(report.comparisons.leading), None)
    table = compact_table(comparison) if comparison else None
    if comparison and table and len(table.rows) * len(table.columns) > MOST_CELLS:
        table = None  # the picture has its figures
    picture = b64encode(stand_alone(chart.svg).encode()).decode() if chart else ""
    return render("fragment.html.j2", {"report": report, "chart": chart, "picture": picture, "table": table}) + "\n"


def render(name: str, values: Mapping[str, object], folder: str = "report", script: bool = True) -> str:
    """Render a template under the content policy of our pages."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader([TEMPLATES / folder, TEMPLATES / "report"]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"quoted": quoted, "split_figure": split_figure, "body": _body, "data": _data}
    environment.globals |= {module.__name__.rpartition(".")[2]: module for module in MODULES}
    environment.globals |= {"counted": counted, "zip": zip, "comparison_table": comparison_table}
    environment.globals |= {"words": _words, "most_rows": MOST_ROWS, "many_commands": MANY_COMMANDS}
    environment.globals |= {"host_rows": host_rows, "database_rows": database_rows}
    environment.globals |= {"step_commands": step_commands, "shorten_commands": shorten_commands}
    return environment.get_template(name).render(**policy(script), **values)


def _body(table: Table) -> Markup:
    from markupsafe import Markup

    return Markup(html_body(table))


def _data(cell: Cell, label: str = "") -> Markup:
    from markupsafe import Markup

    return Markup(cell_data(cell, label))


def quoted(text: str) -> Markup:
    """Set names in backquotes as code."""
    from markupsafe import Markup

    return Markup(html_text(text))


def split_figure(text: str) -> Markup:
    """Set the figure of a cell apart from its arrow and ratio, which the page's controls may replace."""
    from markupsafe import Markup

    words = text.split(" ")
    index = next((at for at, word in enumerate(words) if word in (*MARKS.values(), MARK) or units.TIMES in word), 0)
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


# Comparisons


def _base_views(report: Report, marks: PageMarks) -> Iterator[BaseView]:
    """Show the report against its base, then against each other arm, as a spec with that base would have it."""
    first = next(iter(report.comparisons.leading), None)
    yield _base_view(report, first, marks, "against-1")
    if first is None or report.against is None or len(first.arms) > MOST_BASES:
        return
    if len(first.rows) * len(first.arms) ** 2 > MOST_BASE_CELLS:
        return
    for number, arm in enumerate(first.arms[1:], 2):
        base = {name: label for name, label in zip(first.layout.across, arm, strict=True) if label}
        other = report.against(base)
        comparison = next(iter(other.comparisons.leading), None)
        if comparison and comparison.layout.base == base:
            yield _base_view(other, comparison, marks, f"against-1-base-{number}")


def _doubt_boxes(views: Sequence[BaseView]) -> list[DoubtBox]:
    """Make a box for each base, or one for all where they have the same doubts."""
    if all(view.report.notes.doubts == views[0].report.notes.doubts for view in views):
        views = views[:1]
    boxes = []
    for view in views:
        briefs = sentences.doubt_briefs(view.report)
        lengths = [*accumulate(len(brief) + 3 for brief in briefs)]
        most = [max(1, sum(length <= room for length in lengths)) for room in DOUBT_ROOMS]
        boxes.append(DoubtBox(view.label, view.report.notes.doubts, briefs, most))
    return boxes


def _base_view(report: Report, first: Comparison | None, marks: PageMarks, name: str) -> BaseView:
    chart = report_charts.main_chart(report, marks)
    if first is None:
        return BaseView("", report, chart, None)
    columns_count = len(first.arms) + len(first.layout.down) + 1
    is_small = len(first.rows) * columns_count <= MOST_CELLS and columns_count <= MOST_COLUMNS
    title = f"{first.metric.heading} and ratio to {first.base}"
    part = _part(name, first, None)._replace(title=title, is_open=True, is_table_open=is_small)
    return BaseView(", ".join(filter(None, first.arms[0])), report, chart, part)


def _comparisons(report: Report, marks: PageMarks) -> Iterator[ComparisonPart]:
    """Lay out the other comparisons of the leading metric: a few have their chart open."""
    for number, comparison in enumerate(report.comparisons.leading[1:], 1):
        chart = report_charts.ratio_chart(report, comparison, marks)
        part = _part(f"against-{number + 1}", comparison, chart)
        yield part._replace(is_open=chart is not None and number <= MOST_OPEN)


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
    return ComparisonPart(name, _title(comparison), chart, table, intervals, count)


def _title(comparison: Comparison) -> str:
    shipped = any(entry.as_shipped for row in comparison.rows for entry in row.entries)
    return f"{comparison.metric.heading} relative to {comparison.base}{', as shipped' if shipped else ''}"


# What is closed


def _step_charts(report: Report, marks: PageMarks) -> dict[str, list[Chart]]:
    charts: dict[str, list[Chart]] = {}
    for section in report.comparisons.sections:
        for kind, members in step_charts.step_charts(report, section, marks).items():
            charts.setdefault(kind, []).extend(members)
    return {kind: charts[kind] for kind in KINDS if kind in charts}


def _causes(report: Report) -> list[tuple[str, Table]]:
    tables = (
        (comparison, report.explanation.table(report, comparison, MOST_ROWS)) for comparison in report.comparisons.all
    )
    return [(f"Differences from {comparison.base}", table) for comparison, table in tables if table]


def _group_html(tables: Sequence[Table]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Group tables by title: (block, HTML) of each. A note below several of them stands once."""
    return list(group((table.title, (table.block, html_body(table))) for table in note_once(tables)).items())


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


def _setup(report: Report) -> list[tuple[str, Sequence[str]]]:
    """List the facts of the text that stand nowhere else on the page."""
    facts = dict(summary_text.setup_facts(report))
    facts |= {"status": facts["status"][:1], "differs": report.notes.differs, "not compared": report.notes.left_out}
    return [(name.capitalize(), texts) for name, texts in facts.items() if name != "builds" and any(texts)]


def _words(rows: Iterable[Sequence[str]], names: Sequence[str] = ("", "")) -> Markup:
    return _body(word_table("", names, list(rows)))


def host_rows(hardware: Mapping[str, object], hosts: Facts) -> Iterator[tuple[str, str]]:
    """Yield facts that were planned for, then those that attempts saw, where they have few values."""
    planned = list(_flat("", hardware))
    yield from planned
    for name in dict.fromkeys(name for facts in hosts.values() for name in facts if name not in PRIVATE):
        values = [*dict.fromkeys(facts[name] for facts in hosts.values() if name in facts)]
        if len(values) == 1:
            value = _parsed(values[0])
            facts = value if name == "hardware" and isinstance(value, dict) else {name: value}
            yield from (row for row in _flat("", facts) if row not in planned)
        elif len(values) <= 3:
            yield name.replace("_", " "), " / ".join(values)


def _flat(prefix: str, facts: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(f"{prefix}{name} ", value)
        elif value is not None and name != "declared":
            yield f"{prefix}{name}".replace("_", " "), _value_text(name, value)


def _value_text(name: str, value: Any) -> str:
    if name in SIZES and (size := units.as_number(value)) is not None:
        return units.size(size)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_value_text(name, item) for item in value)
    return yaml_text(value) if isinstance(value, Mapping) else str(value)


def database_rows(images: Facts) -> Iterator[tuple[str, str]]:
    """Yield the ways in which databases came about; nothing where none was restored."""
    ways = Counter(facts["method"] for facts in images.values() if "method" in facts)
    if set(ways) - {"empty"}:
        seconds, copied = (
            sum(units.as_number(_parsed(facts.get(name, "0"))) or 0.0 for facts in images.values())
            for name in ("seconds", "copied")
        )
        texts = ", ".join(f"{way_text(way)} ({count})" for way, count in ways.most_common())
        yield "databases", f"{texts}; {units.seconds(seconds)} and {units.size(copied)} of copies in all"


MANY_COMMANDS = 24  # commands of a step that are shown whole
# folders before ours
_BEFORE = re.compile(r"(?<![^:;=,])/[^:;=,]*?(?=(?:builds/b|(?:attempts|live)/s)-[0-9a-f]{20})")


class StepCommand(NamedTuple):
    arm: str
    text: str


def step_commands(section: StepPoints, facts: Facts) -> Iterator[StepCommand]:
    """Yield the command of the first run of each arm that has one; `facts`: of commands."""
    for point in section.points:
        records = (facts.get(f"{run.place[0]}/{run.attempt}/{run.place[1]}", {}) for run in point.runs)
        if record := next((record for record in records if "argv" in record), None):
            arm = section.point_name(point)
            yield StepCommand(arm or section.step, command_line(record))


def shorten_commands(commands: Sequence[StepCommand]) -> Sequence[StepCommand]:
    """Keep the first of many commands, and of the others the words in which they differ from it."""
    if len(commands) <= MANY_COMMANDS:
        return commands
    first, *arms = commands
    return [first, *(StepCommand(arm, _different_words(first.text, text) or text) for arm, text in arms)]


def _different_words(first: str, text: str) -> str:
    """… --cache_size=8388608 … --bloom_bits=10 …; nothing where they do not stand at the same places."""
    words, arm_words = first.split(" "), text.split(" ")
    if len(words) != len(arm_words):
        return ""
    different = [arm_word for word, arm_word in zip(words, arm_words, strict=True) if word != arm_word]
    return f"… {' … '.join(different)} …" if different else "…"


def command_line(record: Mapping[str, str]) -> str:
    argv, env = json.loads(record["argv"]), json.loads(record.get("env", "{}")) or {}
    if argv[1:3] == ["-P", "-m"] and re.match(r"stepgrid\w*\.", "".join(argv[3:4])):  # a program of ours
        argv, env = ["python", *argv[2:]], {name: value for name, value in env.items() if name != "PYTHONPATH"}
    return " ".join([*(f"{name}={_quoted(value)}" for name, value in env.items()), *map(_quoted, argv)])


@lru_cache(1 << 16)  # commands of a report are much alike
def _quoted(word: str) -> str:
    return shlex.quote(_BEFORE.sub("outputs/", word))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
