"""stepgrid counters, flame, bisect and repro: why a cell differs, since when, and a script that shows it to others."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from stepgrid.cli.failures import CommandError, ending_with
from stepgrid.cli.output import add_output, write_output
from stepgrid.cli.spec_arguments import (
    SPEC_HELP,
    add_cells,
    add_narrowing,
    add_spec,
    check_steps,
    compiled_plan,
    parse_quantity,
    quiet_plan,
    select_cell,
    select_cells,
    spec_request,
)
from stepgrid.collect import query
from stepgrid.collect.counts import profiled_cpu
from stepgrid.collect.step_figures import ENGINE, StepFigures, stored_figures
from stepgrid.errors import FAILED, FINE, USAGE
from stepgrid.host import files
from stepgrid.host.products import check_folder
from stepgrid.host.terminal_output import folded
from stepgrid.language.problems import nearest
from stepgrid.model.plan import Plan, PlannedCell, Report
from stepgrid.model.table import NOTHING, Table
from stepgrid.model.units import counted, duration
from stepgrid.plan.actions import arms
from stepgrid.plugins.collector import RECORDED, ComparingCollector, Recording
from stepgrid.plugins.layout import Block, LayoutCell
from stepgrid.plugins.registry import COLLECTORS, LAYOUTS
from stepgrid.store.paths import STEPS_TABLE
from stepgrid.store.store import Store
from stepgrid.summarize.formats import FORMATS, join_json
from stepgrid.workflow import host_plan

PUBLISHED, LAYOUT = "published", "counters"
SHOWN_COUNTERS = 10
WITHIN = "20m"  # to shrink a script
Growth = Mapping[str, Mapping[str, float]]  # cell -> counter -> growth


def add_counters_arguments(parser: argparse.ArgumentParser) -> None:
    add_cells(parser, "a cell's id, or labels that single it out; ratios are to the first (all cells)")
    parser.add_argument("--step", action="append", default=[], metavar="NAME", help="only this step (all steps)")
    parser.add_argument(
        "--probe", action="append", default=[], metavar="NAME", help="only around this probe (over whole steps)"
    )
    parser.add_argument("--name", action="append", default=[], metavar="PATTERN", help="only these counters: Handler_*")
    parser.add_argument(
        "--top", type=int, default=SHOWN_COUNTERS, metavar="N", help=f"the N that grew most ({SHOWN_COUNTERS})"
    )
    parser.add_argument("--format", choices=(*FORMATS, PUBLISHED), default="text", help="the output format (text)")


def run_counters(args: argparse.Namespace) -> int:
    plan = quiet_plan(args)
    cells = select_cells(plan, args.cells)
    check_steps(plan, args.step)
    parts = list(_counter_tables(args, plan, cells))
    if not parts:
        raise CommandError("no counter grew there: `stepgrid results` lists what is measured")
    print(join_json(parts) if args.format == "json" else "\n".join(parts), end="")
    return FINE


def _counter_tables(args: argparse.Namespace, plan: Plan, cells: Sequence[PlannedCell]) -> Iterator[str]:
    folder = host_plan.store().tables(plan.digest)
    if not (folder / STEPS_TABLE).is_file():
        words = shlex.join(spec_request(args).words(args.site))
        raise CommandError(f"{args.spec} has no tables yet: `stepgrid run {words}` makes them")
    probes = query.counter_places(folder)
    for probe in args.probe:
        if probe not in probes:
            raise CommandError(f"nothing was counted around a probe `{probe}`: {nearest(probe, probes)}")
    wanted = query.CounterFilter(args.step, args.probe or [ENGINE], args.name)
    labels = _distinct_labels(plan, cells)
    for (step, source), growth in query.counter_growth(folder, [cell.id for cell in cells], wanted).items():
        title = step if source == ENGINE else f"{step}, around {source}"
        yield from _growth_tables(title, {labels[cell]: growth[cell] for cell in growth}, args)


def _distinct_labels(plan: Plan, cells: Sequence[PlannedCell]) -> dict[str, str]:
    """Label each cell on the axes on which these cells differ."""
    axes = arms(plan.axes, [cell.labels for cell in cells], Report())
    names = [axis.name for axis in axes if len({cell.labels.get(axis.name) for cell in cells}) > 1]
    return {cell.id: ", ".join(cell.labels[name] for name in names if name in cell.labels) or "grown" for cell in cells}


def _growth_tables(title: str, growth: Growth, args: argparse.Namespace) -> Iterator[str]:
    spots = {(row, 0): LayoutCell(values) for row, values in enumerate(growth.values())}
    block = Block(title, tuple((label,) for label in growth), spots=spots, counters=("*",), top=args.top)
    tables = LAYOUTS.get(LAYOUT).tables(block)
    if args.format != PUBLISHED:
        yield from map(FORMATS[args.format], tables)
    elif tables:
        yield "".join(f"{line}\n" for line in _published_lines(title, list(growth), tables))


def _published_lines(title: str, labels: Sequence[str], tables: Sequence[Table]) -> Iterator[str]:
    """Write as published scripts do: the difference, two tabs, the name; then the ratios to the first cell."""
    differences, *ratios = ([[cell.text for cell in row] for row in table.rows] for table in tables)
    for column, label in enumerate(labels, 1):
        yield f"# {title}, {label}" if ratios else f"# {title}"
        yield from (f"{row[column]}\t\t{row[0]}" for row in differences if row[column] != NOTHING)
    for rows in ratios:
        yield f"# {title}, relative to {labels[0]}: {', '.join(labels[1:])}"
        yield from ("\t".join(row) for row in rows)


def add_flame_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", help=SPEC_HELP)
    parser.add_argument("cell", metavar="CELL", help="a cell's id, or labels that single it out")
    parser.add_argument("base", metavar="BASE", help="the cell to compare with")
    parser.add_argument("--step", metavar="NAME", help="the step (the first with recordings of both cells)")
    add_output(parser, "the SVG to write (default: print it)")
    add_narrowing(parser)


def run_flame(args: argparse.Namespace) -> int:
    from stepgrid.summarize.report_files import current_report

    plan, store = quiet_plan(args), host_plan.store()
    cell, base = select_cell(plan, args.cell), select_cell(plan, args.base)
    current_report(store, plan)  # the number of operations
    for step in cell.steps:
        for name in COLLECTORS.names() if args.step in (None, step.name) else ():
            collector = COLLECTORS.get(name)
            of_cell, of_base = (list(_recordings(store, plan, side, step.name, name)) for side in (cell, base))
            if isinstance(collector, ComparingCollector) and of_cell and of_base:
                title = f"{step.name}, {args.cell} against {args.base}"
                write_output(collector.compared(of_cell, of_base, title), args.output, args.replace)
                return FINE
    subject = f"of step `{args.step}`" if args.step else "of one step"
    hint = "`collectors: [{collector: perf_record}]` makes them"
    raise CommandError(f"no recordings {subject} in both cells: {hint}")


def _recordings(store: Store, plan: Plan, cell: PlannedCell, step_name: str, collector: str) -> Iterator[Recording]:
    """Yield the recordings of each load and run."""
    step = next((step for step in cell.steps if step.name == step_name), None)
    stages = {stage.id: stage for stage in plan.stages}
    measured = dict.fromkeys(repeat.stages[step.stage] for repeat in cell.repeats) if step else {}
    profiles = plan.profile.stages if plan.profile else {}
    for stage in (*measured, *(profiles[stage] for stage in measured if stage in profiles)):
        result = store.result(stage)
        figures = stored_figures(result, stages[stage].steps) if result else None
        if step is None or result is None or figures is None:
            continue
        operations = _recorded_operations(figures.steps[step.index])
        for path in sorted(result.glob(f"steps/{step.index}-*/collectors/*/collector.json")):
            record = files.read_json(path)
            if operations and record.get("collector") == collector:
                yield Recording(path.parent, record, operations)


def _recorded_operations(figures: StepFigures) -> float | None:
    """Count the operations of a recording; of a profile's windows those that took as much CPU as they."""
    times = {name: count for _, name, count in figures.counts}
    recorded, cpu = times.get(RECORDED), profiled_cpu(times, figures.metrics)
    return recorded / cpu if recorded is not None and cpu else figures.metrics.get("operations")


