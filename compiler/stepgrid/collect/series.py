"""Throughput over time: how much it varies, where it stands still, and whether it becomes steady."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, pairwise
from operator import attrgetter, itemgetter
from statistics import NormalDist, fmean, median
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from stepgrid.model.figures import ClientRate
from stepgrid.model.metrics import INITIAL, SLOW, VARIATION
from stepgrid.model.records import StepRecord, unix_time
from stepgrid.model.units import duration

Points = Sequence[tuple[float, float]]  # (second, operations per second)
Debts: TypeAlias = Mapping[str, Points]  # of an engine, by name
Span = tuple[float, float]  # seconds
FEWEST = 5  # points: fewer say nothing
NOT_STEADY = "no steady state"


class SeriesFigures(NamedTuple):
    metrics: Mapping[str, float]  # by name of plugins.metrics.METRICS
    warnings: Sequence[str]


def series_figures(points: Points, debts: Debts | None = None) -> SeriesFigures:
    """Compute the figures of a series. `debts`: of a step that is to become steady."""
    rates = [rate for _, rate in points]
    state = steady_state(points, debts or {})
    warnings = [*_warnings(points, state, debts is not None)]
    if len(rates) < FEWEST or not 0 < math.fsum(rates) < math.inf:
        return SeriesFigures({}, warnings)
    figures = _variation(rates) | ({"steady_change_pct": 100 * state.change} if state else {})
    if state and state.holds:
        figures |= {"steady_from_s": state.begin, "steady_qps": state.mean}
    return SeriesFigures(figures | ({INITIAL: state.initial} if state and debts is not None else {}), warnings)


def _warnings(points: Points, state: SteadyState | None, is_to_be_steady: bool) -> Iterator[str]:
    if state and not state.holds:
        verdict = f"not steady within {duration(points[-1][0])}" if is_to_be_steady else NOT_STEADY
        yield f"{verdict}: {'; '.join(_obstacles(state))}"
    elif is_to_be_steady and not (state and state.is_known):
        unknown = "steady by its rate alone: of the engine's debts too little is known"
        yield unknown if state else f"not steady: {_shortage(points)}"


def _shortage(points: Points) -> str:
    """Say why a series cannot tell; empty where it can."""
    if len(points) < FEWEST_STEADY:
        return f"its series has {len(points)} points, expected {FEWEST_STEADY} or more"
    total = math.fsum(rate for _, rate in points)
    if not 0 < total < math.inf:
        return "its series has no operations" if total <= 0 else "its series has points that are no numbers"
    gap = max(end - begin for (begin, _), (end, _) in pairwise(points))
    return f"its series has no point for {duration(gap)}" if gap > GAP * points[-1][0] else ""


def _obstacles(state: SteadyState) -> Iterator[str]:
    """Say what was not steady at the end."""
    first, last = state.levels
    if has_changed := abs(last - first) > SMALL * max(first, last):
        change = f"by {100 * abs(last - first) / first:.0f} %" if first else "from 0"
        yield f"QPS {'fell' if last < first else 'rose'} {change} in the last {duration(state.seconds)}"
    yield from (f"{debt} grew" for debt in state.growing)
    if not has_changed and not state.growing:
        end = f"0 in the last {duration(state.seconds)}" if not state.mean else "not level for long enough to tell"
        yield f"QPS was {end}"


def _variation(rates: Sequence[float]) -> dict[str, float]:
    count, mean, middle = len(rates), math.fsum(rates) / len(rates), median(rates)
    deviation = math.sqrt(math.fsum((rate - mean) ** 2 for rate in rates) / (count - 1))
    return {
        VARIATION: 100 * deviation / mean,
        SLOW: 100 * sum(rate < HALF * middle for rate in rates) / count,
        "stalled_seconds_pct": 100 * sum(rate < middle / 10 for rate in rates) / count,
        "worst_qps_p99": sorted(rates)[math.ceil(count / 100) - 1],
    }


# Dips: seconds below half of the median, those that follow each other as one.

HALF = 0.5


def slow_seconds(points: Points) -> list[tuple[Span, bool]]:
    """Give each interval, and whether its rate is below half of the median; a point has the end of its interval."""
    ends = [0.0, *(second for second, _ in points)]
    least = HALF * median(rate for _, rate in points) if points else 0.0
    return [(span, rate < least) for span, (_, rate) in zip(pairwise(ends), points, strict=True)]


def dips(points: Points) -> list[Span]:
    runs = groupby(slow_seconds(points), itemgetter(1))
    spans = ([span for span, _ in members] for is_slow, members in runs if is_slow)
    return [(members[0][0], members[-1][1]) for members in spans]


# The steady part of a series: it begins with the first window from which the rate neither rises nor falls, with a start
# and an end that are like the rest, and no debt of the engine grows.
#
# The line through windows is the median of the slopes between those that lie a third of them or more apart (Theil–Sen):
# a stall hardly bends it, and neither do flushes that come three times or more. Neighbours resemble each other: so its
# error is that of so many independent windows as their correlation leaves.

FEWEST_STEADY = 60  # points: fewer show too little of a drift to exclude one
WINDOWS, LEAST = 30, 10  # of a series; of its steady part
SMALL, MOST = 0.05, 0.1  # change of the mean over the time of the whole series: of none; where chance may be its cause
START, ALIKE = 3, 0.02  # windows that must be like the rest; by so much of the mean, if not by three deviations
MOST_CORRELATION = 0.8  # correlation of neighbours: more says nothing
FEWEST_LOOKS = 8  # at a debt
GAP = 2 / WINDOWS  # of the time, without a point: windows count points
CHANCE = 0.01  # of a trend without a cause
_SURE = NormalDist().inv_cdf(1 - CHANCE / 2)


class SteadyState(Struct, frozen=True):
    """The steady part, or the last windows of a series that has none."""

    begin: float  # seconds
    seconds: float
    mean: float
    change: float  # of the line through it, from end to end, relative to the mean
    initial: float  # rate of the first window
    levels: tuple[float, float]  # rates of the first and last window of the part
    growing: tuple[str, ...] = ()  # debts
    is_known: bool = True  # whether debts grow
    holds: bool = True


def steady_state(points: Points, debts: Debts = MappingProxyType({})) -> SteadyState | None:
    """Find the steady part; None of a series that cannot tell."""
    if _shortage(points):
        return None
    rates, last = [rate for _, rate in points], points[-1][0]
    ends, windows = _ends(len(rates)), _windows(rates)
    looks = {name: [look for look in debts[name] if look[0] <= last and math.isfinite(look[1])] for name in debts}
    known_debts = {name: series for name, series in looks.items() if _is_known(series, last)}
    for first in range(WINDOWS - LEAST + 1):
        begin = points[ends[first] - 1][0] if first else 0.0
        growing = tuple(name for name, series in known_debts.items() if _grows(_debt_since(begin, series)))
        part, mean = windows[first:], fmean(rates[ends[first] :])
        is_last, holds = first == WINDOWS - LEAST, not growing and _is_flat(part)
        if holds or is_last:
            change = _line(part)[0] * len(part) / mean if mean else 0.0
            levels, is_known = (part[0], part[-1]), bool(debts) and len(known_debts) == len(debts)
            return SteadyState(begin, last - begin, mean, change, windows[0], levels, growing, is_known, holds)
    return None


def _is_flat(windows: Sequence[float]) -> bool:
    mean = fmean(windows)
    if mean <= 0 or any(abs(excess) > chance for excess, chance in (_start(windows), _start(windows[::-1]))):
        return False
    slope, error = _line(windows)
    change = abs(slope) * WINDOWS / mean
    return change <= SMALL or (change <= MOST and abs(slope) <= _SURE * error)


def _is_known(debt: Points, end: float) -> bool:
    """Tell whether a debt was looked at often enough, and until the end."""
    if len(debt) < FEWEST_LOOKS:
        return False
    interval = (debt[-1][0] - debt[0][0]) / (len(debt) - 1)
    return end - debt[-1][0] <= max(2 * interval, GAP * end)


def _debt_since(begin: float, debt: Points) -> Sequence[float]:
    """Give windows of a debt since a time; of the last looks where these are too few."""
    first = min(sum(at < begin for at, _ in debt), len(debt) - FEWEST_LOOKS)
    return _windows([value for _, value in debt[first:]])


def _windows(values: Sequence[float]) -> list[float]:
    return [fmean(values[start:end]) for start, end in pairwise(_ends(len(values)))]


def _ends(length: int) -> list[int]:
    count = min(length, WINDOWS)
    return [length * number // count for number in range(count + 1)]


def _grows(debt: Sequence[float]) -> bool:
    (start, chance), (end, end_chance) = _start(debt), _start(debt[::-1])
    slope, error = _line(debt)
    return -start > chance or end > end_chance or (slope > _SURE * error and slope * len(debt) > SMALL * fmean(debt))


def _start(values: Sequence[float]) -> tuple[float, float]:
    """How much the first ones are above the rest, and what may be chance; reversed, the last ones."""
    means = [fmean(values[at : at + START]) for at in range(len(values) - START + 1)]
    middle = median(means[START:])
    deviation = 1.4826 * median(abs(mean - middle) for mean in means[START:])
    return means[0] - middle, max(3 * deviation, ALIKE * middle)


def _line(values: Sequence[float]) -> tuple[float, float]:
    """Change from one value to the next, and its standard error."""
    count = len(values)
    far = max(1, count // 3)
    pairs = ((at, other) for at in range(count - far) for other in range(at + far, count))
    slope = median((values[other] - values[at]) / (other - at) for at, other in pairs)
    residuals = [value - slope * at for at, value in enumerate(values)]
    middle = fmean(residuals)
    squares = math.fsum((value - middle) ** 2 for value in residuals)
    if not squares:
        return slope, 0.0
    products = math.fsum((value - middle) * (later - middle) for value, later in pairwise(residuals))
    correlation = max(0.0, min(products / squares + 1 / count, MOST_CORRELATION))
    variance = squares / (count - 2) * 12 / (count**3 - count)
    return slope, math.sqrt(variance * (1 + correlation) / (1 - correlation))


# Stalls: intervals in which a client did next to nothing.

TENTH = 0.1
OPERATIONS = ("insert", "delete", "query")


def mark_stalls(rates: Sequence[float]) -> list[bool]:
    """Mark the intervals of a client's operation with nothing done, or less than a tenth of its own median.

    After its last operation the client was through: no stall. One that did nothing at all stood still.
    """
    last = next((at for at in range(len(rates), 0, -1) if rates[at - 1]), len(rates))
    least = TENTH * median(rates[:last]) if last else 0.0
    return [at < last and (not rate or rate < least) for at, rate in enumerate(rates)]


def stall_figures(rates: Iterable[ClientRate]) -> dict[str, float]:
    """The share of the clients' intervals that are stalls, by operation."""
    by_client: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for rate in sorted(rates, key=attrgetter("second")):
        by_client[rate.operation][rate.client].append(rate.per_second)
    figures = {}
    for name in OPERATIONS:
        if name in by_client:
            marks = list(chain.from_iterable(map(mark_stalls, by_client[name].values())))
            figures[f"{name}_stalled_pct"] = 100 * sum(marks) / len(marks)
    return figures


