"""summary.txt: plain, complete, ready to paste."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from stepgrid.host.terminal_output import wrap
from stepgrid.model.plan import Axis, is_imported
from stepgrid.model.status import Status
from stepgrid.model.table import Column, Table
from stepgrid.model.units import counted, percent
from stepgrid.store.paths import SUMMARY_PAGE, SUMMARY_TEXT
from stepgrid.store.store import Store
from stepgrid.summarize import claims, formats, provenance
from stepgrid.summarize.causes import why_table
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison import Comparison
from stepgrid.summarize.comparisons.comparison_axes import Section
from stepgrid.summarize.comparisons.comparison_table import FLOOR, comparison_table
from stepgrid.summarize.comparisons.decisions import decision_sentences
from stepgrid.summarize.formats import SENTENCES
from stepgrid.summarize.notes import MissingFigures
from stepgrid.summarize.page import absolute_figures, answer
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_tables import search_tables
from stepgrid.summarize.setup import Defaults, step_sentences, steps_in_brief

_FLOOR = (
    "floor: how far apart equal arms came out in this experiment (loads, runs and older results of a step and engine); "
    "a ratio that is no farther from 1 is no difference"
)
_NO_FLOOR = "no noise floor: too few equal loads in this experiment; verdicts rest on the intervals alone"
_AMPLIFICATION = (
    "w-amp: what flushes and compactions wrote, per byte that came in; below 1 where data are compressed or still in "
    "memory; what earlier steps left to compact is in it"
)
_CLAIMS = (
    'claims: judged is the expression, not the words; `<= 1.14` for "up to 14 % more" also holds where there is less'
)
_ASSUMED = (
    "assumed: how far one load may lie from the mean of many, 2.30× where nobody knows the noise of the host, ±25 % "
    "where it is known or the metric does not follow the speed of the host; a claim that this leaves open is undecided"
)
_DEBT = "L0 debt: files of level 0 when the benchmark was over and the drain began"
_GARBAGE = "tombstones, dead rows, history list, bloat: what the step left to clean up"
INDENT = 12
UNITS = {"stalled": "%", "drain": "s"}
PERCENTILES = ("p50", "p99", "p99.9", "read p99", "write p99", "seek p99")
LEFT = tuple(head for _, head, _ in absolute_figures.GARBAGE)
CPU = ("CPU/op", "client CPU", "server CPU")
COLUMNS = ("QPS", "lowest-highest", *PERCENTILES, *CPU, "w-amp", *UNITS, "L0 debt", *LEFT)  # in the text
MOST_CAUSES = 12
MOST_SECTIONS = 12  # of more steps the tables come first
STALLED = 0.05  # share of slow seconds from which a step is named


def path(store: Store, plan: str) -> Path:
    return store.summary(plan) / SUMMARY_TEXT


def page_path(store: Store, plan: str) -> Path:
    return store.summary(plan) / SUMMARY_PAGE


def text(report: Report, page: Path | None) -> str:
    parts = [_head(report), *_setup(report)]
    for number, each in enumerate(report.comparisons.all):
        parts += [_overview(each, not number), *_why(report, each)]
    parts += [_lines(each.table) for each in report.comparisons.ladders if each.changes]
    parts += _tables(list(search_tables(report.comparisons.searches)))
    shown = _tables(report.tables.shown)
    shown += [_unshown(report)] if report.tables.hidden else []
    sections = [[*_absolute(report, section), *_stalls(report, section)] for section in report.comparisons.sections]
    parts += [*shown, *sections] if tables_first(report) else [*sections, *shown]
    parts += [found] if (found := _defaults(report.setup.defaults)) else []
    parts.append(_what_next(report))
    parts.append([*_entry("reading", _reading(report)), *_entry("page", [str(page)] if page else [])])
    return "\n".join("\n".join(part) + "\n" for part in parts)


def _setup(report: Report) -> Iterator[list[str]]:
    setup = report.setup
    if setup.settings or setup.common:
        arms = (pair for axis in setup.settings for pair in axis.sentences)
        yield _titled("what the arms set", (f"{label}: {text}" for label, text in (*arms, *setup.common)))
    if setup.steps:
        yield _titled("what the steps do", step_sentences(setup.steps, report.comparisons.points_by_step))


def _what_next(report: Report) -> list[str]:
    lines = ["what next", "---------"]
    for step in provenance.next_steps(
        report.setup,
        report.comparisons.leading,
        report.comparisons.claims,
        report.notes.coverage.incomplete,
        report.data.facts,
    ):
        lines += [f"  {step.command}", *wrap(step.why, "    ", width=SENTENCES)]  # a command is not broken
    return lines


def _titled(title: str, sentences: Iterable[str]) -> list[str]:
    return [title, "-" * len(title), *(line for text in sentences for line in wrap(text, "  ", "    ", SENTENCES))]


def tables_first(report: Report) -> bool:
    """Before the figures of each step."""
    return report.tables.are_chosen or len(report.comparisons.sections) > MOST_SECTIONS


def _tables(tables: Sequence[Table]) -> list[list[str]]:
    """What is below several is said once; of two of one name the second needs no title."""
    found: list[list[str]] = []
    said: set[str] = set()
    before = None
    for table in tables:
        notes = tuple(note for note in table.notes if note not in said)
        said |= set(notes)
        lines = _lines(replace(table, notes=notes))
        if table.name == before:
            found[-1] += lines[2:]
        else:
            found.append(lines)
        before = table.name
    return found


def _unshown(report: Report) -> list[str]:
    """A line for each title, which stands for all tables that have it."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, reason in report.tables.hidden:
        found.setdefault((name.partition(": ")[0], reason), []).append(name)
    named = report.setup.plan if is_imported(report.setup.spec) else report.setup.spec
    command = f"stepgrid report {named}{f' --scale {report.setup.scale}' if report.setup.scale else ''}"
    return [_asking(command, title, reason, names) for (title, reason), names in found.items()]


