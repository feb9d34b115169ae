"""stepgrid compare: two sets of results as one report, in which the sets are the arms and the first is the base."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack

from msgspec import Struct

from stepgrid.cli.failures import CommandError, ending_with
from stepgrid.cli.output import add_output, write_output
from stepgrid.cli.report import locate_results
from stepgrid.cli.spec_arguments import RESULTS_HELP, add_narrowing, add_where
from stepgrid.errors import FINE, USAGE
from stepgrid.model import units
from stepgrid.model.plan import Plan, PlannedAxis, PlannedCell
from stepgrid.model.records import replace
from stepgrid.model.units import counted
from stepgrid.plan import difference, plan_file
from stepgrid.plan.difference import Link
from stepgrid.store.store import Store
from stepgrid.summarize.comparisons.builds import NO_VERDICT
from stepgrid.summarize.comparisons.comparison import Case, Comparison, ratio_text
from stepgrid.summarize.data import tables_reader
from stepgrid.summarize.data.tables_reader import PastFigure, Place, Run, Tables
from stepgrid.summarize.formats import FORMATS
from stepgrid.summarize.notes import measured_times
from stepgrid.summarize.report import Report, ReportTables, adjust, make_report
from stepgrid.summarize.report_formats import report_text
from stepgrid.summarize.setup import days_text
from stepgrid.summarize.statistics import verdicts

AXIS = "results"
SUFFIX = "@2"  # of cells of the second set, and of its stages that the first set has another result of
SAME_RUNS = "both sets are the same runs: they reproduce nothing"
REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"
OUTCOMES = (REPRODUCED, NOT_REPRODUCED, verdicts.UNDECIDED, NO_VERDICT)
MOST_POINTS = 3  # points that are named
MOST_INPUTS, MOST_CELLS = 12, 200  # inputs that are named, cells that are looked at


def add_compare_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="FIRST", help=f"the base: {RESULTS_HELP}")
    parser.add_argument("second", metavar="SECOND", help="the results to compare with the base, named the same way")
    add_where(parser)
    parser.add_argument("--format", choices=FORMATS, default="text", help="the output format (text)")
    add_output(parser)
    add_narrowing(parser)


def run_compare(args: argparse.Namespace) -> int:
    report = compare_results(args, (args.first, args.second))
    write_output(report_text(report, args.format), args.output, args.replace)
    return FINE


def compare_results(args: argparse.Namespace, names: Sequence[str]) -> Report:
    """Make one report of two sets of results, in which the first is the base."""
    selected = [condition.partition("=") for condition in args.where]
    for axis, equals, _ in selected:
        if not equals:
            raise CommandError(f"--where {axis}: wanted AXIS=LABEL")
    with ExitStack() as temporary_folders, ending_with(USAGE, NotComparable):
        located = [locate_results(args, name, temporary_folders) for name in names]
        first, second = (stored_results(results.store, results.plan.digest, results.name) for results in located)
        if first.name == second.name:
            first, second = replace(first, name=f"{first.name} (1)"), replace(second, name=f"{second.name} (2)")
        return compare_sets(first, second, [(axis, label) for axis, _, label in selected])


class NotComparable(Exception):
    """Two sets of results without a cell in common."""


class ResultSet(Struct, frozen=True):
    """Results of one plan, by the name under which they are compared."""

    name: str
    header: Plan  # of the plan
    tables: Tables
    links: Callable[[Sequence[str]], list[Link]]  # of a chain of stages

    @property
    def days(self) -> str:
        return days_text(measured_times(self.tables.runs)) or "not measured"


def stored_results(store: Store, digest: str, name: str) -> ResultSet:
    """Read a plan's tables as they are."""
    header = plan_file.read(store.plan(digest))
    tables = tables_reader.load(store.tables(digest), [axis.name for axis in header.axes])
    return ResultSet(name, header, tables, difference.links_of(header))