# What a step does to the one that it runs beside: the rate and latency of that before, while and after it ran, by
# seconds of the other step's series, of those in which the same steps ran beside it as when this one began.

BACK = 0.95  # of the rate before, at which it is back
LAG, LEAST_LAG = 1.0, 0.1  # seconds by which a client may begin later than is known; figures are rounded
COST = "cost"  # a fact
TOGETHER = 3  # intervals whose mean must be back: one alone is noise


class SideEffect(NamedTuple):
    metrics: Mapping[str, float]
    facts: Mapping[str, str] = {}


class MainSeries(NamedTuple):
    """Series of the step that others run beside; they begin so many seconds after its program."""

    qps: Points
    p99: Points = ()
    start: Span | None = (0.0, 0.0)  # at the earliest and the latest; None: not known within LAG


def series_start(record: StepRecord, points: Points, measured_from: float, seconds: float) -> Span | None:
    """Find when a series begins, in seconds since its program was started; None where that is not known within LAG.

    `measured_from`: of a driver that knows it, since the command began; `seconds` that its client counted. What is
    left of the program's time is how much later it may have begun."""
    if len(points) < 2 or record.seconds is None:
        return None
    interval, length = points[-1][0] - points[-2][0], max(points[-1][0], seconds)
    start, spare = record.waited + measured_from, record.seconds - measured_from - length
    return None if spare > LAG + interval and not measured_from else (start, start + min(max(spare, LEAST_LAG), LAG))