def add_bisect_arguments(parser: argparse.ArgumentParser) -> None:
    add_spec(parser)
    parser.add_argument("--good", required=True, metavar="REF", help="a version of the build, or a git commit or tag")
    parser.add_argument("--bad", required=True, metavar="REF", help="a later one, which is worse")
    parser.add_argument("--build", metavar="NAME", help="the build to search, if the spec has several")
    parser.add_argument("--step", metavar="NAME", help="the measured step, if there are several")
    question = parser.add_mutually_exclusive_group()
    question.add_argument("--metric", metavar="NAME", default="qps", help="the metric that became worse (qps)")
    question.add_argument("--claim", metavar="TEXT", help="a claim of the spec that holds at GOOD and fails at BAD")
    parser.add_argument("--by", type=_share, default=0.05, metavar="SHARE", help="by how much it became worse (5%%)")
    parser.add_argument("--retry", action="store_true", help="try again what could not be built or run before")
    parser.add_argument(
        "-n", "--dry-run", action="store_true", help="print what the search would cost; measure nothing"
    )


def _share(text: str) -> float:
    share = parse_quantity(text, "percent") / 100
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError(f"expected more than 0% and less than 100%, found {text}")
    return share


def run_bisect(args: argparse.Namespace) -> int:
    plan = compiled_plan(args)
    from stepgrid.bisect.measurement import Stopped
    from stepgrid.bisect.question import SearchError, Words, make_request
    from stepgrid.bisect.report import write_report
    from stepgrid.bisect.session import Session

    words = Words(
        *(plan.spec, args.scale, args.only, tuple(args.sets)),
        *(args.good, args.bad, args.build, args.step, args.metric, args.claim, args.by),
    )
    command = shlex.join(["stepgrid", *sys.argv[1:]])
    try:
        with ending_with(USAGE, SearchError):
            session = Session(host_plan.store(), plan, make_request(words, plan), command)
            if args.dry_run:
                print(session.forecast())
                return FINE
            report = session.run(args.retry)
    except Stopped as error:
        raise CommandError(f"the search is not over: {error}. The same command goes on", FAILED) from error
    print(write_report(report))
    return FINE if report.findings.is_found else FAILED


