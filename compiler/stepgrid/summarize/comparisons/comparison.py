"""Comparisons of a report: each arm against its base, at each point of the grid; any ratio; tables to paste."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from stepgrid.model import units
from stepgrid.model.metrics import QPS, VARIATION
from stepgrid.model.plan import ALPHA
from stepgrid.model.status import Status
from stepgrid.model.table import ABSENT, NOTHING, SAME, Basis, Cell, Column, Table, group
from stepgrid.plugins.layout import MARK
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.builds import AS_SHIPPED, NO_VERDICT
from stepgrid.summarize.comparisons.comparison_axes import ComparisonLayout, Labels
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Place
from stepgrid.summarize.statistics import confidence_intervals, verdicts
from stepgrid.summarize.statistics.confidence_intervals import Interval, Outlier, outliers

BASE, RATIO, NO_BASE = "base", "ratio", "no base"
BOUNDS = {"": "", "at least ": "≥", "at most ": "≤"}  # what stands before a ratio of which one end is open
TIMES = frozenset({"s", "ms", "us", "ns"})


class ComparedMetric(Struct, frozen=True):
    name: str = QPS
    unit: str = "operations/s"
    better: str | None = "higher"

    @property
    def title(self) -> str:
        return "QPS" if self.name == QPS else self.name

    @property
    def noun(self) -> str:
        """Name it in a sentence: QPS, p99_us, and one of a spec's own with its unit: merged rows/ms."""
        is_clear = self.name == QPS or "_" in self.name or self.unit in ("", "1", "%", "B")
        return self.title if is_clear else f"{self.name} {self.unit}"

    @property
    def heading(self) -> str:
        """Name it with its unit, which QPS is itself, and which the name of p99_us ends with."""
        has_unit = self.name == QPS or self.unit in ("", "1") or self.name.endswith(f"_{self.unit}")
        return self.title if has_unit else f"{self.name}, {self.unit}"

    @property
    def verdicts(self) -> tuple[str, str]:
        """Return the words for a ratio above 1 and below it."""
        if self.name == VARIATION:
            return verdicts.LESS_EVEN, verdicts.MORE_EVEN
        if self.better is None:
            return verdicts.MORE, verdicts.LESS
        is_rate, is_time = self.unit.endswith("/s") or not self.unit, self.unit in TIMES
        if self.better == "higher":
            return (verdicts.FASTER, verdicts.SLOWER) if is_rate else (verdicts.BETTER, verdicts.WORSE)
        return (verdicts.SLOWER, verdicts.FASTER) if is_time else (verdicts.WORSE, verdicts.BETTER)

    def word(self, verdict: str) -> str:
        """Name a verdict of an interval as it is for this metric: more time is slower."""
        word_above, word_below = self.verdicts
        return {verdicts.FASTER: word_above, verdicts.SLOWER: word_below}.get(verdict, verdict)


def ratio_text(ratio: float | None, interval: Interval | None, sign: str = "") -> str:
    """Write 1.12 [1.08, 1.16], or with a sign 1.12× [1.08, 1.16]."""
    if ratio is None or interval is None:
        return "" if ratio is None else f"{units.ratio(ratio)}{sign}"
    return f"{interval.bound}{units.ratio_with_interval(ratio, interval.low, interval.high, sign)}"


class Conclusion(Struct, frozen=True):
    """What a person made of a difference, and where it is noted."""

    kind: str
    text: str
    where: str = ""

    @property
    def sentence(self) -> str:
        return f"{self.kind}: {self.text}{f' ({self.where})' if self.where else ''}"


ACCEPTED, NOISE, BUG = CONCLUSIONS = ("accepted", "noise", "bug")  # a gate lets the first pass