def _asking(command: str, title: str, reason: str, names: Sequence[str]) -> str:
    said, table = (names[0], names[0]) if len(names) == 1 else (f"{title} ({len(names)} tables)", title)
    return f'{reason}: {said}:\n  {command} --table "{table}"'


def _head(report: Report) -> list[str]:
    lines = [report.setup.title, "=" * len(report.setup.title), *incomplete(report)]
    return [*lines, *(line for name, texts in head_entries(report) for line in _entry(name, texts))]


def head_entries(report: Report) -> list[tuple[str, Sequence[str]]]:
    """The beginning of a report, without which nothing of it is pasted: the answer, its caveats, its host and day."""
    return [
        ("in short", answer.lines(report)),
        ("claims", claims.lines(report.comparisons.claims) or [claims.NONE]),
        ("changes", [text for each in report.comparisons.ladders for text in each.sentences]),
        ("differs", report.notes.differs),
        ("warnings", report.notes.warnings),
        ("left out", _left_out(report)),
        ("quiet", report.notes.quiet),
        ("compared", _compared(report)),
        ("steps", [text for text in (steps_in_brief(report.comparisons.points_by_step),) if text]),
        ("builds", _builds(report)),
        ("repeats", [repeats(report), *decision_sentences(report.comparisons.decisions, report.setup.until)]),
        ("host", [provenance.host_line(report.setup.hardware, report.data.facts.get("host", {}))]),
        ("measured", [provenance.measured_text(report.setup, report.data.facts)]),
        ("made from", [provenance.origin_line(report.setup)]),
        ("status", _status(report)),
    ]


def _left_out(report: Report) -> list[str]:
    found = provenance.dropped_options(report.comparisons.sections, report.data.facts.get("command", {}))
    return [*([f"options that a binary lacks: {', '.join(found)}"] if found else []), *report.notes.left_out]


def incomplete(report: Report) -> list[str]:
    missing = report.notes.coverage.incomplete
    if not missing:
        return []
    return [f"INCOMPLETE: {missing} of {report.notes.coverage.total} measured steps have no figures yet (see status)."]


def _entry(name: str, lines: Sequence[str]) -> list[str]:
    margin = " " * INDENT
    shown = [part for line in lines for part in wrap(line, margin, margin + "  " * line.startswith(" "), SENTENCES)]
    return [f"{name:<{INDENT}}{shown[0].lstrip()}", *shown[1:]] if shown else []


def _compared(report: Report) -> list[str]:
    return [f"{axis.name}: {', '.join(_labels(report, axis))}" for axis in report.setup.axes]


def _labels(report: Report, axis: Axis) -> Iterator[str]:
    base_labels = bases(report, axis)
    yield from (f"{label} (base)" if label in base_labels else label for label in axis.labels)


def bases(report: Report, axis: Axis) -> set[str | None]:
    """The labels of an axis that the tables compare with."""
    return {found.layout.base.get(axis.name) for found in report.comparisons.all}


def _builds(report: Report) -> list[str]:
    return [f"{build.title}: {_origin(build.version, build.origin)}" for build in report.setup.builds.values()]


def _origin(version: str | None, origin: str) -> str:
    return f"{version} ({origin})" if version else origin


def repeats(report: Report) -> str:
    fewest, most = report.setup.loads
    loads = counted(most, "load") if fewest == most else f"{fewest} to {most} loads"
    runs = "" if report.setup.runs < 2 else f", {report.setup.runs} runs of each"
    until = (
        f" ({report.setup.until.goal}: {report.setup.until.least} to {report.setup.until.most})"
        if report.setup.until
        else ""
    )
    planned = " planned" if report.notes.coverage.incomplete else ""
    return f"{loads}{runs}{until}{planned}"


def _status(report: Report) -> list[str]:
    counts = ", ".join(
        f"{number} {name}" for name, number in report.notes.coverage.counts.items() if number or name == Status.DONE
    )
    return [f"{counts} (measured steps)", *(line for each in report.notes.coverage.troubles for line in trouble(each))]


