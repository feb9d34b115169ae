"""stepgrid query and parse: the tables of results in SQL, and every figure of an existing output file."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.cli.failures import CommandError, ending_with
from stepgrid.cli.output import (
    ROW_FORMATS,
    WIDTH,
    add_output,
    check_folder,
    format_of,
    format_rows,
    write_file,
    write_output,
)
from stepgrid.cli.spec_arguments import add_narrowing, quiet_plan, spec_request
from stepgrid.collect import query
from stepgrid.errors import FINE, PROBLEMS, USAGE
from stepgrid.host.terminal_output import cut, text_width, wrap
from stepgrid.language.problems import nearest
from stepgrid.model import units
from stepgrid.model.figures import BUCKET, Figures, ParseError, PrintedStep, rows
from stepgrid.model.records import Json
from stepgrid.model.result_schema import HEADINGS
from stepgrid.model.table import Cell, Column, Table
from stepgrid.model.units import as_number, counted
from stepgrid.plan import plan_file
from stepgrid.plugins.driver import StandaloneOutput
from stepgrid.plugins.metrics import SECTIONS, unit
from stepgrid.plugins.registry import DRIVERS, driver
from stepgrid.store.paths import STEPS_TABLE
from stepgrid.store.store import Store
from stepgrid.summarize import formats
from stepgrid.summarize.formats import aligned, delimited_text, text_lines
from stepgrid.workflow import host_plan

PARQUET = "parquet"
STEPS, KEYS = "steps", ("stage", "attempt", "position", "step")  # the main table, and what nearly all tables have
SPEC_SUFFIXES = (".yaml", ".yml", ".json")
ALL_COLUMNS = "SELECT * FROM columns"
PARSE_COLUMNS = ("step", "name", "metric", "value", "unit")
OTHER_METRICS = "Others"
LONGEST_FACT = 60  # letters: options and the like are for json


class SpecAndQuery(argparse.Action):
    """A spec file and a query, in any order: a query has no suffix of a spec."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        specs = [word for word in values if Path(word).suffix in SPEC_SUFFIXES and len(word.split()) == 1]
        queries = [word for word in values if word not in specs]
        if len(specs) > 1 or len(queries) > 1:
            parser.error(f"one spec and one query in quotation marks, not {shlex.join(values)}")
        namespace.spec, namespace.sql = next(iter(specs), None), next(iter(queries), None)


def add_query_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "stepgrid query [SPEC] [SQL] [options]"
    parser.add_argument(
        "words",
        nargs="*",
        action=SpecAndQuery,
        metavar="SPEC, SQL",
        help='a spec file (default: the plan collected last); a query, such as "SELECT step, build, qps FROM steps" '
        "(default: lists the tables)",
    )
    parser.add_argument("--plan", metavar="ID", help="a plan by its digest or a prefix of it, for an imported plan")
    parser.add_argument(
        "--format", choices=(*ROW_FORMATS, PARQUET), help="the output format (by the suffix of FILE, else text)"
    )
    add_output(parser)
    add_narrowing(parser)


def run_query(args: argparse.Namespace) -> int:
    form = args.format or format_of(args.output, (*ROW_FORMATS, PARQUET), "text")
    if args.output is not None:
        check_folder(args.output)
    elif form == PARQUET:
        raise CommandError("--format parquet needs -o FILE")
    folder = _tables(args)
    sql = ALL_COLUMNS if args.sql is None else args.sql
    with ending_with(USAGE, query.QueryError, OSError):
        if form == PARQUET:
            write_file(lambda file: query.answer_to_parquet(folder, sql, file), args.output, args.replace)
            return FINE
        if args.sql is None and form == "text":
            text = "".join(f"{line}\n" for line in _table_lines(folder, text_width(sys.stdout, WIDTH)))
        else:
            answer = query.answer(folder, sql)
            text = format_rows(form, answer.names, answer.rows)
        write_output(text, args.output, args.replace)
    return FINE


def _tables(args: argparse.Namespace) -> Path:
    """Return the folder of the tables of a plan, a spec, or the plan that was collected last."""
    store = host_plan.store()
    if args.plan is not None:
        return _tables_of_plan(store, args.plan)
    if args.spec is None:
        tables = list(store.summary("_").parent.glob(f"*/tables/{STEPS_TABLE}"))
        if not tables:
            sentence = f"nothing was collected yet under {store.root}: `stepgrid run SPEC` does it"
            raise CommandError(sentence, PROBLEMS)
        newest = max(tables, key=lambda path: path.stat().st_mtime).parent
        if len(tables) > 1:
            print(f"{_plan_text(store, newest)}, collected last; a spec or `--plan` names another", file=sys.stderr)
        return newest
    from stepgrid.summarize.report_files import current_tables

    plan = quiet_plan(args)
    if not any(store.results(stage.id) for stage in plan.stages):
        command = shlex.join(["stepgrid", "run", *spec_request(args).words(args.site)])
        raise CommandError(f"{args.spec} has no results yet: `{command}` measures", PROBLEMS)
    return current_tables(store, plan)