class ArmEntry(Struct, frozen=True):
    """An arm at a point; `kind` is BASE, RATIO, NO_BASE, SAME or ABSENT, or the status of a point that is not done."""

    kind: str
    point: Point | None = None
    interval: Interval | None = None
    ratio: float | None = None
    verdict: str | None = None
    refusal: str | None = None  # why there is no verdict: other host, assertions on one side
    as_shipped: str | None = None  # the builds' differences, where they are compared all the same
    same: str | None = None  # the arm, other than the base, whose runs these are
    floor: float | None = None  # equal arms of this experiment stay within it 19 times in 20: 0.013 is 1.3 %
    losses: str = ""  # 2 of 5 loads; 3 failed: its figures are of survivors
    doubts: tuple[str, ...] = ()  # conditions of this very ratio: measured far apart, a load far off, …
    outliers: tuple[Outlier, ...] = ()  # loads whose ratio is far from the others'
    unpaired: str = ""  # figures of the loads that both sides have: their ratio is not that of all their figures
    idle: str | None = None  # loads with a figure of 0 or below it, which has no ratio
    perhaps: bool = False  # a difference in its table, but not among all comparisons of the report
    conclusion: Conclusion | None = None

    @property
    def distance(self) -> float:
        """Return how many times the ratio is away from 1, either way; 0 where there is none."""
        return max(self.ratio, 1 / self.ratio) if self.ratio else 0.0

    @property
    def is_difference(self) -> bool:
        return self.verdict in verdicts.DIFFERENCES

    @property
    def marks(self) -> tuple[str, str]:
        """Return what stands before and after its ratio in a short table."""
        bound = BOUNDS[self.interval.bound] if self.interval else ""
        mark = MARK if self.refusal else verdicts.MARKS.get(self.verdict or "", "")
        return f"{mark}{bound}", DOUBT if self.is_doubted else ""

    @property
    def is_doubted(self) -> bool:
        """Tell whether a sentence stands by this ratio; that the host was busy is its verdict."""
        return bool(self.doubts) and self.verdict != verdicts.BUSY

    @property
    def text(self) -> str:
        """Write the ratio with its interval and verdict: 0.07× [0.06, 0.08] slower."""
        if self.kind != RATIO or self.ratio is None:
            return f"{self.idle}, {self.verdict}" if self.is_difference else ""
        ratio = ratio_text(self.ratio, self.interval, units.TIMES)
        words = f"{ratio} {self.verdict}" if self.verdict in verdicts.VERDICTS else ratio
        return ": ".join(filter(None, (words, "; ".join(self.doubts))))


class ComparedPoint(Struct, frozen=True):
    """A point: a step, and the labels of the axes that go down."""

    step: str
    labels: Labels
    entries: tuple[ArmEntry, ...]  # the base's first, then one for each arm


class Case(NamedTuple):
    """A ratio of a comparison."""

    row: ComparedPoint
    arm: Labels
    entry: ArmEntry
    point: Point
    base: Point


class PooledRatio(Struct, frozen=True):
    """Geometric mean of the ratios of one value of an axis to its base, over all points of a step."""

    step: str
    axis: str
    label: str
    base: str
    ratio: float
    interval: Interval | None
    verdict: str | None
    points: int
    lowest: float  # of the points
    highest: float
    dissenting: tuple[str, ...] = ()  # points on the other side of 1 by more than the smallest effect
    as_shipped: str | None = None
    perhaps: bool = False
    agrees: bool = True  # the interval of each point holds it: elsewhere it is nobody's

    @property
    def name(self) -> str:
        return comparison_axes.words((self.label,), (self.axis,))