def trouble(each: MissingFigures) -> Iterator[str]:
    yield f"{each.status}: {counted(each.runs, 'run')}: {each.reason}"
    if each.status != Status.UNSUPPORTED:
        more = len(each.cells) - 1
        yield f"  in {each.cells[0]}{f' and {more} more' if more else ''}"
    yield from (f"  log: {log}" for log in each.logs[:3])


def _reading(report: Report) -> list[str]:
    effect = percent(report.setup.effect)
    columns = [column.name for overview in report.comparisons.all for column in comparison_table(overview).columns]
    return [
        "QPS: operations per second of the clients, median of the loads. 1.12 [1.08, 1.16]: geometric mean of the "
        "loads' ratios to the base, and its 95 % interval (all those of a step and base hold together)",
        f"faster, slower: the whole interval is more than {effect} away from 1; same: all of it is less; "
        f"different: the interval excludes 1, and an end of it is within {effect}; inconclusive: none of these",
        *([_FLOOR if FLOOR in columns else _NO_FLOOR] if columns else []),
        *([_CLAIMS] if report.comparisons.claims else []),
        *([_ASSUMED] if any("assumed" in said for said in _claimed(report)) else []),
        *([_AMPLIFICATION] if _has(report, "write_amplification") else []),
        *([_DEBT] if _has(report, "drain_l0_files") else []),
        *([_GARBAGE] if any(_has(report, metric) for metric, _, _ in absolute_figures.GARBAGE) else []),
    ]


def _claimed(report: Report) -> Iterator[str]:
    yield from (note for claim in report.comparisons.claims for case in claim.cases for note in case.notes)


def _has(report: Report, metric: str) -> bool:
    return any(
        metric in run.metrics for each in report.comparisons.sections for point in each.points for run in point.runs
    )


def _overview(found: Comparison, is_first: bool) -> list[str]:
    table = comparison_table(found, is_first)
    return _lines(replace(table, title=f"{table.title}, 95 % intervals"))


def _why(report: Report, found: Comparison) -> Iterator[list[str]]:
    """A sentence for each difference, the largest first."""
    if table := why_table(found, report.setup, report.data.details):
        lines = [table.title, "-" * len(table.title)]
        for row in table.rows[:MOST_CAUSES]:
            step, *labels, arm, ratio, said = (cell.text for cell in row)
            known = tuple(None if label == "-" else label for label in labels)
            at = ", ".join(filter(None, (arm, step, comparison_axes.words(known, found.layout.down))))
            lines += wrap(f"{at}: {ratio}: {said}", "  ", "    ", SENTENCES)
        more = len(table.rows) - MOST_CAUSES
        yield [*lines, *([f'  and {counted(more, "difference")} more: `--table "{table.title}"`'] if more > 0 else [])]


def _absolute(report: Report, section: Section) -> list[str]:
    """Of its columns those for which there is room; the title has their units."""
    table = absolute_figures.table(report, section)
    names = (*COLUMNS, *absolute_figures.own_metrics(section))
    shown = [index for index, column in enumerate(table.columns) if column.label or column.name in names]
    columns = tuple(table.columns[index]._replace(unit="") for index in shown)
    rows = tuple(tuple(row[index] for index in shown) for row in table.rows)
    known = UNITS | {
        name: report.setup.units[name] for name in absolute_figures.own_metrics(section) if report.setup.units.get(name)
    }
    units = "".join(f", {column.name} in {known[column.name]}" for column in columns if column.name in known)
    title = f"{section.step}: {absolute_figures.title(report)}{_microseconds(columns)}{units}"
    return _lines(Table(title, columns, rows, notes=table.notes))


def _microseconds(columns: Sequence[Column]) -> str:
    """Of which of them it is the unit."""
    names = {column.name for column in columns}
    found = [said for said, known in (("p50 to p99.9", PERCENTILES), ("CPU/op", CPU)) if names.intersection(known)]
    return f"; {' and '.join(found)} in µs" if found else ""


def _lines(table: Table) -> list[str]:
    return formats.text_table(table).splitlines()


def _defaults(found: Defaults | None) -> list[str]:
    if found is None:
        return []
    title = f"defaults that differ from those of {found.base}, of options that the spec leaves alone"
    lines = [title, "-" * len(title)]
    for builds, changes in found.groups():
        said = f"{', '.join(builds)}: {'; '.join(changes)}"
        lines += wrap(said, "  ", "    ", SENTENCES)
    return lines


def _stalls(report: Report, section: Section) -> Iterator[str]:
    names = section.names
    for point in section.points:
        slow = [each.slow for place in point.places if (each := report.data.series.steadiness.get(place))]
        if slow and max(slow) >= STALLED:
            where = comparison_axes.words(comparison_axes.key(point, names), names)
            yield f"  stalls: {where}: up to {percent(max(slow))} of the seconds below half the median"
