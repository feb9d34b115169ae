"""summary.txt: all of a report as plain text, in the order of the page; the words are explained at its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from stepgrid.host.terminal_output import INDENT, wrap
from stepgrid.model.status import Status
from stepgrid.model.table import Table
from stepgrid.model.units import counted, percent
from stepgrid.store.paths import SUMMARY_PAGE, SUMMARY_TEXT
from stepgrid.store.store import Store
from stepgrid.summarize import absolute_figures, claims, formats, sentences
from stepgrid.summarize.causes import NO_CAUSE, why_table
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison import Comparison
from stepgrid.summarize.comparisons.comparison_axes import Section
from stepgrid.summarize.comparisons.comparison_table import comparison_table, pooled_table
from stepgrid.summarize.comparisons.decisions import decision_sentences
from stepgrid.summarize.findings import DOT, findings, findings_by_metric
from stepgrid.summarize.formats import SENTENCES
from stepgrid.summarize.provenance import dropped_options, host_line, measured_text, origin_line
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_tables import search_tables
from stepgrid.summarize.setup import step_sentences, steps_in_brief

MOST_FINDINGS, MOST_CAUSES, MOST_LOGS = 12, 12, 3
MOST_SECTIONS = 12  # of more steps the tables come first
STALLED = 0.05  # share of slow seconds from which a step is named
LABEL = 12  # columns of the names of facts
UNITS = {"stalled": "%", "drain": "s"}
PERCENTILES = ("p50", "p99", "p99.9", "read p99", "write p99", "seek p99")
CPU = ("CPU/op", "client CPU", "server CPU")
COLUMNS = (
    "QPS",
    "lowest-highest",
    *PERCENTILES,
    *CPU,
    "w-amp",
    *UNITS,
    "L0 debt",
    *(head for _, head, _ in absolute_figures.GARBAGE),
)
_WORDS = {  # by the metric that a report must have
    "write_amplification": (
        "w-amp: bytes that flushes and compactions wrote, per byte that came in; below 1 where data are compressed or "
        "still in memory; compactions that earlier steps left behind count too"
    ),
    "drain_l0_files": "L0 debt: files of level 0 when the benchmark was over and the drain began",
    **dict.fromkeys(
        (metric for metric, _, _ in absolute_figures.GARBAGE),
        "tombstones, dead rows, history list, bloat: what the step left to clean up",
    ),
}


def path(store: Store, plan: str) -> Path:
    return store.summary(plan) / SUMMARY_TEXT


def page_path(store: Store, plan: str) -> Path:
    return store.summary(plan) / SUMMARY_PAGE


def text(report: Report, page: Path | None) -> str:
    title = report.setup.title
    banners = filter(None, (sentences.incomplete(report), sentences.banner(report)))
    subtitle = wrap(sentences.subtitle(report), "", "", SENTENCES)
    blocks = [[title, "=" * len(title), *subtitle, *banners], _answer(report)]
    care = doubts(report)
    blocks.append(_titled(f"read with care ({len(care)})", _wrapped(care)))
    differences = (*report.notes.differs, *report.notes.left_out)
    blocks.append(_titled("differences", _wrapped(differences)))
    for number, comparison in enumerate(report.comparisons.leading):
        blocks += _comparison(report, comparison, not number)
    blocks.append(_other_metrics(report))
    for comparison in report.comparisons.all[len(report.comparisons.leading) :]:
        blocks += _comparison(report, comparison, False)
    changes = [text for ladder in report.comparisons.ladders for text in ladder.sentences]
    blocks.append(_titled("changes", _wrapped(changes)))
    blocks += [_lines(ladder.table) for ladder in report.comparisons.ladders if ladder.changes]
    blocks.append(_titled("claims", _wrapped(claims.lines(report.comparisons.claims))))
    blocks += [*_figures(report), *_setup(report), _next(report), _titled("words", _wrapped(_words(report)))]
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
    lines = [
        line
        for finding in answers[:MOST_FINDINGS]
        for line in (f"{finding.headline} {finding.detail}", f" {finding.note}")
    ]
    if (omitted := len(answers) - MOST_FINDINGS) > 0:
        lines.append(f"and {counted(omitted, 'arm')} more, which differ less")
    texts = [
        *report.notes.reproduction,
        *filter(str.strip, [*lines, sentences.ratio_note(report)]),
        *sentences.advice(report),
    ]
    return _titled("answer", _wrapped(texts))


def _other_metrics(report: Report) -> list[str]:
    """Write a line for each metric with the ratios of its arms."""
    lines = []
    for title, answers in findings_by_metric(report).items():
        arms = [
            f"{finding.headline.removesuffix(f' the {title}')} ({finding.note.partition(DOT)[0]})"
            for finding in answers
        ]
        lines.append(f"{title}, of {answers[0].base}: {'; '.join(arms)}" if answers else "")
    return _titled("by other metrics", _wrapped(filter(None, lines)))


def doubts(report: Report) -> list[str]:
    """List what to know before believing a figure."""
    options = dropped_options(report.comparisons.sections, report.data.facts.get("command", {}))
    lacking = [f"options that a binary lacks: {', '.join(options)}"] if options else []
    return [*report.notes.warnings, *lacking]


def _comparison(report: Report, comparison: Comparison, is_first: bool) -> Iterator[list[str]]:
    table = comparison_table(comparison, is_first)
    yield _lines(replace(table, title=f"{table.title}, 95 % intervals"))
    if pooled := pooled_table(comparison):
        yield _lines(pooled)
    if not (causes := why_table(comparison, report.setup, report.data.details)):
        return
    lines = [f"{arm}: {text}" for arm, text in sentences.reasons_by_arm(report, comparison).items()]
    rows = [row for row in causes.rows if row[-1].text != NO_CAUSE]
    for row in rows[:MOST_CAUSES]:
        step, *labels, arm, ratio, reason = (cell.text for cell in row)
        point = comparison_axes.words(
            tuple(None if label == "-" else label for label in labels), comparison.layout.down
        )
        lines.append(f"{', '.join(filter(None, (arm, step, point)))}: {ratio}: {reason}")
    if (omitted := len(rows) - MOST_CAUSES) > 0:
        lines.append(f'and {counted(omitted, "difference")} more: `--table "{causes.title}"`')
    yield _titled(causes.title, _wrapped(lines))


# Figures of each step, and tables of the report


def _figures(report: Report) -> list[list[str]]:
    sections = [[*_absolute(report, section), *_stalls(report, section)] for section in report.comparisons.sections]
    tables = [*_tables(report.tables.visible), *([_hidden_tables(report)] if report.tables.hidden else [])]
    searches = _tables(list(search_tables(report.comparisons.searches)))
    tables_first = report.tables.are_chosen or len(sections) > MOST_SECTIONS
    return [*searches, *tables, *sections] if tables_first else [*searches, *sections, *tables]


def _tables(tables: Sequence[Table]) -> list[list[str]]:
    """Write notes of several tables once; of two of one name the second needs no title."""
    blocks: list[list[str]] = []
    previous_notes: set[str] = set()
    previous_name = None
    for table in tables:
        notes = tuple(note for note in table.notes if note not in previous_notes)
        previous_notes |= set(notes)
        lines = _lines(replace(table, notes=notes))
        if table.name == previous_name:
            blocks[-1] += lines[2:]
        else:
            blocks.append(lines)
        previous_name = table.name
    return blocks


def _hidden_tables(report: Report) -> list[str]:
    """Write a line for each title, which stands for all tables that have it."""
    names_by_title: dict[tuple[str, str], list[str]] = {}
    for name, reason in report.tables.hidden:
        names_by_title.setdefault((name.partition(": ")[0], reason), []).append(name)
    command, lines = f"stepgrid report {sentences.spec_words(report)}", []
    for (title, reason), names in names_by_title.items():
        title, noun = (names[0], names[0]) if len(names) == 1 else (title, f"{title} ({len(names)} tables)")
        lines += [f"{reason}: {noun}:", f'  {command} --table "{title}"']
    return lines


def _absolute(report: Report, section: Section) -> list[str]:
    """Write the columns for which there is room; the title has their units."""
    table = absolute_figures.table(report, section)
    names = absolute_figures.own_metrics(section)
    indices = [index for index, column in enumerate(table.columns) if column.label or column.name in (*COLUMNS, *names)]
    columns = tuple(table.columns[index]._replace(unit="") for index in indices)
    units = UNITS | {name: report.setup.units[name] for name in names if report.setup.units.get(name)}
    column_names = {column.name for column in columns}
    groups = (("p50 to p99.9", PERCENTILES), ("CPU/op", CPU))
    microseconds = " and ".join(group for group, members in groups if column_names.intersection(members))
    parts = [f"{column.name} in {units[column.name]}" for column in columns if column.name in units]
    unit_text = ", ".join([*([f"{microseconds} in µs"] if microseconds else []), *parts])
    title = f"{section.step}: {absolute_figures.title(report)}{f'; {unit_text}' if unit_text else ''}"
    return _lines(
        Table(title, columns, tuple(tuple(row[index] for index in indices) for row in table.rows), notes=table.notes)
    )


def _stalls(report: Report, section: Section) -> Iterator[str]:
    for point in section.points:
        steadiness = map(report.data.series.steadiness.get, point.places)
        slow = max((series.slow for series in steadiness if series), default=0.0)
        if slow >= STALLED:
            name = comparison_axes.words(comparison_axes.key(point, section.names), section.names)
            yield f"  stalls: {name}: up to {percent(slow)} of the seconds below half the median"


# Setup


def _setup(report: Report) -> Iterator[list[str]]:
    setup, points = report.setup, report.comparisons.points_by_step
    arms = [pair for settings in setup.settings for pair in settings.sentences]
    yield _titled("what the arms set", _wrapped(f"{label}: {text}" for label, text in (*arms, *setup.common)))
    yield _titled("what the steps do", _wrapped(step_sentences(setup.steps, points) if setup.steps else ()))
    if setup.defaults:
        changes = (f"{', '.join(builds)}: {'; '.join(texts)}" for builds, texts in setup.defaults.groups())
        title = f"defaults that differ from those of {setup.defaults.base}, of options that the spec leaves alone"
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
        ("steps", [*filter(None, [steps_in_brief(report.comparisons.points_by_step)])]),
        ("builds", builds),
        ("repeats", [repeats(report), *decision_sentences(report.comparisons.decisions, report.setup.until)]),
        ("quiet", report.notes.quiet),
        ("host", [host_line(report.setup.hardware, hosts)]),
        ("measured", [measured_text(report.setup, report.data.facts)]),
        ("made from", [origin_line(report.setup)]),
        ("status", [*_status(report)]),
    ]


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
    lines = [
        line
        for sentence in texts
        for line in wrap(sentence.strip(), margin + "  " * sentence.startswith(" "), margin + INDENT, SENTENCES)
    ]
    return [f"{INDENT}{name:<{LABEL}}{lines[0].lstrip()}", *lines[1:]] if lines else []


def _next(report: Report) -> list[str]:
    lines = []
    for step in sentences.next_steps(report):
        lines += [f"{INDENT}{step.command}", *wrap(step.why, INDENT * 2, width=SENTENCES)]  # a command is not broken
    return _titled("what next", lines)


def _words(report: Report) -> Iterator[str]:
    """Explain the words that the report uses."""
    effect, comparisons = percent(report.setup.effect), report.comparisons.all
    points = [point for section in report.comparisons.sections for point in section.points]
    metrics = {name for point in points for run in point.runs for name in run.metrics}
    if any(point.values() for point in points):
        yield "QPS: operations per second of the clients, median of the loads"
    yield (
        "1.12 [1.08, 1.16]: geometric mean of the loads' ratios to the base, and its 95 % interval (all those of a "
        "step and base hold together)"
    )
    yield (
        f"faster, slower: the whole interval is more than {effect} away from 1; same: all of it is less; different: "
        f"the interval excludes 1, and an end of it is within {effect}; inconclusive: none of these"
    )
    entries = [entry for comparison in comparisons for row in comparison.rows for entry in row.entries]
    if any(entry.floor is not None for entry in entries):
        yield (
            "floor: how far apart equal arms came out in this experiment (loads, runs and older results of a step and "
            "engine); a ratio that is no farther from 1 is no difference"
        )
    elif comparisons:
        yield "no noise floor: too few equal loads in this experiment; verdicts rest on the intervals alone"
    if report.comparisons.claims:
        yield "claims: the expression is judged, not the words: `<= 1.14` also holds where a figure is lower"
    if any("assumed" in note for claim in report.comparisons.claims for case in claim.cases for note in case.notes):
        yield (
            "assumed: how far one load may lie from the mean of many: 2.30× where the noise of the host is unknown, "
            "±25 % where it is known or the metric does not follow the speed of the host"
        )
    yield from dict.fromkeys(text for metric, text in _WORDS.items() if metric in metrics)