def compare_sets(first: ResultSet, second: ResultSet, labels: Sequence[tuple[str, str]]) -> Report:
    """Make the report of both; `labels`: axes and labels that narrow the set that has them."""
    match = _match_cells(first.header, second.header, labels)
    first_stages = {run.place[0] for run in first.tables.runs}

    def across(chain: Sequence[str]) -> list[Link]:
        """Read stages by their names in the joined tables."""
        sides = ((first if node in first_stages else second, node.removesuffix(SUFFIX)) for node in chain)
        return [link for side, node in sides for link in side.links([node])]

    report = make_report(_join_headers(first, second, match), _join_tables(first, second, match), across=across)
    runs = [{(run.place, run.attempt) for run in side.tables.runs if run.attempt} for side in (first, second)]
    # an archive beside the results that it was made of
    is_same = all(runs) and (runs[0] <= runs[1] or runs[1] <= runs[0])
    inputs = _input_differences(first, second, match)

    def complete(report: Report) -> Report:
        counts = reproduction_sentences(report.comparisons.all, report.setup.effect)
        notes = replace(
            report.notes,
            reproduction=(SAME_RUNS,) if is_same else tuple(counts),
            differs=(f"measured: {first.days} -> {second.days}", *match.constants, *inputs),
            left_out=tuple(match.unmatched_counts()),
        )
        return replace(report, notes=notes, tables=ReportTables())  # tables that no one chose would repeat the ratios

    return adjust(report, complete)


# How many points of the second set came out as in the first


def reproduction_sentences(comparisons: Iterable[Comparison], effect: float) -> Iterator[str]:
    """Count the ratios between the sets by metric; those between arms of one set reproduce nothing."""
    between = [comparison for comparison in comparisons if AXIS in comparison.layout.base]
    metrics = dict.fromkeys(comparison.metric.title for comparison in between)
    for metric in metrics:
        points: Mapping[str, list[str]] = {outcome: [] for outcome in OUTCOMES}
        for comparison in between:
            for case in comparison.cases() if comparison.metric.title == metric else ():
                ratio = ratio_text(case.entry.ratio, case.entry.interval, units.TIMES) or case.entry.idle
                points[_outcome(case)].append(f"{comparison.where(case.row)} {ratio}")
        if total := sum(map(len, points.values())):
            prefix = f"{metric}: " if len(metrics) > 1 else ""
            share = f"{len(points[REPRODUCED])} of {counted(total, 'point')}"
            yield f"{prefix}reproduced within {units.percent(effect)} at {share}"
            for outcome in OUTCOMES[1:]:
                if texts := points[outcome]:
                    yield f"{prefix}{outcome} at {len(texts)}: {'; '.join(units.first(texts, MOST_POINTS))}"


def _outcome(case: Case) -> str:
    """Sort a ratio by its verdict: a wide interval is undecided, however near to 1 the ratio is."""
    if case.entry.verdict == verdicts.SAME:
        return REPRODUCED
    if case.entry.refusal:
        return NO_VERDICT
    return NOT_REPRODUCED if case.entry.is_difference else verdicts.UNDECIDED


# Cells of both sets: those with equal labels on the axes that both have

Key = tuple[tuple[str, str], ...]  # axes and labels
Labels = Mapping[str, Sequence[str]]  # of an axis
NO_AXIS = ("not an axis",)


class _Match(Struct, frozen=True):
    axes: tuple[str, ...]
    first: Mapping[Key, str]  # cells
    second: Mapping[Key, str]
    constants: tuple[str, ...]  # axes with one label in each set, which say what the sets differ by
    live_axes: tuple[str, ...]  # of steps, within a cell

    @property
    def common(self) -> list[Key]:
        return [key for key in self.second if key in self.first]

    def unmatched_counts(self) -> Iterator[str]:
        for name, cells in (("first", self.first), ("second", self.second)):
            if unmatched := len(cells) - len(self.common):
                yield f"{counted(unmatched, 'cell')} of the {name} set, which the other lacks"