def spans(record: StepRecord, start: float) -> list[Span]:
    """List when a step ran, in seconds since the start of another one."""
    rounds = record.rounds or (((record.started, record.ended),) if record.started and record.ended else ())
    times = [(unix_time(began), unix_time(ended)) for began, ended in rounds]
    return [(began - start, ended - start) for began, ended in times if began is not None and ended is not None]


def effect(record: StepRecord, main: StepRecord, company: Sequence[StepRecord], series: MainSeries) -> SideEffect:
    """Compare the figures of a step before, while and after `record` ran; `company`: what else ran beside it."""
    start = unix_time(main.started)
    first, last = series.start or (0.0, 0.0)
    own_spans = spans(record, start + first) if start is not None else []
    if start is None or not own_spans:
        return SideEffect({})
    metrics = {} if record.was_stopped and not own_spans[1:] else {"beside_seconds": record.seconds or 0.0}
    if record.rounds:
        metrics["beside_rounds"] = float(len(own_spans))
    if len(series.qps) < 2:
        return SideEffect(metrics, {COST: "cannot be told: the step that it ran beside has no series of QPS"})
    if series.start is None:
        return SideEffect(metrics, {COST: "cannot be told: when the series of the step that it ran beside begins"})
    company_spans = [(runs[0][0], runs[-1][1]) for other in company if (runs := spans(other, start + first))]
    presence = _Company(company_spans, own_spans[0][0], last - first)
    rates = _parts(series.qps, own_spans, presence)
    means = {name: fmean(values) for name, values in rates.items() if values}
    metrics |= {f"main_qps_{name}": mean for name, mean in means.items()} | _ratios("main_qps", means)
    facts = dict(_facts(means))
    if series.p99 and COST not in facts:
        latencies = _parts(series.p99, own_spans, presence)
        end, silences = own_spans[-1][1], _silences(series, presence)
        if any(began < end for began, _ in silences):
            facts["p99"] = "cannot be told: the step that it ran beside had seconds with fewer than 1,000 operations"
        else:
            lasting = {name: part for name, part in latencies.items() if part and not (silences and name == "after")}
            metrics |= _ratios("main_p99", {name: median(part) for name, part in lasting.items()})
    if (recovery := _recovery(series.qps, own_spans[-1][1], means.get("before", 0.0), presence)) is not None:
        metrics["main_recovery_seconds"] = recovery
    return SideEffect(metrics, facts)