def add_repro_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", help=SPEC_HELP)
    parser.add_argument("cell", metavar="CELL", help="a cell's id, or labels that single it out")
    parser.add_argument("--against", metavar="CELL", help="the cell to compare it with (the report's base)")
    parser.add_argument("--step", metavar="NAME", help="the measured step (the one that differs most)")
    parser.add_argument("--metric", metavar="NAME", help="the figure (the one that the report leads with)")
    parser.add_argument("-o", "--output", metavar="FOLDER", type=Path, required=True, help="the folder to write")
    parser.add_argument(
        "--shrink",
        action="store_true",
        help="take steps, options, rows, threads and time away while the script shows the difference",
    )
    parser.add_argument(
        "--within", metavar="TIME", type=parse_quantity, default=WITHIN, help=f"how long to shrink ({WITHIN})"
    )
    add_narrowing(parser)


def run_repro(args: argparse.Namespace) -> int:
    from stepgrid.repro import finding, script, shrink
    from stepgrid.summarize.report_files import current_report

    folder: Path = args.output
    check_folder(folder)
    plan, store = quiet_plan(args), host_plan.store()
    against = select_cell(plan, args.against) if args.against else None
    question = finding.Question(select_cell(plan, args.cell), against, args.step, args.metric)
    difference = finding.find(current_report(store, plan), plan, question)
    arms = finding.make_arms(store, plan, difference)
    repro = script.Repro(difference, arms, script.ROUNDS, sum(arm.seconds for arm in arms) * script.ROUNDS)
    if args.shrink:
        if not difference.is_difference:
            sentence = f"{difference.step}: {difference.expected} is no difference that a smaller script could show"
            raise CommandError(f"{sentence}: measure more loads, or leave `--shrink` out", FAILED)

        def say(text: str) -> None:
            print(folded(f"repro: {text}", sys.stderr), file=sys.stderr, flush=True)

        repro = shrink.Shrinking(repro, folder, args.within, say).run()
    script.write(repro, folder)
    ratio = f"{repro.finding.metric.title} {repro.finding.expected} {repro.finding.verdict}".rstrip()
    print(f"{folder / script.SCRIPT}: {counted(repro.commands, 'command')}, {duration(repro.seconds)}, {ratio}")
    if not difference.is_difference:
        sentence = f"repro: the loads show no difference of `{difference.step}`: measure more before you hand it over"
        print(sentence, file=sys.stderr)
    if args.shrink and not shrink.is_shown(repro.finding.interval, difference.interval):
        raise CommandError("the last run does not show the difference again: give it more time by `--within`", FAILED)
    return FINE
