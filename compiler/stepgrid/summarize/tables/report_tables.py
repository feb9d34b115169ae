"""The tables of a report: those that the spec names, else what the kinds of its steps show without being asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import takewhile
from typing import Any

from stepgrid.model.plan import BUILD, Axis
from stepgrid.model.status import Status
from stepgrid.model.table import ABSENT, MOST_ROWS, WITHOUT_FIGURE, Cell, Table
from stepgrid.plugins import registry
from stepgrid.plugins.layout import DEFAULT_LAYOUT, STEP
from stepgrid.plugins.registry import LAYOUTS
from stepgrid.summarize.comparisons.comparison_axes import most_able, touching
from stepgrid.summarize.comparisons.ratio_intervals import RatioIntervals
from stepgrid.summarize.data.measurements import Point, points
from stepgrid.summarize.data.parquet_reader import Run
from stepgrid.summarize.data.table_inputs import Extras
from stepgrid.summarize.data.time_windows import windowed
from stepgrid.summarize.tables import point_filter, probe_tables
from stepgrid.summarize.tables.arrangement import Arrangement, Said, arrangement
from stepgrid.summarize.tables.blocks import Caveat, Labels, ReportPoints, block, blocks, groups, no_caveat, words

TOGETHER = ("per_operation",)  # of a table for each step, what counts is all of them
TOO_LONG, REPEATED = "too long for here", "the same ratios, to be pasted"
REPEATING = ("relative",)  # what the comparisons of a report have, with verdicts
LINES = ("percentiles", "stalls", "compaction_sum", "iostat", "vmstat")  # one table, each point a line or a column


@dataclass(frozen=True, slots=True)
class Long:
    """A table that nobody asked for, and that is not shown by itself: it is made when someone does."""

    name: str
    make: Callable[[], list[Table]]
    why: str = TOO_LONG


Shown = tuple[list[Table], list[Long]]


def tables(
    said: Sequence[Said],
    axes: Sequence[Axis],
    runs: Sequence[Run],
    base: Mapping[str, str],
    extras: Extras,
    caveat: Caveat = no_caveat,
    intervals: RatioIntervals | None = None,
) -> Shown:
    measured = [run for run in runs if run.measured]
    whole = known(axes, measured, extras, caveat, intervals)
    every = cache(partial(known, axes, runs, extras, caveat, intervals))
    if said:
        wanted = [_with_loads(each, runs) if _is_sized(each) else each for each in said]
        seen = [(each, every() if _is_sized(each) else whole) for each in wanted]
        return [table for each, there in seen for table in _named(each, axes, measured, base, extras, there)], []
    found: Shown = [], []
    for each in (*_defaults(axes, runs, base), *probe_tables.tables(extras.probes, extras.counters, measured)):
        for made, long in _default(each, axes, base, every() if _is_sized(each) else whole):
            found[0].extend(made)
            found[1].extend(long)
    return found


def _default(said: Said, axes: Sequence[Axis], base: Mapping[str, str], whole: ReportPoints) -> Iterator[Shown]:
    """Block by block."""
    chosen = point_filter.chosen(whole.points, said["where"])
    form = arrangement(said, axes, chosen, base)
    many = said["layout"] in TOGETHER and _is_much(chosen)
    for key, members in groups(form, chosen, whole):
        make = partial(_made, form, key, members, whole)
        repeats = said["layout"] in REPEATING
        if repeats or many or (said["layout"] in LINES and _is_much(members)):
            name = Table(form.title, (), (), words(key, form.by, form)).name
            long = Long(name, make, REPEATED if repeats else TOO_LONG)
            yield [], [long] if any(_has_figures(form, point, whole) for point in members) else []
        else:
            yield make(), []


def _is_much(points: Sequence[Point]) -> bool:
    return sum(point.status == Status.DONE for point in points) > MOST_ROWS


def _made(form: Arrangement, key: Labels, points: Sequence[Point], whole: ReportPoints) -> list[Table]:
    return [table for table in form.layout.tables(block(form, key, points, whole)) if has_figures(table)]


def _has_figures(form: Arrangement, point: Point, whole: ReportPoints) -> bool:
    if form.layout.levels:
        return any(place in whole.levels for place in point.places)
    return any(name in run.metrics for run in point.runs for name in form.layout.metrics)


def known(
    axes: Sequence[Axis],
    runs: Sequence[Run],
    extras: Extras,
    caveat: Caveat = no_caveat,
    intervals: RatioIntervals | None = None,
) -> ReportPoints:
    """The figures of a window have intervals of their own."""
    by_step: dict[str, list[Run]] = {}
    for run in runs:
        by_step.setdefault(run.step, []).append(run)
    found = [
        point
        for step, members in by_step.items()
        for point in points(members, step, [axis.name for axis in touching(axes, step)])
    ]
    known = extras.levels, extras.counters, caveat, extras.times
    return ReportPoints(found, axes, [*by_step], *known, intervals or RatioIntervals(), extras.objects)


def _named(
    said: Said, axes: Sequence[Axis], runs: Sequence[Run], base: Mapping[str, str], extras: Extras, whole: ReportPoints
) -> list[Table]:
    """One with a window is made of the figures of that alone."""
    window = tuple(said.get("window", ()))
    if window:
        whole = known(axes, windowed(runs, extras.windows.get(window, {})), extras, whole.caveat)
    found = _shown(said, axes, base, whole)
    return found or [Table(said.get("title", said.get("layout", "")), (), (), notes=("there is nothing to show",))]


def _shown(said: Said, axes: Sequence[Axis], base: Mapping[str, str], whole: ReportPoints) -> list[Table]:
    chosen = point_filter.chosen(whole.points, said.get("where", {}))
    form = arrangement(said, axes, chosen, base)
    return [table for each in blocks(form, chosen, whole) for table in form.layout.tables(each)]


def _defaults(axes: Sequence[Axis], runs: Sequence[Run], base: Mapping[str, str]) -> Iterator[Said]:
    """By the kinds of the steps, in their order; a layout is about the steps of its kinds that have its figures."""
    measured = [run for run in runs if run.measured]
    kinds = dict.fromkeys(run.kind for run in measured)
    for name in dict.fromkeys(name for kind in kinds for name in registry.default_tables(kind)):
        if LAYOUTS.get(name).sizes:
            steps = load_steps(runs, LAYOUTS.get(name).metrics)
        else:
            about = {kind for kind in kinds if name in registry.default_tables(kind)}
            steps = _about(name, (run for run in measured if run.kind in about))
        if steps:
            yield {"layout": name, "where": {STEP: steps}, **_base(name, axes, measured, base)}


def _about(name: str, runs: Iterable[Run]) -> list[str]:
    """The steps that have its figures, or none at all yet."""
    wanted, found = LAYOUTS.get(name), dict[str, None]()
    for run in runs:
        if run.step not in found and (wanted.levels or _has_any(run, wanted.metrics)):
            found[run.step] = None
    return [*found]


def _has_any(run: Run, metrics: Iterable[str]) -> bool:
    return not run.metrics or any(metric in run.metrics for metric in metrics)


def _base(name: str, axes: Sequence[Axis], runs: Sequence[Run], base: Mapping[str, str]) -> Mapping[str, Any]:
    """Published tables go by build, where there are several."""
    builds = next((axis.labels for axis in axes if axis.name == BUILD), ())
    if not LAYOUTS.get(name).compares or len(builds) < 2 or BUILD in base:
        return {}
    return {"base": {BUILD: most_able(axes, runs) or builds[0]}}


def has_figures(table: Table) -> bool:
    """Whether some cell has a figure, and not all of them are 0: nobody asked for a table of none."""
    cells = [cell for row in table.rows for cell, column in zip(row, table.columns, strict=True) if not column.label]
    return any(cell.kind not in (ABSENT, *WITHOUT_FIGURE) and not _is_zero(cell) for cell in cells)


def _is_zero(cell: Cell) -> bool:
    return cell.value == 0 or (cell.value is None and cell.text != "" and not cell.text.strip("0.%"))


# The steps of a table of loads: those that load, the last one before what is measured, and the last of all. Right after
# a load a server does not know how large its tables are; after the wait that follows it does.


def _is_sized(said: Said) -> bool:
    return LAYOUTS.get(said.get("layout", DEFAULT_LAYOUT)).sizes


def _with_loads(said: Said, runs: Sequence[Run]) -> Said:
    """With those steps, unless it says others."""
    where = {STEP: load_steps(runs, LAYOUTS.get(said["layout"]).metrics), **said.get("where", {})}
    return {**said, "where": where}


def load_steps(runs: Sequence[Run], metrics: Sequence[str]) -> list[str]:
    """`runs`: in the order of the steps."""
    loads = [run for run in runs if any(name in run.metrics for name in metrics)]
    if not loads:
        return []
    alike = [run for run in runs if run.labels.keys() == loads[0].labels.keys()]
    every = [*dict.fromkeys(run.step for run in alike)]
    measured = {run.step for run in alike if run.measured}
    before = [*takewhile(lambda step: step not in measured, every)]
    return [*dict.fromkeys((*(run.step for run in loads), *before[-1:], every[-1]))]
