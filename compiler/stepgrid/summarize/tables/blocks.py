"""The points of a table, block by block, as its layout takes them: what each has, or why it has nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from statistics import median

from stepgrid.model.plan import Axis
from stepgrid.model.status import Status
from stepgrid.plugins.layout import OWN, STEP, At, Block, LayoutCell, Level, Object
from stepgrid.summarize.comparisons.builds import NO_VERDICT
from stepgrid.summarize.comparisons.comparison_verdict import idleness
from stepgrid.summarize.comparisons.ratio_intervals import RatioIntervals, ratio
from stepgrid.summarize.data.measurements import Point
from stepgrid.summarize.data.parquet_reader import Place
from stepgrid.summarize.data.response_times import Shares, together
from stepgrid.summarize.tables.arrangement import Arrangement
from stepgrid.summarize.tables.point_filter import label

Labels = tuple[str | None, ...]
Caveat = Callable[[Point, Point], str | None]
Levels = Mapping[Place, Sequence[Level]]


def no_caveat(_: Point, __: Point) -> str | None:
    return None


@dataclass(slots=True)
class ReportPoints:
    """The points of a report, and what is asked of them again and again."""

    points: Sequence[Point]
    axes: Sequence[Axis]
    steps: Sequence[str]
    levels: Levels = field(default_factory=dict)
    counters: Mapping[Place, Mapping[str, float]] = field(default_factory=dict)
    caveat: Caveat = no_caveat
    times: Mapping[Place, Shares] = field(default_factory=dict)
    intervals: RatioIntervals = field(default_factory=RatioIntervals)
    objects: Mapping[Place, Sequence[Object]] = field(default_factory=dict)
    _at: dict[tuple[str, frozenset[tuple[str, str]]], Point] = field(default_factory=dict)
    _values: dict[int, Mapping[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._at = {(point.step, frozenset(point.labels.items())): point for point in self.points}

    def base(self, point: Point, base: Mapping[str, str]) -> Point | None:
        """All other axes equal."""
        step = base.get(STEP, point.step)
        labels = {axis: base.get(axis, at) for axis, at in point.labels.items()}
        return self._at.get((step, frozenset(labels.items())))

    def values(self, point: Point) -> Mapping[str, float]:
        """Medians of the loads."""
        if id(point) not in self._values:
            found = _medians(point)
            self._values[id(point)] = {**self._counted(point), **found}
        return self._values[id(point)]

    def _counted(self, point: Point) -> Mapping[str, float]:
        seen = [self.counters[run.place] for run in point.runs if run.place in self.counters]
        names = dict.fromkeys(name for each in seen for name in each)
        return {name: median(each[name] for each in seen if name in each) for name in names}

    def ordered(self, axis: str) -> Sequence[str]:
        if axis == STEP:
            return self.steps
        return next((each.labels for each in self.axes if each.name == axis), ())


def _medians(point: Point) -> Mapping[str, float]:
    if len(point.runs) == 1:
        return point.runs[0].metrics
    names = {name for run in point.runs for name in run.metrics}
    return {name: spread[0] for name in names if (spread := point.spread(name))}


def blocks(form: Arrangement, points: Sequence[Point], known: ReportPoints) -> Iterator[Block]:
    for key, members in groups(form, points, known):
        yield block(form, key, members, known)


def groups(form: Arrangement, points: Sequence[Point], known: ReportPoints) -> Iterator[tuple[Labels, list[Point]]]:
    """The points of each block."""
    found: dict[Labels, list[Point]] = {}
    there = {axis: _labels(axis, points, known) for axis in form.by if STEP not in form.by}
    for point in points:
        for key in _keys(point, form.by, there):
            found.setdefault(key, []).append(point)
    for key in _sorted(found, form.by, known):
        yield key, found[key]


def block(form: Arrangement, key: Labels, points: Sequence[Point], known: ReportPoints) -> Block:
    there = {axis: _labels(axis, points, known) for axis in form.columns}
    rows = _sorted({_key(point, form.rows) for point in points}, form.rows, known)
    columns = _sorted({at for point in points for at in _keys(point, form.columns, there)}, form.columns, known)
    base_column = _base_column(form, columns)
    placed = dict(_placed(form, points, rows, columns, there))
    names = [_shown(row, form) for row in rows], [_heads(column, form) for column in columns]
    empty = Block(
        title=form.title,
        rows=tuple(names[0]),
        columns=tuple(names[1]),
        row_axes=tuple(form.called.get(axis, axis) for axis in form.rows),
        column_axes=tuple(form.called.get(axis, axis) for axis in form.columns),
        metrics=form.metrics,
        counters=form.counters,
        top=form.top,
        point=", ".join(filter(None, (_step(points, form, known), words(key, form.by, form)))),
        base=None if form.base is None else words(tuple(form.base.values()), tuple(form.base), form),
        base_column=base_column,
        called=form.called,
        notes=tuple(_fewer(points, form)),
        unnamed=_build(points, form),
    )
    spots = _compared(form, _spots(form, empty, placed, known), placed, known)
    return replace(empty, spots=spots, ratio_of=partial(_ratio_of, placed))


def _ratio_of(placed: Mapping[At, Point], at: At, base: At, metric: str) -> float | None:
    return ratio(placed[at], placed[base], metric) if at in placed and base in placed else None


def _build(points: Iterable[Point], form: Arrangement) -> str:
    """Where all is of one."""
    found = {point.build for point in points}
    return form.called.get(name, name) if len(found) == 1 and (name := found.pop()) else ""


def _placed(
    form: Arrangement,
    points: Iterable[Point],
    rows: Sequence[Labels],
    columns: Sequence[Labels],
    there: Mapping[str, Sequence[str]],
) -> Iterator[tuple[tuple[int, int], Point]]:
    down, across = {at: index for index, at in enumerate(rows)}, {at: index for index, at in enumerate(columns)}
    for point in points:
        for at in _keys(point, form.columns, there):
            yield (down[_key(point, form.rows)], across[at]), point


def _spots(
    form: Arrangement, block: Block, placed: Mapping[tuple[int, int], Point], known: ReportPoints
) -> dict[tuple[int, int], LayoutCell]:
    """What was measured once is shown once: its other places say where. The base's place comes first."""
    first: dict[tuple[Place, ...], tuple[int, int]] = {}
    found = {}
    for place in sorted(placed, key=lambda at: (at[1] != block.base_column, at)):
        point = placed[place]
        owner = first.setdefault(point.places, place)
        same = "" if owner == place else _apart(block, owner, place)
        found[place] = _spot(form, point, known, same)
    return found