def _match_cells(first: Plan, second: Plan, labels: Sequence[tuple[str, str]]) -> _Match:
    sides = [_narrow(header, labels) for header in (first, second)]
    one, two = (_labels_by_axis(header, cells) for header, cells in zip((first, second), sides, strict=True))
    axes = tuple(
        axis for axis in two if axis in one and (len(one[axis]) > 1 or len(two[axis]) > 1 or one[axis] == two[axis])
    )
    constants = [axis for axis in {**two, **one} if axis not in axes]
    for axis in constants:
        _refuse_ambiguous(axis, one, two)
    texts = [f"{axis}: {one.get(axis, NO_AXIS)[0]} -> {two.get(axis, NO_AXIS)[0]}" for axis in constants]
    keys = [
        {tuple((axis, cell.labels[axis]) for axis in axes if axis in cell.labels): cell.id for cell in cells}
        for cells in sides
    ]
    live_axes = dict.fromkeys(
        axis.name for side in (second, first) for axis in side.axes if axis.name not in {**one, **two}
    )
    match = _Match(axes, keys[0], keys[1], tuple(texts), tuple(live_axes))
    if not match.common:
        raise NotComparable(_disjoint_text(axes, one, two))
    return match


def _narrow(header: Plan, labels: Sequence[tuple[str, str]]) -> list[PlannedCell]:
    """Choose cells by label; a set that lacks a label stays as it is, so that two of one axis choose one in each."""
    cells = list(header.cells)
    for axis, label in labels:
        cells = [cell for cell in cells if cell.labels.get(axis) == label] or cells
    return cells


def _labels_by_axis(header: Plan, cells: Sequence[PlannedCell]) -> dict[str, list[str]]:
    """List the labels that the cells have, in the order of the plan."""
    used = {axis.name: {cell.labels.get(axis.name) for cell in cells} for axis in header.axes}
    labels = {axis.name: [label for label in axis.labels if label in used[axis.name]] for axis in header.axes}
    return {axis: names for axis, names in labels.items() if names}


def _refuse_ambiguous(axis: str, one: Labels, two: Labels) -> None:
    for name, side in (("second", two), ("first", one)):
        if len(labels := side.get(axis, ())) > 1:
            hint = f"choose one of them: --where {axis}={labels[0]}"
            raise NotComparable(f"only the {name} set has axis `{axis}` ({', '.join(labels)}): {hint}")


def _disjoint_text(axes: Sequence[str], one: Labels, two: Labels) -> str:
    """Name the axis that has no label in common."""
    for axis in axes:
        if not {*one[axis]} & {*two[axis]}:
            sets = f"first: {', '.join(one[axis])}; second: {', '.join(two[axis])}"
            hint = f"--where {axis}={one[axis][0]} --where {axis}={two[axis][0]} compares two of them"
            return f"the sets share no label of axis `{axis}` ({sets}); {hint}"
    return "the sets share no cell"


# One plan and its tables of both

Facts = Mapping[str, Mapping[str, Mapping[str, str]]]  # scope -> subject -> name -> value


def _join_headers(first: ResultSet, second: ResultSet, match: _Match) -> Plan:
    cells = [*_relabel_cells(first, match.first, match), *_relabel_cells(second, match.second, match)]
    searches = first.header.searches
    return replace(
        second.header,
        title=f"{second.header.title}: {second.name} against {first.name}",
        axes=(PlannedAxis(AXIS, (first.name, second.name)), *_join_axes(first.header, second.header, match)),
        cells=tuple(cells),
        report=replace(second.header.report, base={AXIS: first.name}, tables=(), claims=(), within=None),
        warnings=(),
        machines={},
        until=None,
        searches=(*second.header.searches, *(search for search in searches if search not in second.header.searches)),
    )


def _join_axes(first: Plan, second: Plan, match: _Match) -> Iterator[PlannedAxis]:
    first_axes, second_axes = ({axis.name: axis for axis in header.axes} for header in (first, second))
    for name in match.axes:
        one, two = first_axes[name], second_axes[name]
        common = {dict(key).get(name) for key in match.common}
        labels = dict.fromkeys((*two.labels, *one.labels))
        changes_all = one.steps is None or two.steps is None
        steps = None if changes_all else tuple(dict.fromkeys((*(two.steps or ()), *(one.steps or ()))))
        yield PlannedAxis(name, tuple(label for label in labels if label in common), steps)
    for name in match.live_axes:
        same = [axes[name] for axes in (second_axes, first_axes) if name in axes]
        labels = dict.fromkeys(label for axis in same for label in axis.labels)
        yield PlannedAxis(name, tuple(labels), tuple(dict.fromkeys(step for axis in same for step in axis.steps or ())))