class _Company(NamedTuple):
    """Others beside the same step; between the rounds of one it is there, too."""

    spans: Sequence[Span]
    start: float  # of the one that is looked at
    lag: float  # seconds by which points may be later

    def at(self, second: float) -> Collection[int]:
        return [index for index, (began, ended) in enumerate(self.spans) if began <= second < ended]

    def is_same(self, span: Span) -> bool:
        """Tell whether the same ones ran in all of an interval as at the start; it may have been later."""
        changes = chain.from_iterable(self.spans)
        return self.at(span[0]) == self.at(self.start) and not any(span[0] < at < span[1] + self.lag for at in changes)


def _parts(points: Points, own_spans: Sequence[Span], company: _Company) -> dict[str, list[float]]:
    """Split the values of a series into those before, while and after it ran.

    A point has the end of its interval, which may have been later. The first is a start-up."""
    parts: dict[str, list[float]] = {"before": [], "during": [], "after": []}
    for (began, _), (ended, value) in pairwise(points):
        if not company.is_same((began, ended)):
            continue
        if ended <= own_spans[0][0] - company.lag:
            parts["before"].append(value)
        elif began >= own_spans[-1][1]:
            parts["after"].append(value)
        elif any(first <= began and ended <= last - company.lag for first, last in own_spans):
            parts["during"].append(value)
    return parts


def _silences(series: MainSeries, company: _Company) -> list[Span]:
    """List spans with too few operations for a p99; one at the end makes the time of all others uncertain."""
    interval, end = min(ended - began for (began, _), (ended, _) in pairwise(series.qps)), series.qps[-1][0]
    seconds = [series.qps[0][0], *(second for second, _ in series.p99)]
    if end - seconds[-1] > 1.5 * interval:
        return [(0.0, end)]
    spans = [(began, ended - interval) for began, ended in pairwise(seconds) if ended - began > 1.5 * interval]
    spans += [(began, ended) for (began, _), (ended, rate) in pairwise(series.qps) if rate <= 0]
    return [span for span in spans if company.at(span[1]) == company.at(company.start)]


def _ratios(name: str, figures: Mapping[str, float]) -> dict[str, float]:
    base = figures.get("before")
    if not base:
        return {}
    names = {"during": f"{name}_ratio", "after": f"{name}_after_ratio"}
    return {metric: figures[part] / base for part, metric in names.items() if part in figures}


def _recovery(points: Points, end: float, before: float, company: _Company) -> float | None:
    """Find when the rate was back, unless others began or ended before; a mean of few intervals tells nothing."""
    after = [((began, ended), value) for (began, _), (ended, value) in pairwise(points) if began >= end - company.lag]
    for index in range(len(after) - TOGETHER + 1 if before else 0):
        part = after[index : index + TOGETHER]
        if not all(company.is_same(span) for span, _ in part):
            return None
        if fmean(value for _, value in part) >= BACK * before:
            return max(0.0, part[0][0][0] - end)
    return None


def _facts(means: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    if "before" not in means:
        yield COST, "cannot be told: the step that it ran beside has no second before it, with the same others"
    elif "during" not in means:
        yield COST, "cannot be told: no whole second of the step that it ran beside is within it, with the same others"
    elif "after" not in means:
        yield "time after it", "unknown: it ended when the step did that it ran beside, or later"