def _apart(block: Block, owner: tuple[int, int], here: tuple[int, int]) -> str:
    row = block.row(owner[0]) if owner[0] != here[0] else ""
    column = block.column(owner[1]) if owner[1] != here[1] else ""
    return ", ".join(part for part in (row, column) if part)


def _spot(form: Arrangement, point: Point, known: ReportPoints, same: str) -> LayoutCell:
    if status := ("" if point.status == Status.DONE else point.status):
        return LayoutCell(status=status)
    if same:
        return LayoutCell(status=f"same as {same}")
    levels = next(_levels(form, point, known), ())
    objects = next(_objects(form, point, known), ())
    found = LayoutCell(known.values(point), ratios=dict(_ratios(form, point, known)), levels=levels, objects=objects)
    if not form.layout.times:
        return found
    return found._replace(times=together(known.times[place] for place in point.places if place in known.times))


def _levels(form: Arrangement, point: Point, known: ReportPoints) -> Iterator[Sequence[Level]]:
    """Read for those tables alone that show them."""
    return (known.levels[place] for place in point.places if form.layout.levels and place in known.levels)


def _objects(form: Arrangement, point: Point, known: ReportPoints) -> Iterator[Sequence[Object]]:
    """Likewise; of one load."""
    return (known.objects[place] for place in point.places if form.layout.objects and place in known.objects)