class Comparison(Struct, frozen=True):
    """All points of a report against one base, by one metric."""

    metric: ComparedMetric
    layout: ComparisonLayout  # the axes across name the arms, those down the points
    arms: tuple[Labels, ...]  # the base's first
    rows: tuple[ComparedPoint, ...]
    pooled: tuple[PooledRatio, ...] = ()

    @property
    def base(self) -> str:
        return comparison_axes.words(self.arms[0], self.layout.across)

    @property
    def arm_names(self) -> list[str]:
        """Name the arms, without the base."""
        return [self.arm_name(labels) for labels in self.arms[1:]]

    @property
    def steps(self) -> list[str]:
        return list(dict.fromkeys(row.step for row in self.rows))

    def arm_name(self, arm: Labels) -> str:
        return comparison_axes.words(arm, self.layout.across) or "-"

    def point_name(self, row: ComparedPoint) -> str:
        """Name a point without its step: `threads=2`; empty where the step has one."""
        return comparison_axes.words(row.labels, self.layout.down)

    def where(self, row: ComparedPoint) -> str:
        """Name a point: `readww, threads=2`."""
        return ", ".join(filter(None, (row.step, self.point_name(row))))

    def cases(self) -> Iterator[Case]:
        """List what has a base to be compared with, row by row."""
        for row in self.rows:
            base = row.entries[0].point
            for arm, entry in zip(self.arms, row.entries, strict=True):
                if entry.kind == RATIO and entry.point and base:
                    yield Case(row, arm, entry, entry.point, base)

    def worst_first(self) -> list[ComparedPoint]:
        """Sort the rows by the worst ratio of each, those without one last."""
        sign = -1 if self.metric.better == "lower" else 1

        def rank(row: ComparedPoint) -> float:
            ratios = [entry.ratio for entry in row.entries if entry.kind == RATIO and entry.ratio]
            is_zero = any(entry.verdict in (*verdicts.BAD, verdicts.LESS) and not entry.ratio for entry in row.entries)
            return -math.inf if is_zero else min((sign * math.log(ratio) for ratio in ratios), default=math.inf)

        return sorted(self.rows, key=rank)

    def pooled_of(self, step: str) -> Sequence[PooledRatio]:
        return [pooled for pooled in self.pooled if pooled.step == step]


# Ratio of any two points and its interval: one, wherever the ratio stands (comparisons, tables, claims).
# Two points that a comparison has belong to the family of their step and base, whatever the metric. Others belong to
# the family of the table that shows them first.

At = tuple[int, int]
Pair = tuple[Point, Point]
Places = tuple[tuple[Place, ...], tuple[Place, ...]]


class PairRatio(NamedTuple):
    ratio: float | None
    interval: Interval | None  # of two loads or more
    outliers: tuple[Outlier, ...]


class RatioIntervals(Struct, frozen=True):
    _families: Sequence[Sequence[Pair]] = ()  # pairs of each step and base
    alpha: float = ALPHA
    _ratios: dict[str, dict[Places, PairRatio]] = {}  # by metric

    def of_loads(self, is_included: Callable[[int], bool]) -> RatioIntervals:
        """Return the intervals as if no other loads had been measured."""
        families = [
            [(point.of_loads(is_included), base.of_loads(is_included)) for point, base in family]
            for family in self._families
        ]
        measured = [[pair for pair in family if all(point.runs for point in pair)] for family in families]
        return RatioIntervals(measured, self.alpha)

    def pair(self, metric: str, point: Point, base: Point) -> PairRatio | None:
        return self._of_metric(metric).get(_pair_key((point, base)))

    def interval(self, metric: str, point: Point, base: Point) -> Interval | None:
        """Look up two points, either way round."""
        reverse = self.pair(metric, base, point)
        if reverse and reverse.interval:
            return confidence_intervals.inverse(reverse.interval)
        pair = self.pair(metric, point, base)
        return pair and pair.interval

    def margins(self, pairs: Mapping[At, Pair], metric: str) -> dict[At, float]:
        """Return the longer side of each interval of a table; a single load, or a run against itself, has none."""
        keys = {at: _pair_key(pair) for at, pair in pairs.items() if _is_usable(pair, metric)}
        if not keys:
            return {}
        ratios = self._of_metric(metric)
        ratios |= _pair_ratios([[pairs[at] for at, key in keys.items() if key not in ratios]], metric, self.alpha)
        intervals = {at: interval for at, key in keys.items() if (interval := ratios[key].interval)}
        return {at: max(sided.high - sided.ratio, sided.ratio - sided.low) for at, sided in intervals.items()}

    def _of_metric(self, metric: str) -> dict[Places, PairRatio]:
        if metric not in self._ratios:
            self._ratios[metric] = _pair_ratios(self._families, metric, self.alpha)
        return self._ratios[metric]


def ratio_intervals(comparisons: Iterable[Comparison], alpha: float = ALPHA) -> RatioIntervals:
    families: dict[object, dict[Places, Pair]] = {}
    for comparison in comparisons:
        for case in comparison.cases():
            pair, family = (case.point, case.base), (tuple(comparison.layout.base.items()), case.row.step)
            families.setdefault(family, {})[_pair_key(pair)] = pair
    return RatioIntervals([list(family.values()) for family in families.values()], alpha)