def _relabel_cells(side: ResultSet, cells: Mapping[Key, str], match: _Match) -> Iterator[PlannedCell]:
    cells_by_id = {cell.id: cell for cell in side.header.cells}
    for key in match.common:
        yield replace(cells_by_id[cells[key]], labels={AXIS: side.name, **dict(key)})


def _join_tables(first: ResultSet, second: ResultSet, match: _Match) -> Tables:
    """Join runs, series and facts; a result that both sets have is one, of its first cell."""
    attempts = {run.place[0]: run.attempt for run in first.tables.runs}
    renamed = {
        run.place[0]: f"{run.place[0]}{SUFFIX}"
        for run in second.tables.runs
        if attempts.get(run.place[0], run.attempt) != run.attempt
    }
    runs = [*_relabel_runs(first, match, match.first, {}), *_relabel_runs(second, match, match.second, renamed, SUFFIX)]
    owners: dict[Place, str] = {}
    for run in runs:
        owners.setdefault(run.place, run.cell)
    one, two = first.tables, second.tables
    return Tables(
        runs=tuple(run if owners[run.place] == run.cell else replace(run, same_as=owners[run.place]) for run in runs),
        series={**{_rename(key, renamed): pairs for key, pairs in two.series.items()}, **one.series},
        facts=_join_facts(one, two, renamed),
        units={**one.units, **two.units},
        better={**one.better, **two.better},
        history=tuple(_join_history((*one.history, *two.history), runs)),
    )


def _relabel_runs(
    side: ResultSet, match: _Match, cells: Mapping[Key, str], renamed: Mapping[str, str], suffix: str = ""
) -> Iterator[Run]:
    common = {cells[key] for key in match.common}
    for run in side.tables.runs:
        if run.cell in common:
            common_labels = {axis: run.labels[axis] for axis in (*match.axes, *match.live_axes) if axis in run.labels}
            labels = {AXIS: side.name, **common_labels}
            position = _rename(run.place, renamed)
            yield replace(run, cell=f"{run.cell}{suffix}", labels=labels, place=position, same_as=None)


def _rename(position: Place, renamed: Mapping[str, str]) -> Place:
    return renamed.get(position[0], position[0]), position[1]


def _join_facts(first: Tables, second: Tables, renamed: Mapping[str, str]) -> Facts:
    joined = {scope: dict(subjects) for scope, subjects in first.facts.items()}
    for scope, subjects in second.facts.items():
        for subject, facts in subjects.items():
            stage, slash, suffix = subject.partition("/")
            joined.setdefault(scope, {})[f"{renamed.get(stage, stage)}{slash}{suffix}"] = facts
    return joined


def _join_history(past: Iterable[PastFigure], runs: Collection[Run]) -> Iterator[PastFigure]:
    """Count a figure of both sets once; figures that are compared are no history."""
    compared = {(run.place[0].removesuffix(SUFFIX), run.attempt) for run in runs}
    figures = {(figure.place, figure.attempt): figure for figure in past}
    yield from (figure for figure in figures.values() if (figure.place[0], figure.attempt) not in compared)


# Inputs of the stages, field by field


def _input_differences(first: ResultSet, second: ResultSet, match: _Match) -> Iterator[str]:
    """Yield `params.keys: 1000 -> 2000 (4 of 6 cells)`."""
    keys = match.common[:MOST_CELLS]
    # the first load's stages stand for a cell
    chains = [{cell.id: cell.repeats[0].stages for cell in side.header.cells} for side in (first, second)]
    cells_by_input: Counter[str] = Counter()
    for key in keys:
        old, new = chains[0][match.first[key]], chains[1][match.second[key]]
        if old != new:
            links = first.links(old), second.links(new)
            cells_by_input.update(map(difference.input_text, difference.differences(*links)))
    for text, cells in list(cells_by_input.items())[:MOST_INPUTS]:
        yield text if cells == len(keys) else f"{text} ({cells} of {counted(len(keys), 'cell')})"
    if (omitted := len(cells_by_input) - MOST_INPUTS) > 0:
        yield f"and {counted(omitted, 'input')} more"
