"""Comparisons made and judged: who is compared with whom, ratios with intervals, verdicts, and pooled ratios."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress, product
from statistics import fmean
from typing import NamedTuple, TypeVar

from msgspec import Struct

from stepgrid.model import units
from stepgrid.model.metrics import QPS
from stepgrid.model.plan import ALPHA, PlannedAxis
from stepgrid.model.records import replace
from stepgrid.model.status import Status
from stepgrid.model.table import ABSENT, SAME, group
from stepgrid.model.units import counted
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.builds import AS_SHIPPED, NO_VERDICT
from stepgrid.summarize.comparisons.comparison import (
    BASE,
    NO_BASE,
    RATIO,
    ArmEntry,
    ComparedMetric,
    ComparedPoint,
    Comparison,
    PooledRatio,
    RatioIntervals,
)
from stepgrid.summarize.comparisons.comparison_axes import ComparisonLayout, Labels, StepPoints
from stepgrid.summarize.comparisons.conditions import OWN_RATES
from stepgrid.summarize.comparisons.noise_floor import NoiseFloors
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Series
from stepgrid.summarize.statistics import confidence_intervals, verdicts
from stepgrid.summarize.statistics.confidence_intervals import (
    Interval,
    LogRatios,
    chance,
    holm_limit,
    relative,
    series_interval,
)

INSIDE = "within the noise floor"
OF_THE_BASE = "of the base: "
BESIDE = {  # what is judged beside a metric that a busy host leaves undecided, and its name in a sentence
    "cpu_us_per_op": "CPU per operation",
    "server_cpu_us_per_op": "server CPU per operation",
    "log_bytes_per_op": "log bytes per operation",
    "cache_misses_per_op": "cache misses per operation",
    "rows_read_per_op": "rows read per operation",
    "write_amplification": "write amplification",
    "perf_user_instructions": "instructions",
}
COSTS = {  # what the same work costs, by its name in a sentence; the first of its metrics that is measured counts
    "CPU per operation": ("server_cpu_us_per_op", "cpu_us_per_op"),
    "bytes written per operation": ("write_kb_per_op",),
    "memory": ("server_rss_bytes", "process_rss_bytes"),
}
TAILS = {"p99_us": "p99", "read_p99_us": "read p99", "write_p99_us": "write p99", "seek_p99_us": "seek p99"}
FEWEST_ZEROS = 3  # loads of each side: by chance alone three of six lie first once in 20 times
Reason = Callable[[Point, Point], str | None]
Marked = TypeVar("Marked", ArmEntry, PooledRatio)


class RatioEvidence(Struct, frozen=True):
    """Facts about two points beside their figures."""

    series: Series
    effect: float
    noise: NoiseFloors = NoiseFloors()  # frozen, and empty
    refusal: Reason = lambda *_: None  # why they get no verdict
    disturbance: Callable[[str, Sequence[Point]], str] = lambda *_: ""  # of a metric: why others' load decides nothing
    shipped: Reason = lambda *_: None  # what their builds differ in, where they get one all the same
    marks: Callable[[Point, Point, bool], Sequence[str]] = lambda *_: ()  # conditions that were not alike

    def floor(self, point: Point, base: Point, axes: Sequence[PlannedAxis], metric: str = QPS) -> float | None:
        """Return the noise floor of two points, by the axes in which they differ."""
        differing = [axis for axis in axes if point.labels.get(axis.name) != base.labels.get(axis.name)]
        return self.noise.floor(point, base, _share_loads(differing), metric)

    def refuse(self, point: Point, base: Point, metric: str) -> str | None:
        """Say why a metric of two points gets no verdict: the points as a whole, or a rate that it follows."""
        return self.refusal(point, base) or (OWN_RATES if point.is_asked_for_share(metric) else None)

    def caveat(self, point: Point, base: Point) -> str | None:
        """Say for tables and claims why two points get no verdict, or get one as shipped."""
        if refusal := self.refusal(point, base):
            return f"{NO_VERDICT}: {refusal}"
        difference = self.shipped(point, base)
        return f"{AS_SHIPPED}: {difference}" if difference else None


def _share_loads(axes: Iterable[PlannedAxis]) -> bool:
    """Tell whether arms that differ in these axes start from one and the same database."""
    return all(axis.steps is not None for axis in axes)


# Who is compared with whom


def compare(
    sections: Sequence[StepPoints], base: Mapping[str, str], able: str | None, metric: ComparedMetric
) -> list[Comparison]:
    """Make a comparison for each axis of the base, without ratios.

    `able`: the build that others are compared with by default."""
    groups = group(
        (tuple(layout.base.items()), (section, layout))
        for section in sections
        for layout in comparison_axes.layouts(section, base, able)
    )
    comparisons = [_comparison(members, metric) for members in groups.values()]
    comparing = [comparison for comparison in comparisons if comparison.rows]
    positions = {name: number for number, name in enumerate(base)}
    return sorted(comparing, key=lambda comparison: positions.get(comparison.layout.across[0], len(positions)))


def _comparison(members: Sequence[tuple[StepPoints, ComparisonLayout]], metric: ComparedMetric) -> Comparison:
    _, first = members[0]
    down = tuple(dict.fromkeys(name for _, layout in members for name in layout.down))
    steps = [(section, layout, _step_rows(section, layout, metric)) for section, layout in members]
    arms = tuple(dict.fromkeys(arm for section, layout, _ in steps for arm in comparison_axes.columns(layout, section)))
    rows = []
    for section, layout, step_rows in steps:
        columns = comparison_axes.columns(layout, section)
        for labels, entries in step_rows:
            at = dict(zip(layout.down, labels, strict=True))
            by_arm = dict(zip(columns, entries, strict=True))
            row_entries = tuple(by_arm.get(arm, ArmEntry(ABSENT)) for arm in arms)
            rows.append(ComparedPoint(section.step, tuple(at.get(name) for name in down), row_entries))
    comparing = [row for row in rows if _compares(row)]
    is_used = [
        not number or any(row.entries[number].kind != ABSENT for row in comparing) for number in range(len(arms))
    ]
    cut = tuple(replace(row, entries=tuple(compress(row.entries, is_used))) for row in comparing)
    layout = ComparisonLayout(first.base, first.across, down)
    return Comparison(metric, layout, tuple(compress(arms, is_used)), cut)


def _compares(row: ComparedPoint) -> bool:
    """Tell whether a row compares something, or would, had it not failed; the rest has absolute figures alone."""
    base, *arms = row.entries
    lacks_base = base.kind not in (BASE, ABSENT) and any(entry.kind == NO_BASE for entry in arms)
    return lacks_base or any(entry.kind not in (ABSENT, NO_BASE) for entry in arms)


def _step_rows(
    section: StepPoints, layout: ComparisonLayout, metric: ComparedMetric
) -> list[tuple[Labels, list[ArmEntry]]]:
    """Make the rows of a step; none where it lies before the axes that are compared."""
    points = {
        (comparison_axes.key(point, layout.down), comparison_axes.key(point, layout.across)): point
        for point in section.points
    }
    arms = comparison_axes.columns(layout, section)
    rows = []
    for labels in comparison_axes.present_labels(layout.down, section):
        row = [points.get((labels, arm)) for arm in arms]
        rows.append((labels, [_entry(point, row[0], number == 0, metric.name) for number, point in enumerate(row)]))
    if not any(entry.kind not in (SAME, ABSENT) for _, entries in rows for entry in entries[1:]):
        return []
    return _mark_same(rows, arms, layout)


def _entry(point: Point | None, base: Point | None, is_base: bool, metric: str) -> ArmEntry:
    if point is None:
        return ArmEntry(ABSENT)
    if point.status != Status.DONE or not point.values(metric):
        return ArmEntry(ABSENT if point.status == Status.DONE else point.status, point)
    if is_base:
        return ArmEntry(BASE, point)
    if base is not None and point.places == base.places:
        return ArmEntry(SAME, point)
    return ArmEntry(RATIO if base is not None and base.values(metric) else NO_BASE, point)


def _mark_same(
    rows: Sequence[tuple[Labels, list[ArmEntry]]], arms: Sequence[Labels], layout: ComparisonLayout
) -> list[tuple[Labels, list[ArmEntry]]]:
    """Count and judge runs that stand at several places once: elsewhere the entry names the first place."""
    first: dict[tuple[object, object], tuple[int, int]] = {}
    for number, (_, entries) in enumerate(rows):
        base = entries[0].point
        for column, entry in enumerate(entries):
            if entry.kind != RATIO or not entry.point or not base:
                continue
            owner = first.setdefault((entry.point.places, base.places), (number, column))
            if owner != (number, column):
                row_name = comparison_axes.words(rows[owner[0]][0], layout.down) if owner[0] != number else ""
                arm_name = comparison_axes.words(arms[owner[1]], layout.across) if owner[1] != column else ""
                entries[column] = replace(entry, kind=SAME, same=", ".join(filter(None, (row_name, arm_name))))
    return list(rows)


# Ratios, intervals and verdicts


def judge(
    comparisons: Sequence[Comparison], evidence: RatioEvidence, axes: Sequence[PlannedAxis], intervals: RatioIntervals
) -> list[Comparison]:
    judged = []
    for comparison in comparisons:
        shares_loads = _share_loads(axis for axis in axes if axis.name in comparison.layout.across)
        rows = []
        for row in comparison.rows:
            base, cells = row.entries[0].point, list(row.entries)
            for column, entry in enumerate(row.entries):
                if entry.kind == RATIO and entry.point and base:
                    if pair := intervals.pair(comparison.metric.name, entry.point, base):
                        doubts = tuple(odd.text for odd in pair.outliers)
                        interval = pair.interval
                        if interval and 2 * len(pair.outliers) > interval.loads:  # where most are, none is an outlier
                            ends = " to ".join(f"{units.ratio(end(interval.ratios))}x" for end in (min, max))
                            pair, doubts = pair._replace(outliers=()), (f"its loads lie far apart ({ends})",)
                        entry = replace(entry, **pair._asdict(), doubts=doubts)
                    cells[column] = _judge_entry(entry, base, comparison.metric, evidence, shares_loads)
            rows.append(replace(row, entries=tuple(cells)))
        judged.append(replace(comparison, rows=tuple(rows)))
    return judged


def idleness(point: Point, base: Point, metric: str = QPS) -> str:
    """Say how many loads have a figure of 0 or below it, which has no ratio; empty where none has."""
    return _both(_idle(point, metric), _idle(base, metric))


def _idle(point: Point, metric: str) -> str:
    if metric == QPS:
        return point.idleness
    loads = point.values(metric).values()
    for words, is_met in (("below 0", lambda value: value < 0), ("0", lambda value: value == 0)):
        if count := sum(any(map(is_met, runs)) for runs in loads):
            return f"{metric} is {words} in {count} of {counted(len(loads), 'load')}"
    return ""


def _zero_verdict(point: Point, base: Point, metric: ComparedMetric) -> str:
    """Return the verdict where a side has 0 in all loads and the other in none: so far apart is no ratio."""
    sides = [[value for runs in side.values(metric.name).values() for value in runs] for side in (point, base)]
    if min(point.loads[0], base.loads[0]) < FEWEST_ZEROS or min(map(min, sides)) < 0:
        return verdicts.UNDECIDED
    highest, lowest = [max(side) for side in sides], [min(side) for side in sides]
    if highest == [0, 0]:
        return verdicts.SAME
    word_above, word_below = metric.verdicts
    if highest[0] == 0 and lowest[1] > 0:
        return word_below
    return word_above if highest[1] == 0 and lowest[0] > 0 else verdicts.UNDECIDED


def _unpaired(point: Point, base: Point, metric: ComparedMetric) -> str:
    """Write the figures of the loads that both have, which divide to the ratio; empty where these are all."""
    loads = set(point.values(metric.name)), set(base.values(metric.name))
    common = loads[0] & loads[1]
    if loads[0] == loads[1] or not common or idleness(point, base, metric.name):
        return ""
    spreads = (side.of_loads(common.__contains__).spread(metric.name) for side in (point, base))
    arm_text, base_text = (units.short_figure(spread[0], metric.unit) for spread in spreads if spread)
    return f"in the {counted(len(common), 'load')} that both have {arm_text}, {base_text} of the base"


def _both(arm: str, base: str) -> str:
    return "; ".join(filter(None, (arm, f"{OF_THE_BASE}{base}" if base else "")))


def _judge_entry(
    entry: ArmEntry, base: Point, metric: ComparedMetric, evidence: RatioEvidence, shares_loads: bool
) -> ArmEntry:
    """Add the verdict, or why there is none, and what to know of this ratio."""
    point = entry.point
    assert point is not None
    losses, unpaired = _both(point.losses, base.losses), _unpaired(point, base, metric)
    doubts = (*filter(None, (losses, unpaired)), *evidence.marks(point, base, shares_loads))
    if idle := idleness(point, base, metric.name):
        refusal = evidence.refuse(point, base, metric.name)
        word = verdicts.BUSY if evidence.disturbance(metric.name, (point, base)) else _zero_verdict(point, base, metric)
        entry = replace(entry, idle=idle, losses=losses, doubts=(idle, *doubts), refusal=refusal)
        return entry if refusal else replace(entry, verdict=word)
    if entry.ratio is None:
        return replace(entry, kind=NO_BASE, losses=losses)
    refusal = evidence.refuse(point, base, metric.name)
    entry = replace(
        entry,
        losses=losses,
        unpaired=unpaired,
        doubts=(*doubts, *entry.doubts),
        floor=evidence.noise.floor(point, base, shares_loads, metric.name),
        refusal=refusal,
        as_shipped=None if refusal else evidence.shipped(point, base),
    )
    if entry.interval is None:
        return _judge_one_load(entry, base, metric, evidence)
    if entry.refusal:
        return entry
    if busy := evidence.disturbance(metric.name, (point, base)):
        return replace(entry, verdict=verdicts.BUSY, doubts=(*entry.doubts, busy))
    word = verdict_of(entry.interval, evidence.effect, metric)
    if word not in (verdicts.SAME, verdicts.UNDECIDED) and is_within(entry.floor, entry.interval.ratio):
        return replace(entry, verdict=verdicts.UNDECIDED, doubts=(*entry.doubts, INSIDE))
    return replace(entry, verdict=word)


def verdict_of(interval: Interval, effect: float, metric: ComparedMetric) -> str:
    return metric.word(verdicts.verdict(interval.low, interval.high, effect))


def is_within(floor: float | None, ratio: float) -> bool:
    """Tell whether a ratio is no farther from 1 than equal arms came out."""
    return floor is not None and abs(math.log(ratio)) <= math.log1p(floor)


def _judge_one_load(entry: ArmEntry, base: Point, metric: ComparedMetric, evidence: RatioEvidence) -> ArmEntry:
    """Put the interval of its series around the ratio of a single load, which gets no verdict."""
    point, no_verdict = entry.point, None if entry.refusal else verdicts.ONE_LOAD
    assert point is not None
    if metric.name != QPS:
        return replace(entry, verdict=no_verdict)
    loads = point.values().keys() & base.values().keys()
    arm, against = (
        relative([qps for run in side.runs if run.load in loads for _, qps in evidence.series.get(run.place, ())])
        for side in (point, base)
    )
    interval = series_interval(arm, against)
    if interval is None or entry.ratio is None:
        return replace(entry, verdict=no_verdict)
    moved = confidence_intervals.moved(interval, entry.ratio)
    word = verdicts.verdict(moved.low, moved.high, evidence.effect)
    if word in verdicts.DIFFERENCES and not entry.refusal and not is_within(entry.floor, entry.ratio):
        return replace(entry, interval=moved, verdict=verdicts.INDICATIVE)
    return replace(entry, interval=moved, verdict=no_verdict)


def mark_perhaps(comparisons: Sequence[Comparison], effect: float, alpha: float = ALPHA) -> tuple[Comparison, ...]:
    """Mark the differences that do not hold among all of their metric: a headline is the strongest of many.

    Holm's procedure; intervals and verdicts stay those of their tables. A report of one table needs none.
    """
    chances: dict[str, list[float]] = {}
    for comparison in comparisons:
        chances.setdefault(comparison.metric.name, []).extend(_chances(comparison, effect))
    tables = Counter(name for name, _ in {(c.metric.name, (id(c), row.step)) for c in comparisons for row in c.rows})
    limits = {name: holm_limit(values, alpha) if tables[name] > 1 else 1.0 for name, values in chances.items()}

    def mark(source: Marked, limit: float) -> Marked:
        value = chance(source.interval, effect) if source.interval and source.verdict in verdicts.DIFFERENCES else None
        return replace(source, perhaps=value is not None and value > limit)

    return tuple(
        replace(
            comparison,
            rows=tuple(
                replace(row, entries=tuple(mark(entry, limits[comparison.metric.name]) for entry in row.entries))
                for row in comparison.rows
            ),
            pooled=tuple(mark(pooled, limits[comparison.metric.name]) for pooled in comparison.pooled),
        )
        for comparison in comparisons
    )


def _chances(comparison: Comparison, effect: float) -> Iterator[float]:
    """Yield those of all ratios that an answer chooses from."""
    entries = [entry for row in comparison.rows for entry in row.entries if not entry.refusal]
    sources: list[ArmEntry | PooledRatio] = [*entries, *comparison.pooled]
    for source in sources:
        if source.interval and source.verdict in verdicts.VERDICTS:
            value = chance(source.interval, effect)
            yield from () if value is None else (value,)


# Pooled ratios


def pool(
    comparison: Comparison, sections: Sequence[StepPoints], evidence: RatioEvidence, alpha: float = ALPHA
) -> Comparison:
    """Add one ratio for each value of a compared axis: the geometric mean over the points of a step."""
    pairs = product(sections, comparison.layout.across)
    pooled = (ratio for section, axis in pairs for ratio in _pool_axis(comparison, section, axis, evidence, alpha))
    return replace(comparison, pooled=tuple(pooled))


class _Pool(NamedTuple):
    """Pairs of points that differ in one axis alone, and the mean of their log ratios for each load."""

    label: str
    pairs: Mapping[str, tuple[Point, Point]]  # by the name of the point
    ratios: Mapping[str, float]
    sample: LogRatios


def _pool_axis(
    comparison: Comparison, section: StepPoints, axis: str, evidence: RatioEvidence, alpha: float
) -> Iterator[PooledRatio]:
    base_label, metric = comparison.layout.base[axis], comparison.metric
    pools = list(_pools(section, axis, base_label, metric.name, evidence))
    intervals = confidence_intervals.intervals([pool.sample for pool in pools], alpha)
    shares_loads = _share_loads(member for member in section.axes if member.name == axis)
    intervals_by_pair = {(case.point.places, case.base.places): case.entry.interval for case in comparison.cases()}
    for pool, interval in zip(pools, intervals, strict=True):
        ratio = confidence_intervals.ratio(pool.sample)
        if ratio is None:
            continue
        word = verdict_of(interval, evidence.effect, metric) if interval else verdicts.ONE_LOAD
        floors = [evidence.noise.floor(*pair, shares_loads, metric.name) for pair in pool.pairs.values()]
        if interval and word not in (verdicts.SAME, verdicts.UNDECIDED) and is_within(_pooled_floor(floors), ratio):
            word = verdicts.UNDECIDED
        disturbed = sum(bool(evidence.disturbance(metric.name, pair)) for pair in pool.pairs.values())
        if interval and 2 * disturbed >= len(pool.pairs):
            word = verdicts.BUSY
        yield PooledRatio(
            step=section.step,
            axis=axis,
            label=pool.label,
            base=base_label,
            ratio=ratio,
            interval=interval,
            verdict=word,
            points=len(pool.ratios),
            lowest=min(pool.ratios.values()),
            highest=max(pool.ratios.values()),
            dissenting=tuple(
                name
                for name, other in pool.ratios.items()
                if (other < 1 / (1 + evidence.effect) if ratio > 1 else other > 1 + evidence.effect)
            ),
            as_shipped=next(filter(None, (evidence.shipped(*pair) for pair in pool.pairs.values())), None),
            agrees=all(
                of_pair.low <= ratio <= of_pair.high
                for point, base in pool.pairs.values()
                if (of_pair := intervals_by_pair.get((point.places, base.places)))
            ),
        )


def _pooled_floor(floors: Sequence[float | None]) -> float | None:
    """Return the floor of a mean over points; none where a point has none."""
    logs = [math.log1p(floor) for floor in floors if floor is not None]
    return math.expm1(fmean(logs) / math.sqrt(len(logs))) if len(logs) == len(floors) else None


def _pools(section: StepPoints, axis: str, base_label: str, metric: str, evidence: RatioEvidence) -> Iterator[_Pool]:
    """Leave out refused pairs, those without a ratio, and labels with a single pair."""
    names = [name for name in section.names if name != axis]
    rows: dict[Labels, dict[str | None, Point]] = {}
    for point in section.points:
        rows.setdefault(comparison_axes.key(point, names), {})[point.labels.get(axis)] = point
    labels = next((member.labels for member in section.axes if member.name == axis), ())
    for label in (label for label in labels if label != base_label):
        pairs = {
            comparison_axes.words(row_labels, names): (points[label], points[base_label])
            for row_labels, points in rows.items()
            if label in points and base_label in points
            and _is_poolable(points[label], points[base_label], metric, evidence)
        }  # fmt: skip
        if len(pairs) < 2:
            continue
        samples = {
            name: confidence_intervals.sample(point.values(metric), base.values(metric))
            for name, (point, base) in pairs.items()
        }
        logs = [dict(zip(sample.loads, sample.logs, strict=True)) for sample in samples.values()]
        loads = sorted(set.intersection(*map(set, logs)))
        means = tuple(fmean(by_load[load] for by_load in logs) for load in loads)
        ratios = {name: ratio for name, sample in samples.items() if (ratio := confidence_intervals.ratio(sample))}
        yield _Pool(label, pairs, ratios, LogRatios(means, None, tuple(loads)))


def _is_poolable(point: Point, base: Point, metric: str, evidence: RatioEvidence) -> bool:
    if point.places == base.places or not point.values(metric).keys() & base.values(metric).keys():
        return False
    return not idleness(point, base, metric) and not evidence.refuse(point, base, metric)