def _pair_ratios(families: Sequence[Sequence[Pair]], metric: str, alpha: float) -> dict[Places, PairRatio]:
    """Work all out at once: intervals of a family hold together, and all help each other to know the noise."""
    usable = [{_pair_key(pair): pair for pair in family if _is_usable(pair, metric)} for family in families]
    samples = [
        [
            confidence_intervals.sample(point.values(metric), base.values(metric), base.places)
            for point, base in family.values()
        ]
        for family in usable
    ]
    ratios: dict[Places, PairRatio] = {}
    tables = zip(usable, samples, confidence_intervals.table_intervals(samples, alpha), strict=True)
    for family, members, intervals in tables:
        for key, member, interval, odd in zip(family, members, intervals, outliers(members), strict=True):
            interval = interval and _add_bracket(interval, family[key], metric)
            ratio = interval.ratio if interval and any(interval.bracket) else confidence_intervals.ratio(member)
            ratios.setdefault(key, PairRatio(ratio, interval, odd))
    return ratios


def _add_bracket(interval: Interval, pair: Pair, metric: str) -> Interval:
    """Let the loads that both have lie anywhere between what held and what failed."""
    common = set.intersection(*(set(side.values(metric)) for side in pair))
    arm, base = (side.of_loads(common.__contains__).bracket(metric) for side in pair)
    if not arm or not base:
        return interval
    return confidence_intervals.add_bracket(interval, arm[0] / base[1], units.quotient(arm[1], base[0]))


def _pair_key(pair: Pair) -> Places:
    return pair[0].places, pair[1].places


def _is_usable(pair: Pair, metric: str) -> bool:
    """Tell whether two points are apart and have logarithms: the ratio of other figures is their quotient."""
    return pair[0].places != pair[1].places and all(_are_positive(point.values(metric)) for point in pair)


def ratio(point: Point, base: Point, metric: str) -> float | None:
    """Return the ratio; without logarithms the quotient of both figures: 0 / 0 is 1, anything else / 0 infinite."""
    values, base_values = point.values(metric), base.values(metric)
    if not values or not base_values:
        return None
    if _are_positive(values) and _are_positive(base_values):
        return confidence_intervals.ratio(confidence_intervals.sample(values, base_values))
    return units.quotient(*(units.mean(side.means(metric)) for side in (point, base)))


def _are_positive(values: Mapping[int, Sequence[float]]) -> bool:
    return all(value > 0 for runs in values.values() for value in runs)


# Comparisons as tables to paste: a row for each step and point, a column for each arm

FLOOR = "floor"
DOUBT = "†"  # on a ratio with conditions that stand below
MIXED = "§"  # on a ratio over points that do not agree with it
SHIPPED = "‡"  # on a verdict across builds that were not made alike
PAIRED = "ratios: geometric means over the loads, each load to the same load of the base"
MOST_PLACES = 3  # that have the same doubt


def comparison_table(comparison: Comparison, is_first: bool = True) -> Table:
    """Make the table; its column of the floor is there where the experiment has one."""
    has_floors = any(_floor(row) is not None for row in comparison.rows)
    title = comparison.metric.title
    labels = [Column(name, label=True) for name in ("step", *comparison.layout.down)]
    heads = (f"{comparison.base} {title}", *([FLOOR] if has_floors else []), *comparison.arm_names)
    rows = tuple(tuple(_cells(comparison, row, has_floors)) for row in comparison.rows)
    columns = (*labels, *(Column(head, is_text=True) for head in heads))
    name = f"{comparison.metric.heading} relative to {comparison.base}"
    return Table(name, columns, rows, notes=tuple(_notes(comparison, is_first)))


def _cells(comparison: Comparison, row: ComparedPoint, has_floors: bool) -> Iterator[Cell]:
    yield from map(Cell, (row.step, *(label or "-" for label in row.labels)))
    for number, entry in enumerate(row.entries):
        yield entry_cell(entry, comparison)
        if has_floors and not number:
            floor = _floor(row)
            yield Cell("-") if floor is None else Cell(units.percent(floor), value=floor)


