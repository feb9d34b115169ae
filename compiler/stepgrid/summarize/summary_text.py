"""Plain text of a report: summary.txt has all of it, in the order of the page; a run ends with the brief."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from stepgrid.host.terminal_output import INDENT, Paint, wrap
from stepgrid.model import units
from stepgrid.model.metrics import SLOW
from stepgrid.model.plan import BUILD
from stepgrid.model.records import replace
from stepgrid.model.status import Status
from stepgrid.model.table import ABSENT, NOTHING, Cell, Table, group
from stepgrid.model.units import DASH, counted, percent
from stepgrid.package import __version__
from stepgrid.store.store import BRIEF_WIDTHS
from stepgrid.summarize import absolute_figures, claims, formats, next_action, sentences, setup
from stepgrid.summarize.arms import short_build
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison import (
    RATIO,
    ArmEntry,
    Comparison,
    comparison_table,
    figure_text,
    pooled_table,
)
from stepgrid.summarize.comparisons.comparison_axes import StepPoints
from stepgrid.summarize.comparisons.decisions import decision_sentences
from stepgrid.summarize.cost import cost_line
from stepgrid.summarize.findings import findings, findings_by_metric
from stepgrid.summarize.formats import SENTENCES, text_lines
from stepgrid.summarize.rate_curves import rate_tables
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_tables import search_tables
from stepgrid.summarize.statistics import verdicts
from stepgrid.summarize.statistics.verdicts import ARROWS

MOST_FINDINGS, MOST_CAUSES, MOST_LOGS = 12, 12, 3
MOST_SECTIONS = 12  # of more steps the tables come first
STALLED = 0.05  # share of slow seconds from which a step is named
LABEL = 13  # columns of the names of facts
UNITS = {"over limit": "%", "stalled": "%", "drain": "s"}
PERCENTILES = ("p50", "p99", "p99.9", "read p99", "write p99", "seek p99")
CPU, RANGE = ("CPU/op", "client CPU", "server CPU"), "lowest-highest"
COLUMNS = (
    "QPS",
    RANGE,
    *(head for _, head in absolute_figures.STEADY),
    *PERCENTILES,
    *CPU,
    "w-amp",
    *UNITS,
    "L0 debt",
    *(head for _, head, _ in absolute_figures.GARBAGE),
)
EXPLAINED = COLUMNS[COLUMNS.index("w-amp") :]  # at the end


def text(report: Report, page: Path | None) -> str:
    title = f"{report.setup.title}{report.setup.scale_words}"
    banners = filter(None, (sentences.incomplete(report), sentences.banner(report)))
    subtitle = wrap(sentences.subtitle(report), "", "", SENTENCES)
    blocks = [[title, "=" * len(title), *subtitle, *banners], _answer(report)]
    actions = dict(next_action.lines(report))
    texts = [actions["decision"], *(f"{name}: {actions[name]}" for name in ("cost", "latency") if actions[name])]
    blocks.append(_titled("decision", _wrapped(filter(None, texts))))
    care = doubts(report)
    blocks.append(_titled(f"read with care ({len(care)})", _wrapped(care)))
    differences = (*report.notes.differs, *report.notes.left_out)
    blocks.append(_titled("differences", _wrapped(differences)))
    for answer in report.grid_answers:
        blocks.append(_titled(answer.title, _wrapped(answer.sentences)))
        blocks += map(_lines, answer.tables)
    for number, comparison in enumerate(report.comparisons.leading):
        blocks += _comparison(report, comparison, not number)
    blocks.append(_other_metrics(report))
    for comparison in report.comparisons.all[len(report.comparisons.leading) :]:
        blocks += _comparison(report, comparison, False)
    changes = [text for ladder in report.comparisons.ladders for text in ladder.sentences]
    blocks.append(_titled("changes", _wrapped(changes)))
    blocks += [_lines(ladder.table) for ladder in report.comparisons.ladders if ladder.changes]
    blocks.append(_titled("claims", _wrapped(claims.lines(report.comparisons.claims))))
    blocks += [*_figures(report), *_setup(report), _next(report), _titled("method and words", _wrapped(_words(report)))]
    if page:
        blocks.append([f"page: {page}"])
    return "\n".join("\n".join(block) + "\n" for block in blocks if block)


def _titled(title: str, lines: Iterable[str]) -> list[str]:
    lines = list(lines)
    return [title, "-" * len(title), *lines] if lines else []


def _wrapped(texts: Iterable[str]) -> Iterator[str]:
    """Wrap sentences; one that begins with blanks belongs to the one before it."""
    for sentence in texts:
        indent = INDENT * (2 if sentence.startswith(" ") else 1)
        yield from wrap(sentence.strip(), indent, indent + INDENT, SENTENCES)


def _lines(table: Table) -> list[str]:
    return formats.text_table(table).splitlines()


# Answer and comparisons


def _answer(report: Report) -> list[str]:
    answers = findings(report)
    lines = []
    for finding in answers[:MOST_FINDINGS]:
        lines += [f"{finding.headline} {finding.detail}", f" {finding.note}"]
    if (omitted := len(answers) - MOST_FINDINGS) > 0:
        lines.append(f"and {counted(omitted, 'arm')} more, which differ less")
    texts = [
        *report.notes.reproduction,
        *(answer.sentences[0] for answer in report.grid_answers),
        *filter(str.strip, lines),
        *sentences.advice(report),
    ]
    return _titled("answer", _wrapped(texts))


def _other_metrics(report: Report) -> list[str]:
    """Write a line for each metric with the ratios of its arms."""
    lines, answered = [], {report.setup.metric.name, *(search.axis.metric for search in report.comparisons.searches)}
    for metric, answers in findings_by_metric(report).items():
        if answers and metric.name not in answered:
            texts_by_base: dict[str, list[str]] = {}  # each axis has its own base
            for finding in answers:
                headline = finding.headline.removesuffix(f" the {metric.title}")
                qualifier = f" ({finding.qualifier})" if finding.qualifier else ""
                texts_by_base.setdefault(finding.base, []).append(f"{headline}{qualifier}")
            lines += [f"{metric.title}, of {base}: {'; '.join(texts)}" for base, texts in texts_by_base.items()]
    return _titled("by other metrics", _wrapped(lines))


def doubts(report: Report) -> list[str]:
    """List what to know before believing a figure."""
    options = setup.dropped_options(report.comparisons.sections, report.data.facts.get("command", {}))
    lacking = [f"options that a binary lacks: {', '.join(options)}"] if options else []
    return [*report.notes.warnings, *lacking]


def _comparison(report: Report, comparison: Comparison, is_first: bool) -> Iterator[list[str]]:
    table = comparison_table(comparison, is_first)
    yield _lines(replace(table, title=f"{table.title}, 95 % intervals"))
    if pooled := pooled_table(comparison):
        yield _lines(pooled)
    if not (causes := report.explanation.table(report, comparison)):
        return
    texts_by_arm = group(report.explanation.by_arm(report).get(comparison.base, ()))
    lines = [f"{arm}: {'; '.join(arm_texts)}" for arm, arm_texts in texts_by_arm.items()]
    rows = [row for row in causes.rows if row[-1].text not in report.explanation.none]
    for row in rows[:MOST_CAUSES]:
        step, *texts, arm, ratio, reason = (cell.text for cell in row)
        labels = tuple(None if text == NOTHING else text for text in texts)
        point = comparison_axes.words(labels, comparison.layout.down)
        lines.append(f"{', '.join(filter(None, (arm, step, point)))}: {ratio}: {reason}")
    if (omitted := len(rows) - MOST_CAUSES) > 0:
        lines.append(f'and {counted(omitted, "difference")} more: `--table "{causes.title}"`')
    yield _titled(causes.title, _wrapped(lines))


# Figures of each step, and tables of the report


def _figures(report: Report) -> list[list[str]]:
    listed = absolute_figures.sections(report)
    sections = [[*_absolute(report, section), *_stalls(report, section)] for section in listed]
    tables = [*_tables(report.tables.visible), *([_hidden_tables(report)] if report.tables.hidden else [])]
    answers = report.comparisons
    searches = _tables([*search_tables(answers.searches), *rate_tables(answers.rates)])
    tables_first = report.tables.are_chosen or len(sections) > MOST_SECTIONS
    return [*searches, *tables, *sections] if tables_first else [*searches, *sections, *tables]


def _tables(tables: Sequence[Table]) -> list[list[str]]:
    """Write notes of several tables once; of two of one name the second needs no title."""
    blocks: list[list[str]] = []
    previous_name = None
    for table in formats.note_once(tables):
        lines = _lines(table)
        if table.name == previous_name:
            blocks[-1] += lines[2:]
        else:
            blocks.append(lines)
        previous_name = table.name
    return blocks


def _hidden_tables(report: Report) -> list[str]:
    """Write a line for each title, which stands for all tables that have it."""
    names_by_title = group(((name.partition(": ")[0], reason), name) for name, reason in report.tables.hidden)
    command, lines = f"stepgrid report {setup.spec_words(report.setup)}", []
    for (title, reason), names in names_by_title.items():
        title, noun = (names[0], names[0]) if len(names) == 1 else (title, f"{title} ({len(names)} tables)")
        lines += [f"{reason}: {noun}:", f'  {command} --table "{title}"']
    return lines


def _absolute(report: Report, section: StepPoints) -> list[str]:
    """Write the columns for which there is room; the title has their units."""
    table = absolute_figures.table(report, section)
    names = absolute_figures.own_metrics(section)
    heads = {*COLUMNS, *names, *(column.name for column in table.columns if column.label)}
    if any(column.name in PERCENTILES for column in table.columns):
        heads -= {RANGE}  # their intervals take its place
    indices = [index for index, column in enumerate(table.columns) if column.name in heads]
    columns = tuple(table.columns[index]._replace(unit="") for index in indices)
    units = UNITS | {name: report.data.units[name] for name in names if report.data.units.get(name)}
    column_names = {column.name for column in columns}
    groups = (("p50 to p99.9", PERCENTILES), ("CPU/op", CPU))
    microseconds = " and ".join(group for group, members in groups if column_names.intersection(members))
    parts = [f"{column.name} in {units[column.name]}" for column in columns if column.name in units]
    unit_text = ", ".join([*([f"{microseconds} in µs"] if microseconds else []), *parts])
    title = f"{section.step}: {absolute_figures.title(report)}{f'; {unit_text}' if unit_text else ''}"
    return _lines(
        Table(title, columns, tuple(tuple(row[index] for index in indices) for row in table.rows), notes=table.notes)
    )


def _stalls(report: Report, section: StepPoints) -> Iterator[str]:
    for point in section.points:
        slow = max((run.metrics.get(SLOW, 0.0) for run in point.runs), default=0.0) / 100
        if slow >= STALLED:
            name = section.point_name(point)
            yield f"  stalls: {name}: up to {percent(slow)} of the seconds below half the median"
    for line in sentences.dip_lines(report, section):
        yield from wrap(f"dips: {line}", INDENT, INDENT * 2, SENTENCES)


# Setup


def _setup(report: Report) -> Iterator[list[str]]:
    points, defaults = report.comparisons.points_by_step, report.setup.defaults
    arms = [pair for settings in report.setup.settings for pair in settings.sentences]
    yield _titled("what the arms set", _wrapped(f"{label}: {text}" for label, text in (*arms, *report.setup.common)))
    yield _titled("what the steps do", _wrapped(setup.step_sentences(report.setup.steps, points)))
    if defaults:
        changes = (f"{', '.join(builds)}: {'; '.join(texts)}" for builds, texts in defaults.groups())
        title = f"defaults that differ from those of {defaults.base}, of options that the spec leaves alone"
        yield _titled(title, _wrapped(changes))
    yield _titled("setup", (line for name, texts in setup_facts(report) for line in _entry(name, texts)))


def setup_facts(report: Report) -> list[tuple[str, Sequence[str]]]:
    """List what was compared, how often, where and when, and what became of it."""
    hosts = report.data.facts.get("host", {})
    builds = [
        f"{build.title}: {f'{build.version} ({build.origin})' if build.version else build.origin}"
        for build in report.setup.builds.values()
    ]
    return [
        (
            "compared",
            [f"{axis.name}: {', '.join(axis_labels(report, axis.name, axis.labels))}" for axis in report.setup.axes],
        ),
        ("steps", [*filter(None, [setup.steps_in_brief(report.comparisons.points_by_step)])]),
        ("operations", report.notes.operations.sentences),
        ("builds", builds),
        ("repeats", [repeats(report), *decision_sentences(report.comparisons.decisions, report.setup.until)]),
        ("caches", [*filter(None, [setup.loading_text(report.data.facts.get("start", {}))])]),
        ("quiet", report.notes.quiet),
        ("host", [setup.host_line(report.setup.hardware, hosts)]),
        ("measured", [setup.measured_text(report.setup, report.data.facts)]),
        ("made from", [origin_line(report)]),
        ("status", [*_status(report)]),
    ]


def origin_line(report: Report) -> str:
    source = report.setup
    scale = f", scale {source.scale}" if source.scale else ""
    origin = f"spec {source.spec}{scale}; plan {source.plan}" if source.plan else "figures of other tools"
    return f"{origin}; stepgrid {__version__}"


def axis_labels(report: Report, axis: str, labels: Iterable[str]) -> Iterator[str]:
    bases = {comparison.layout.base.get(axis) for comparison in report.comparisons.all}
    yield from (f"{label} (base)" if label in bases else label for label in labels)


def repeats(report: Report) -> str:
    fewest, most = report.setup.loads
    loads = counted(most, "load") if fewest == most else f"{fewest} to {most} loads"
    runs = "" if report.setup.runs < 2 else f", {report.setup.runs} runs of each"
    until = report.setup.until
    goal = f" ({until.goal}: {until.least} to {until.most})" if until else ""
    return f"{loads}{runs}{goal}{' planned' if report.notes.coverage.incomplete else ''}"


def _status(report: Report) -> Iterator[str]:
    counts = report.notes.coverage.counts.items()
    texts = [f"{number} {name}" for name, number in counts if number or name == Status.DONE]
    yield f"{', '.join(texts)} (measured steps)"
    for missing in report.notes.coverage.troubles:
        yield f"{missing.status}: {counted(missing.runs, 'run')}: {missing.reason}"
        if missing.status != Status.UNSUPPORTED:
            omitted = len(missing.cells) - 1
            yield f"  in {missing.cells[0]}{f' and {omitted} more' if omitted else ''}"
        yield from (f"  log: {log}" for log in missing.logs[:MOST_LOGS])


def _entry(name: str, texts: Iterable[str]) -> list[str]:
    margin = INDENT + " " * LABEL
    lines: list[str] = []
    for sentence in texts:
        lines += wrap(sentence.strip(), margin + "  " * sentence.startswith(" "), margin + INDENT, SENTENCES)
    return [f"{INDENT}{name:<{LABEL}}{lines[0].lstrip()}", *lines[1:]] if lines else []


def _next(report: Report) -> list[str]:
    lines = []
    for step in sentences.next_steps(report):
        lines += [f"{INDENT}{step.command}", *wrap(step.why, INDENT * 2, width=SENTENCES)]  # a command is not broken
    return _titled("what next", lines)


def _words(report: Report) -> Iterator[str]:
    yield from verdicts.METHOD
    meanings = (pair for pair in absolute_figures.meanings(report) if pair[0] in EXPLAINED)
    yield from map(": ".join, (*sentences.glossary(report).items(), *meanings))


# Brief: at most 18 lines for a terminal of 80 or 100 columns, at the end of a run and of `report`

MOST_LINES, FEWEST_ROWS, MOST_ARMS = 18, 4, 3
_STYLES = {**dict.fromkeys(verdicts.GOOD, "green"), **dict.fromkeys(verdicts.BAD, "red")}


def brief_by_width(report: Report, page: Path) -> dict[str, list[str]]:
    """Write the lines for each width, with colours, which whoever prints them elsewhere takes away."""
    return {str(width): brief_lines(report, page, width, Paint(is_coloured=True)) for width in BRIEF_WIDTHS}


def brief_lines(report: Report, page: Path | None, width: int, paint: Paint) -> list[str]:
    """Write title, table, answers, doubts, page and the next command; no line is broken within a word."""
    scale = report.setup.scale_words
    heads = [
        paint(fit(report.setup.title, width - len(scale)) + scale, "bold"),
        *(paint(line, "yellow") for line in _banners(report, width)),
    ]
    table_paint = paint if report.setup.scale is None else Paint()  # a try has no verdict in colour
    page_lines = [f"{INDENT}{'page':<{LABEL}}{page}"] if page else []
    command = next_action.more_command(report)
    command_lines = _fold("next", command, width - 2) if command else []  # room for the sign that a command goes on
    next_lines = [*(f"{line} \\" for line in command_lines[:-1]), *command_lines[-1:]]
    room = MOST_LINES - len(heads) - len(page_lines) - len(next_lines)
    entries = list(_entry_lines(report, room - len(_table(report, FEWEST_ROWS, width, table_paint)), width, paint))
    room -= len(entries)
    tables = (_table(report, rows, width, table_paint) for rows in range(room, FEWEST_ROWS, -1))
    table = next((lines for lines in tables if len(lines) <= room), _table(report, FEWEST_ROWS, width, table_paint))
    is_decided = cost_line(report).startswith("against ")
    cost_lines = _fold("cost", cost_line(report), width) if is_decided else []
    if len(cost_lines) > min(room - len(table), 2):  # it takes the place of no row
        cost_lines = [fit(f"{_label('cost')}{cost_line(report)}", width)][: max(room - len(table), 0)]
    return [*heads, *table, *entries, *cost_lines, *page_lines, *next_lines]


def _entry_lines(report: Report, room: int, width: int, paint: Paint) -> Iterator[str]:
    """Write each entry in two lines at most, in one where others would find no room."""
    entries = [(label, text, *short) for label, text, *short in _entries(report) if text]
    for number, (label, text, *short) in enumerate(entries):
        folded = _fold(label, text, width)
        if len(folded) > 2 or room - len(folded) < len(entries) - number - 1:
            folded = [fit(f"{_label(label)}{''.join(short) or text}", width)]
        room -= len(folded)
        style = "yellow" if label.startswith("!") else None
        yield from (folded[0].replace(label, paint(label, style), 1), *folded[1:])


def _fold(label: str, text: str, width: int) -> list[str]:
    return wrap(text, _label(label), " " * (len(INDENT) + LABEL), width)


def _label(name: str) -> str:
    return f"{INDENT}{name} ".ljust(len(INDENT) + LABEL)  # of more than 9 warnings the name is as long


def fit(line: str, width: int) -> str:
    """Cut a line that is too long after a whole word."""
    if len(line) <= width:
        return line
    words = line[: width - 1]
    return f"{words if line[width - 1] == ' ' else words.rpartition(' ')[0]}".rstrip(" ,;·:") + "…"


def _banners(report: Report, width: int) -> Iterator[str]:
    if gap := sentences.incomplete(report):
        yield fit(f"{INDENT}{gap}", width)
    if banner := sentences.banner(report):
        yield f"{INDENT}{banner}"


def _entries(report: Report) -> Iterator[tuple[str, ...]]:
    """Yield label and text, and what stands for an answer where it has a line."""
    yield from ((answer.key, answer.sentences[0]) for answer in report.grid_answers[:MOST_ARMS])
    for answers in group(((finding.base, finding.metric), finding) for finding in findings(report)).values():
        for finding in answers[:MOST_ARMS]:
            axis, _, label = finding.arm.partition("=")
            texts = finding.sentence, replace(finding, detail="").sentence
            arm_texts = (f"{label}{text.removeprefix(finding.arm)}".lstrip(",: ") for text in texts)
            yield (axis, *arm_texts) if len(axis) < LABEL else ("builds", *texts)
    yield "why", report.explanation.line(report)
    if report.comparisons.claims:
        yield "claims", claims.brief_count(report.comparisons.claims).partition(" ")[2]
    yield "undecided", next(iter(sentences.advice(report)), "")
    yield f"! {counted(len(report.notes.doubts), 'warning')}", sentences.doubts_line(report).partition(": ")[2]


# Table: a row for each point or, of many points, for each step; the kind of a cell is its verdict


def _table(report: Report, most: int, width: int, paint: Paint) -> list[str]:
    """Write so many rows, of more the worst ones, and count the others."""
    if not report.comparisons.leading:
        return list(_brief_figures(report, width))[:most]
    comparison = report.comparisons.leading[0]
    is_pooled = len(comparison.rows) > most and all(map(comparison.pooled_of, comparison.steps))
    rows = _pooled_rows(comparison) if is_pooled else _point_rows(comparison, most)
    lines = [_head(comparison, is_pooled), *rows[:most]]
    widths = [max(len(cell.text) for cell in column) for column in zip(*lines, strict=True)]
    count = next((count for count in range(len(widths), 2, -1) if sum(widths[:count]) + 3 * count <= width), 2)
    texts = []
    for line in lines:
        cells = zip(line[:count], widths, strict=False)
        parts = [f"{paint(cell.text, _STYLES.get(cell.kind))}{' ' * (room - len(cell.text))}" for cell, room in cells]
        texts.append(f"{INDENT}{'   '.join(parts)}".rstrip())
    omitted = [(len(rows) - most, "row" if is_pooled else "better row"), (len(widths) - count, "arm")]
    if names := ", ".join(counted(number, noun) for number, noun in omitted if number > 0):
        command = f"stepgrid report {setup.spec_words(report.setup)} --all" if report.setup.plan else "--all"
        texts.append(f"{INDENT}not shown: {names}: {command}")
    return [*texts, *_legend(report, comparison, lines, width, is_pooled)]


def _brief_figures(report: Report, width: int) -> Iterator[str]:
    """Yield the range of each step of a report that compares nothing, and the first search of an axis."""
    metric = report.setup.metric
    for section in report.comparisons.sections:
        if values := [spread[0] for point in section.points if (spread := point.spread(metric.name))]:
            ends = dict.fromkeys(map(units.short_figure, (min(values), max(values))))
            yield fit(f"{INDENT}{section.step}: {DASH.join(ends)} {metric.heading}", width)
    for table in islice(search_tables(report.comparisons.searches), 1):
        yield from (fit(line, width) for line in (f"{INDENT}{table.title}", *text_lines(table, width=width)))


def _head(comparison: Comparison, is_pooled: bool) -> tuple[Cell, ...]:
    """Name the base in full, and the arms by their labels."""
    is_short = len(comparison.layout.across) == 1 and comparison.layout.across != (BUILD,)
    names = [name.partition("=")[2] if is_short else name for name in comparison.arm_names]
    step, title = f"{comparison.steps[0]} " if len(comparison.steps) == 1 else "", comparison.metric.heading
    texts = [f"{title} / {comparison.base}"] if is_pooled else [f"{step}{title}", comparison.base]
    return tuple(map(Cell, (*texts, *names)))


def _point_rows(comparison: Comparison, most: int) -> list[tuple[Cell, ...]]:
    """List all rows; of more than there is room for the worst ones first."""
    is_one_step = len(comparison.steps) == 1
    lines = []
    for row in comparison.rows if len(comparison.rows) <= most else comparison.worst_first():
        name = comparison.point_name(row) if is_one_step else comparison.where(row)
        label = short_build(name) if comparison.layout.down == (BUILD,) and is_one_step else name or row.step
        lines.append((Cell(label), *(_cell(entry, comparison) for entry in row.entries)))
    return lines


def _pooled_rows(comparison: Comparison) -> list[tuple[Cell, ...]]:
    """List a row for each step, with the ratios over its points, or their ends where these do not agree."""
    rows = []
    for step in comparison.steps:
        cells = {}
        for pooled in comparison.pooled_of(step):
            ends = dict.fromkeys(units.times(end) for end in (pooled.lowest, pooled.highest))
            mark, word = verdicts.MARKS.get(pooled.verdict or "", ""), pooled.verdict or ""
            text = f"{mark}{units.times(pooled.ratio)}" if pooled.agrees else DASH.join(ends)
            cells[pooled.name] = Cell(text, word if pooled.agrees else "")
        rows.append((Cell(step), *(cells.get(name, Cell(NOTHING)) for name in comparison.arm_names)))
    return rows


def _cell(entry: ArmEntry, comparison: Comparison) -> Cell:
    has_figure = entry.point is not None and entry.point.spread(comparison.metric.name) is not None
    figure = NOTHING if entry.kind == ABSENT else entry.kind
    if entry.point and has_figure:
        figure = figure_text(entry.point, comparison.metric, entry.kind != RATIO)
    if entry.kind != RATIO or entry.ratio is None:
        mark = verdicts.MARKS.get(entry.verdict or "", "")
        return Cell(f"{figure} {mark}", entry.verdict or "") if entry.verdict in _STYLES else Cell(figure)
    before, after = entry.marks
    return Cell(f"{figure} {before}{units.times(entry.ratio)}{after}", "" if entry.refusal else entry.verdict or "")


def _legend(
    report: Report, comparison: Comparison, lines: Sequence[tuple[Cell, ...]], width: int, is_pooled: bool
) -> list[str]:
    """Explain the marks of a table, in two lines at most."""
    cells = " ".join(cell.text for line in lines[1:] for cell in line[1:])
    effect = percent(report.setup.effect)
    arrows = [f"{ARROWS[word]} {word}" for word in comparison.metric.verdicts if ARROWS[word] in cells]
    parts = [f"{', '.join(arrows)}: the whole 95 % interval is more than {effect} from 1"] if arrows else []
    parts += sentences.mark_texts(cells, report)
    if is_pooled:
        parts.append("ratios are over all points of a step, or their ends where these differ")
    return wrap("; ".join(parts), INDENT, width=width)[:2] if parts else []