def _plan_text(store: Store, tables: Path) -> str:
    """Name a plan and its spec: a bisect has plans of its own."""
    digest = tables.parent.name
    try:
        return f"plan {digest} of {plan_file.read_head(store.plan(digest)).spec}"
    except plan_file.DAMAGED:
        return f"plan {digest}"


def _tables_of_plan(store: Store, prefix: str) -> Path:
    """Return the tables of a stored plan; make them if need be, without its spec and its builds."""
    names = sorted(path.name for path in store.plan("_").parent.glob("*") if store.has_plan(path.name))
    plans = [name for name in names if name.startswith(prefix)]
    if len(plans) != 1:
        sentence = f"several plans begin with {prefix}: {', '.join(plans)}" if plans else f"there is no plan {prefix}"
        raise CommandError(f"{sentence} under {store.root}/plans", PROBLEMS)
    folder = store.tables(plans[0])
    if not (folder / STEPS_TABLE).is_file():
        from stepgrid.collect.job import collect

        collect(store, plan_file.read(store.plan(plans[0])))
    return folder


def _table_lines(folder: Path, width: int) -> Iterator[str]:
    """List tables with their rows and first columns, on a screen; `columns` explains them."""
    columns: dict[str, list[str]] = {}
    for table, column in query.answer(folder, "SELECT table_name, column_name FROM columns").rows:
        columns.setdefault(table, []).append(column)
    counts = {table: query.answer(folder, f"SELECT count(*) FROM {table}").rows[0][0] for table in columns}
    full = sorted((table for table in columns if counts[table]), key=lambda table: (table != STEPS, table))
    rows = [(table, f"{counts[table]:,} rows", _column_names(columns[table])) for table in full]
    yield from (cut(line, width) for line in aligned(rows, "", right=[1]))
    if empty := [table for table in columns if not counts[table]]:
        yield from wrap(f"without rows: {', '.join(empty)}", "", "  ", width)
    yield "each column: stepgrid query \"SELECT * FROM columns WHERE table_name = 'steps'\""


def _column_names(names: Sequence[str]) -> str:
    """Name the columns that tell a table from the others first."""
    telling_names = [name for name in names if name not in KEYS] or list(names)
    return f"{counted(len(names), 'column')}: {', '.join(telling_names)}"


def add_parse_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", metavar="KIND", help="the kind of program that wrote the output, such as db_bench")
    parser.add_argument("file", metavar="FILE", type=Path, help="the output of one run, or of several runs in one file")
    parser.add_argument(
        "--format",
        choices=("text", "csv", "json"),
        default="text",
        help="the output format (text); json has everything",
    )


def run_parse(args: argparse.Namespace) -> int:
    reader = _output_reader(args.kind)
    try:
        with ending_with(USAGE, ParseError):
            steps = reader.printed(args.file)
    except (ValueError, LookupError, ArithmeticError, RecursionError) as error:  # a number of too many digits, say
        raise CommandError(f"{args.file} cannot be read: {str(error).partition(':')[0]}") from error
    if args.format == "json":
        objects = [_step_json(number, step) for number, step in enumerate(steps, 1)]
        print(formats.json_text({"file": str(args.file), "steps": objects}))
        return FINE
    if args.format == "text":
        print("\n".join(_file_lines(args.file, steps)))
        return FINE
    figures = [
        (number, step.name, metric, figure, unit(metric))
        for number, step in enumerate(steps, 1)
        for metric, figure in step.figures.metrics.items()
    ]
    sys.stdout.write(delimited_text([PARSE_COLUMNS, *figures]))
    for number, step in enumerate(steps, 1):
        if not step.figures.metrics:  # a run that failed would else look like no run
            print(f"step {number}, {step.name}: {'; '.join(step.figures.warnings) or 'no figures'}", file=sys.stderr)
    return FINE


def _output_reader(kind: str) -> StandaloneOutput:
    readable = [name for name in DRIVERS.names() if isinstance(driver(name), StandaloneOutput)]
    if kind not in readable:
        sentence = (
            f"outputs of kind `{kind}` are not read by themselves"
            if kind in DRIVERS.names()
            else f"there is no kind `{kind}`"
        )
        raise CommandError(f"{sentence}\n   = {nearest(kind, readable)}")
    reader = driver(kind)
    assert isinstance(reader, StandaloneOutput)
    return reader