def _floor(row: ComparedPoint) -> float | None:
    return max((entry.floor for entry in row.entries if entry.floor is not None), default=None)


def _notes(comparison: Comparison, is_first: bool) -> Iterator[str]:
    entries = [entry for row in comparison.rows for entry in row.entries]
    if is_first and any(entry.point and entry.point.loads[0] > 1 for entry in entries):
        yield PAIRED
    refusals = dict.fromkeys(entry.refusal for entry in entries if entry.refusal)
    yield from (f"{MARK} {NO_VERDICT}: {refusal}" for refusal in refusals)
    differences = dict.fromkeys(entry.as_shipped for entry in entries if entry.as_shipped)
    yield from (f"{SHIPPED} {AS_SHIPPED}: {difference}" for difference in differences)
    yield from (f"{DOUBT} {doubt}" for doubt in doubt_texts(comparison))


def pooled_table(comparison: Comparison) -> Table | None:
    """Make the table of ratios over all points of a step, a column for each arm; None where no step has several."""
    names = list(dict.fromkeys(pooled.name for pooled in comparison.pooled))
    rows, notes = [], []
    for step in comparison.steps:
        ratios = {pooled.name: pooled for pooled in comparison.pooled_of(step)}
        if ratios:
            count = str(max(pooled.points for pooled in ratios.values()))
            cells = (_pooled_cell(ratios[name]) if name in ratios else Cell(NOTHING) for name in names)
            rows.append((Cell(step), Cell(count), *cells))
        for pooled in ratios.values():
            if pooled.dissenting:
                points = "; ".join(units.first(pooled.dissenting, MOST_PLACES))
                notes.append(f"{MIXED} {step}, {pooled.name}: on the other side of 1 at {points}")
            elif not pooled.agrees:
                ends = f"{units.times(pooled.lowest)} to {units.times(pooled.highest)}"
                notes.append(f"{MIXED} {step}, {pooled.name}: its points differ, {ends}")
    title = f"{comparison.metric.heading} relative to {comparison.base}, over all points of a step"
    heads = (Column("step", label=True), Column("points", label=True), *(Column(name, is_text=True) for name in names))
    return Table(title, heads, tuple(rows), notes=tuple(notes)) if rows else None


def _pooled_cell(pooled: PooledRatio) -> Cell:
    interval, verdict = pooled.interval, pooled.verdict or ""
    mark = "" if pooled.agrees and not pooled.dissenting else MIXED
    text = " ".join(filter(None, (ratio_text(pooled.ratio, interval), verdict, mark)))
    return Cell(text, verdict, pooled.ratio, (interval.low, interval.high) if interval else None, verdict)


def doubt_texts(comparison: Comparison) -> Iterator[str]:
    """Write one sentence for all places with the same condition: `kernel 6.1.0 / 6.18.0: readww, 1, hyper`."""
    points_by_doubt = group(
        (doubt, ", ".join(filter(None, (row.step, *row.labels, name))))
        for row in comparison.rows
        for name, entry in zip(comparison.arm_names, row.entries[1:], strict=True)
        for doubt in entry.doubts
    )
    for doubt, names in points_by_doubt.items():
        yield f"{doubt}: {'; '.join(units.first(names, MOST_PLACES))}"


def entry_cell(entry: ArmEntry, comparison: Comparison) -> Cell:
    """Write an entry for people, with what data are made of behind it."""
    content, kind = _entry_text(entry, comparison), entry.verdict or entry.kind
    if entry.kind == BASE and entry.point:
        spread = entry.point.spread(comparison.metric.name)
        return Cell(content, kind, spread[0] if spread else None)
    if entry.kind != RATIO:
        return Cell(content, kind)
    return _ratio_cell(entry, content, kind)


