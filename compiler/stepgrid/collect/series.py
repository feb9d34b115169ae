"""Throughput over time: how much it varies, where it stands still, and whether it becomes steady."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, groupby, pairwise
from operator import attrgetter, itemgetter
from statistics import NormalDist, fmean, median
from typing import NamedTuple

from msgspec import Struct

from stepgrid.model.figures import ClientRate
from stepgrid.model.metrics import SLOW, VARIATION
from stepgrid.model.records import StepRecord, unix_time

Points = Sequence[tuple[float, float]]  # (second, operations per second)
Span = tuple[float, float]  # seconds
FEWEST = 5  # points: fewer say nothing
NOT_STEADY = "no steady state"


def series_figures(points: Points) -> dict[str, float]:
    """Figures by name of plugins.metrics.METRICS."""
    rates = [rate for _, rate in points]
    if len(rates) < FEWEST or not math.fsum(rates) > 0:
        return {}
    return {**_variation(rates), **_steady_figures(points)}


def series_warnings(points: Points) -> Iterator[str]:
    state = steady_state([rate for _, rate in points])
    if state and not state.holds:
        yield f"{NOT_STEADY}: QPS still {'falls' if state.change < 0 else 'rises'} when the run ends"


def _variation(rates: Sequence[float]) -> dict[str, float]:
    count, mean, middle = len(rates), math.fsum(rates) / len(rates), median(rates)
    deviation = math.sqrt(math.fsum((rate - mean) ** 2 for rate in rates) / (count - 1))
    return {
        VARIATION: 100 * deviation / mean,
        SLOW: 100 * sum(rate < HALF * middle for rate in rates) / count,
        "stalled_seconds_pct": 100 * sum(rate < middle / 10 for rate in rates) / count,
        "worst_qps_p99": sorted(rates)[math.ceil(count / 100) - 1],
    }


def _steady_figures(points: Points) -> dict[str, float]:
    state = steady_state([rate for _, rate in points])
    if state is None:
        return {}
    change = {"steady_change_pct": 100 * state.change}
    if not state.holds:
        return change
    begin = points[state.start - 1][0] if state.start else 0.0  # the time of a point is the end of its interval
    return {**change, "steady_from_s": begin, "steady_qps": state.mean}


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


# The steady part of a series.
#
# Its start by MSER-5 (White 1997): of all starts within the first half, the one whose mean is known best, judged by
# means of five neighbours. Then the rest is tested: where its batch means (about sqrt(n) of them, as neighbours depend
# on each other) go with time, and the line through them changes by more than a little, there is no steady state.

FEWEST_STEADY = 60  # points: fewer show too little of a drift to exclude one
MEAN_OF = 5
CHANCE, CHANGE = 0.01, 0.05  # of a trend without a cause; of the mean, from the start of the steady part to its end
_PERFECT = 1 - 1e-12


class SteadyState(Struct, frozen=True):
    start: int  # index of its first point
    mean: float
    change: float  # of the line through it, from end to end, relative to the mean
    chance: float  # of so clear a trend in a series without one

    @property
    def holds(self) -> bool:
        return self.chance >= CHANCE or abs(self.change) <= CHANGE


def steady_state(rates: Sequence[float]) -> SteadyState | None:
    """Find the steady part; None of too few points, or of a step that did nothing."""
    if len(rates) < FEWEST_STEADY or fmean(rates) <= 0:
        return None
    start = _steady_start(rates)
    part = rates[start:]
    change, chance = _trend(part)
    mean = fmean(part)
    return SteadyState(start, mean, change / mean if mean > 0 else 0.0, chance)


def _steady_start(rates: Sequence[float]) -> int:
    count = len(rates) // MEAN_OF
    means = [fmean(rates[at : at + MEAN_OF]) for at in range(0, count * MEAN_OF, MEAN_OF)]
    sums = [*accumulate(reversed(means))][::-1]
    squares = [*accumulate(mean * mean for mean in reversed(means))][::-1]
    lengths = range(count, 0, -1)
    errors = [
        (square - total * total / length) / length**2
        for total, square, length in zip(sums, squares, lengths, strict=True)
    ]
    half = errors[: count // 2 + 1]
    return half.index(min(half)) * MEAN_OF


def _trend(rates: Sequence[float]) -> tuple[float, float]:
    """Change over all of it, and the chance of such a correlation with time (Fisher's z)."""
    size = math.ceil(math.sqrt(len(rates)))
    count = len(rates) // size
    first = len(rates) - count * size
    batches = [fmean(rates[at : at + size]) for at in range(first, len(rates), size)]
    mean, middle = fmean(batches), (count - 1) / 2
    spread = math.fsum((batch - mean) ** 2 for batch in batches)
    if not spread:
        return 0.0, 1.0
    time = math.fsum((at - middle) ** 2 for at in range(count))
    both = math.fsum((at - middle) * (batch - mean) for at, batch in enumerate(batches))
    correlation = max(-_PERFECT, min(both / math.sqrt(time * spread), _PERFECT))
    score = math.atanh(correlation) * math.sqrt(count - 3)
    return both / time * len(rates) / size, 2 * NormalDist().cdf(-abs(score))


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
LAG = 1.0  # seconds by which a client may begin later than is known
COST = "cost"  # a fact
TOGETHER = 3  # intervals whose mean must be back: one alone is noise


class SideEffect(NamedTuple):
    metrics: Mapping[str, float]
    facts: Mapping[str, str] = {}


class MainSeries(NamedTuple):
    """Series of the step that others run beside; they begin so many seconds after its program."""

    qps: Points
    p99: Points = ()
    delay: float | None = 0.0  # None: not known within LAG


def series_delay(record: StepRecord, points: Points, measured_from: float, seconds: float) -> float | None:
    """Find when a series begins, in seconds since its program was started; None where that is not known within LAG.

    `measured_from`: of a driver that knows it, since the command began; `seconds` that its client counted."""
    if len(points) < 2 or measured_from:
        return record.waited + measured_from
    interval, length = points[-1][0] - points[-2][0], max(points[-1][0], seconds)
    return record.waited if (record.seconds or 0.0) - length <= LAG + interval else None


def spans(record: StepRecord, start: float) -> list[Span]:
    """List when a step ran, in seconds since the start of another one."""
    rounds = record.rounds or (((record.started, record.ended),) if record.started and record.ended else ())
    times = [(unix_time(began), unix_time(ended)) for began, ended in rounds]
    return [(began - start, ended - start) for began, ended in times if began is not None and ended is not None]


def effect(record: StepRecord, main: StepRecord, company: Sequence[StepRecord], series: MainSeries) -> SideEffect:
    """Compare the figures of a step before, while and after `record` ran; `company`: what else ran beside it."""
    start = unix_time(main.started)
    own_spans = spans(record, start + (series.delay or 0.0)) if start is not None else []
    if start is None or not own_spans:
        return SideEffect({})
    metrics = {} if record.was_stopped and not own_spans[1:] else {"beside_seconds": record.seconds or 0.0}
    if record.rounds:
        metrics["beside_rounds"] = float(len(own_spans))
    if len(series.qps) < 2:
        return SideEffect(metrics, {COST: "cannot be told: the step that it ran beside has no series of QPS"})
    if series.delay is None:
        return SideEffect(metrics, {COST: "cannot be told: when the series of the step that it ran beside begins"})
    company_spans = [(runs[0][0], runs[-1][1]) for other in company if (runs := spans(other, start + series.delay))]
    presence = _Company(company_spans, own_spans[0][0])
    rates = _parts(series.qps, own_spans, presence)
    means = {name: fmean(values) for name, values in rates.items() if values}
    metrics |= {f"main_qps_{name}": mean for name, mean in means.items()} | _ratios("main_qps", means)
    facts = dict(_facts(means))
    if series.p99 and COST not in facts:
        latencies = _parts(series.p99, own_spans, presence)
        end, silences = own_spans[-1][1], _silences(series, presence)
        if any(began < end for began, _ in silences):
            facts["p99"] = "cannot be told: the step that it ran beside had seconds without an operation"
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

    def at(self, second: float) -> Collection[int]:
        return [index for index, (began, ended) in enumerate(self.spans) if began <= second < ended]

    def is_same(self, span: Span) -> bool:
        """Tell whether the same ones ran in all of an interval as at the start; it may have been LAG later."""
        changes = chain.from_iterable(self.spans)
        return self.at(span[1]) == self.at(self.start) and not any(span[0] < at < span[1] + LAG for at in changes)


def _parts(points: Points, own_spans: Sequence[Span], company: _Company) -> dict[str, list[float]]:
    """Split the values of a series into those before, while and after it ran.

    A point has the end of its interval, which may have been up to LAG later. The first is a start-up."""
    parts: dict[str, list[float]] = {"before": [], "during": [], "after": []}
    for (began, _), (ended, value) in pairwise(points):
        if not company.is_same((began, ended)):
            continue
        if ended <= own_spans[0][0] - LAG:
            parts["before"].append(value)
        elif began >= own_spans[-1][1]:
            parts["after"].append(value)
        elif any(first <= began and ended <= last - LAG for first, last in own_spans):
            parts["during"].append(value)
    return parts


def _silences(series: MainSeries, company: _Company) -> list[Span]:
    """List spans without an operation, which have no latency; one at the end makes the time of all others uncertain."""
    interval, end = min(ended - began for (began, _), (ended, _) in pairwise(series.qps)), series.qps[-1][0]
    seconds = [series.qps[0][0] - interval, *(second for second, _ in series.p99)]
    if end - seconds[-1] > 1.5 * interval:
        return [(0.0, end)]
    spans = [(began, ended) for began, ended in pairwise(seconds) if ended - began > 1.5 * interval]
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
    after = [((began, ended), value) for (began, _), (ended, value) in pairwise(points) if began >= end - LAG]
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