def _step_json(number: int, step: PrintedStep) -> Mapping[str, Json]:
    figures = step.figures
    return {
        "step": number,
        "name": step.name,
        "metrics": {name: {"value": value, "unit": unit(name)} for name, value in figures.metrics.items()},
        "facts": dict(figures.facts),
        "warnings": list(figures.warnings),
        "series": [{"second": second, "qps": qps} for second, qps in figures.qps],
        "histograms": [dict(zip(BUCKET, bucket, strict=True)) for bucket in rows(figures.histograms)],
        "latencies": [dict(latency) for latency in figures.latencies],
        "levels": [dict(level) for level in figures.levels],
        "file_reads": [dict(read) for read in figures.file_reads],
        "counters": dict(figures.counters),
        "rates": [rate._asdict() for rate in figures.rates],
    }


def _file_lines(path: Path, steps: Sequence[PrintedStep]) -> Iterator[str]:
    yield f"{path}: {counted(len(steps), 'step')}"
    for number, step in enumerate(steps, 1):
        yield ""
        yield f"{number}. {step.name}"
        yield from _figure_lines(step.figures)


def _figure_lines(figures: Figures) -> Iterator[str]:
    """Show metrics in the groups of docs/reference/metrics.md, levels, and counters that counted something."""
    facts = ", ".join(f"{name} {fact}" for name, fact in figures.facts.items() if len(fact) <= LONGEST_FACT)
    for text in (facts, *(f"warning: {warning}" for warning in figures.warnings)):
        yield from wrap(text, width=WIDTH)
    sections = {title: [metric.name for metric in section] for title, section in SECTIONS.items()}
    grouped = {name for names in sections.values() for name in names}
    sections[OTHER_METRICS] = [name for name in figures.metrics if name not in grouped]
    for title, names in sections.items():
        metrics = [(name, figures.metrics[name], unit(name)) for name in names if name in figures.metrics]
        if metrics:
            yield from ("", f"  {title}")
            cells = [
                (name, units.figure(figure, metric_unit), "" if metric_unit == "B" else metric_unit)
                for name, figure, metric_unit in metrics  # bytes are shown with a unit of their own
            ]
            yield from aligned(cells, "    ", right=[1])
    yield from _level_lines("Levels", figures, "level")
    yield from _level_lines("By priority of the threads", figures, "priority")
    yield from _counter_lines(figures.counters)
    yield from _series_lines(figures)


def _level_lines(title: str, figures: Figures, label: str) -> Iterator[str]:
    levels = [level for level in figures.levels if label in level]
    heads = [head for head in HEADINGS if any(head in level for level in levels)]
    if not heads:
        return
    has_families = len({level.get("family") for level in levels}) > 1
    cells = []
    for level in levels:
        name = f"{level['family']} {level[label]}" if has_families else str(level[label])
        values = ((HEADINGS[head].form, level.get(head)) for head in heads)
        numbers = ((form, as_number(value)) for form, value in values)
        texts = ["-" if number is None else form(number) for form, number in numbers]
        cells.append(tuple(map(Cell, (name, *texts))))
    columns = (Column(label, label=True), *(Column(HEADINGS[head].heading) for head in heads))
    yield from ("", f"  {title}")
    yield from text_lines(Table(title, columns, tuple(cells)), "    ")


def _counter_lines(counters: Mapping[str, float]) -> Iterator[str]:
    """List the counters above 0, without those of an engine's own histograms."""
    histograms = {name.rpartition(".")[0] for name in counters if name.endswith(".sum")}
    listed = {
        name: f"{count:,.0f}"
        for name, count in counters.items()
        if count and name.rpartition(".")[0] not in histograms and "@" not in name
    }
    if listed:
        yield from ("", f"  Counters: {len(listed)} of {len(counters)}, without those of histograms and those at 0")
        yield from aligned(listed.items(), "    ", right=[1])


def _series_lines(figures: Figures) -> Iterator[str]:
    """Count what only json has."""
    if series := [qps for _, qps in figures.qps]:
        low, high = units.figure(min(series)), units.figure(max(series))
        yield ""
        yield f"  QPS over time: {counted(len(series), 'point')}, {low} to {high} operations/s (json has them)"
    if figures.file_reads:
        yield from ("", f"  reads of files of {counted(len(figures.file_reads), 'level')} (json has them)")
    if figures.rates:
        clients = counted(len({rate.client for rate in figures.rates}), "client")
        yield from ("", f"  {counted(len(figures.rates), 'interval')} of {clients} (json has them)")