def _compared(
    form: Arrangement, spots: dict[At, LayoutCell], placed: Mapping[At, Point], known: ReportPoints
) -> Mapping[At, LayoutCell]:
    """With what is uncertain of the ratios, and doubtful."""
    if form.base is None:
        return spots
    bases = {at: base for at, spot in spots.items() if spot.ratios and (base := known.base(placed[at], form.base))}
    pairs = {at: (placed[at], base) for at, base in bases.items()}
    names = dict.fromkeys(name for at in bases for name in spots[at].ratios)
    found = {name: known.intervals.margins(pairs, name) for name in names}
    idle = {at: f"{NO_VERDICT}: {text}" for at, pair in pairs.items() if (text := idleness(*pair))}
    caveats = {at: idle.get(at) or known.caveat(*pair) or "" for at, pair in pairs.items()}
    return spots | {
        at: spots[at]._replace(margins={name: by[at] for name, by in found.items() if at in by}, caveat=caveats[at])
        for at in pairs
    }


def _ratios(form: Arrangement, point: Point, known: ReportPoints) -> Iterator[tuple[str, float]]:
    base = known.base(point, form.base) if form.base is not None else None
    for metric in form.metrics or form.layout.metrics or ("qps",) if base is not None else ():
        found = ratio(point, base, metric) if base is not None else None
        if found is not None:
            yield metric, found


def _fewer(points: Sequence[Point], form: Arrangement) -> Iterator[str]:
    short = [point for point in points if 0 < point.loads[0] < point.loads[1]]
    if short:
        measured, planned = short[0].loads
        names = (*form.by, *form.rows, *form.columns)
        where = words(_key(short[0], names), names, form)
        more = f", and {len(short) - 1} more so" if len(short) > 1 else ""
        yield f"{where}: {measured} of {planned} loads{more}"


def _base_column(form: Arrangement, columns: Sequence[Labels]) -> int | None:
    """Where all that the base says is in the columns."""
    if form.base is None or not set(form.base) <= set(form.columns):
        return None
    wanted = [
        index for index, at in enumerate(columns) if _is_base(dict(zip(form.columns, at, strict=True)), form.base)
    ]
    return wanted[0] if wanted and len(form.base) == len(form.columns) else None


def _is_base(labels: Mapping[str, str | None], base: Mapping[str, str]) -> bool:
    return all(labels[axis] == at for axis, at in base.items())


def _key(point: Point, axes: Sequence[str]) -> Labels:
    return tuple(label(point, axis) for axis in axes)


def _keys(point: Point, axes: Sequence[str], there: Mapping[str, Sequence[str]]) -> Iterable[Labels]:
    """A point that an axis does not touch stands at each of the labels that others of its block have."""
    found = ((label(point, axis),) if label(point, axis) else there.get(axis) or (None,) for axis in axes)
    return product(*found)


def _labels(axis: str, points: Iterable[Point], known: ReportPoints) -> list[str]:
    found = {label(point, axis) for point in points}
    return [at for at in known.ordered(axis) if at in found]


def _sorted(keys: Iterable[Labels], axes: Sequence[str], known: ReportPoints) -> list[Labels]:
    ranks = [{at: index for index, at in enumerate(known.ordered(axis))} for axis in axes]
    return sorted(keys, key=lambda key: [rank.get(at or "", -1) for rank, at in zip(ranks, key, strict=True)])


def _shown(labels: Labels, form: Arrangement) -> tuple[str, ...]:
    return tuple(form.called.get(at, at) if at else "" for at in labels)


def _heads(labels: Labels, form: Arrangement) -> tuple[str, ...]:
    """Above a column; a bare number says what it is of."""
    known = zip(form.columns, labels, _shown(labels, form), strict=True)
    return tuple(f"{axis}={at}" if at == label and at.isdigit() else at for axis, label, at in known)


def _step(points: Iterable[Point], form: Arrangement, known: ReportPoints) -> str:
    """Of the several of an experiment the one that all figures of a table are of, where nothing else in it says so."""
    (step, *others) = {point.step for point in points}
    is_named = STEP in (*form.by, *form.rows, *form.columns) or step in form.title.split()
    return "" if others or is_named or len(known.steps) < 2 else form.called.get(step, step)


def words(labels: Sequence[str | None], axes: Sequence[str], form: Arrangement) -> str:
    """readww, cache=lru"""
    known = [(axis, form.called.get(at, at)) for axis, at in zip(axes, labels, strict=True) if at]
    return ", ".join(at if axis in OWN else f"{form.called.get(axis, axis)}={at}" for axis, at in known)