def _ratio_cell(source: ArmEntry | PooledRatio, content: str, kind: str = "") -> Cell:
    """Put the interval, the verdict and what recomputes the interval behind a ratio."""
    interval, verdict = source.interval, source.verdict or NO_VERDICT
    if interval is None:
        return Cell(content, kind, source.ratio, None, verdict)
    basis = None
    if interval.deviation and not any(interval.bracket):
        basis = Basis(interval.ratios, interval.deviation, interval.freedom, interval.critical)
    return Cell(content, kind, source.ratio, (interval.low, interval.high), verdict, basis)


def _entry_text(entry: ArmEntry, comparison: Comparison) -> str:
    if entry.kind == ABSENT:
        return "-"
    if entry.kind == SAME:
        return f"same as {entry.same or comparison.base}"
    if entry.kind == BASE and entry.point:
        return figure_text(entry.point, comparison.metric)
    if entry.kind == NO_BASE and entry.point:
        return f"no base; {figure_text(entry.point, comparison.metric)} {comparison.metric.title}"
    return _ratio_text(entry) if entry.kind == RATIO else entry.kind


def _ratio_text(entry: ArmEntry) -> str:
    """Write a ratio: `1.12 [1.08, 1.16] faster`."""
    is_zero = entry.ratio is None and entry.is_difference
    parts = [
        (entry.idle or "") if is_zero else ratio_text(entry.ratio, entry.interval),
        MARK if entry.refusal else entry.verdict or "",
    ]
    parts += [SHIPPED if entry.as_shipped else "", DOUBT if entry.is_doubted else ""]
    if entry.point and entry.point.loads[0] < entry.point.loads[1]:
        measured, planned = entry.point.loads
        parts.append(f"({entry.point.losses or f'{measured} of {planned} loads'})")
    return " ".join(filter(None, parts))


def figure_text(point: Point, metric: ComparedMetric, has_margin: bool = True) -> str:
    """Write 359k ± 7 %, its digits and how far its 95 % interval reaches; 269 to 500 is the bracket of a search."""
    spread = point.spread(metric.name)
    if spread is None:
        return NOTHING if point.status == Status.DONE else point.status
    if bracket := point.bracket(metric.name):
        low, high = (units.short_figure(end, metric.unit) if 0 < end < math.inf else "" for end in bracket)
        both = f"{low} to {high}" if low and high else units.UNBOUNDED
        return f"below {high}" if high and not low else f"{low} or more" if low and not high else both
    figure = units.short_figure(spread[0], metric.unit)
    interval = confidence_intervals.mean_interval(point.means(metric.name)) if has_margin else None
    return f"{figure} {units.margin(*interval)}".rstrip() if interval else figure


def ratio_table(comparisons: Sequence[Comparison]) -> Table:
    """Make a row for each ratio of each metric, and for each one over all points of a step; for programs."""
    layouts = [comparison.layout for comparison in comparisons]
    axes = list(dict.fromkeys(name for layout in layouts for name in (*layout.across, *layout.down)))
    heads = ("step", *axes, "points", "arm", "base", "metric", "better")
    columns = [*(Column(name, label=True) for name in heads), Column("ratio"), Column("as shipped", is_text=True)]
    rows = []
    for comparison in comparisons:
        layout, metric = comparison.layout, (comparison.metric.name, comparison.metric.better or "")
        for case in comparison.cases():
            labels = dict(zip((*layout.across, *layout.down), (*case.arm, *case.row.labels), strict=True))
            point = (case.row.step, *(labels.get(axis) or NOTHING for axis in axes), "1")
            names = (*point, comparison.arm_name(case.arm), comparison.base)
            rows.append(_ratio_row((*names, *metric), case.entry))
        for pooled in comparison.pooled:
            base = comparison_axes.words((pooled.base,), (pooled.axis,))
            point = (pooled.step, *(pooled.label if axis == pooled.axis else NOTHING for axis in axes))
            rows.append(_ratio_row((*point, str(pooled.points), pooled.name, base, *metric), pooled))
    return Table("ratios", tuple(columns), tuple(rows))


def _ratio_row(names: Iterable[str], source: ArmEntry | PooledRatio) -> tuple[Cell, ...]:
    text = "" if source.ratio is None else units.ratio(source.ratio)
    return (*map(Cell, names), _ratio_cell(source, text), Cell(source.as_shipped or ""))
