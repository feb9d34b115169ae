"""Judgement of one comparison of a claim, with its uncertainty: the load is the unit here, too.

In each load both sides are computed from the figures of that load. `lhs >= rhs` says that lhs / rhs is at least
1, so the interval of that ratio decides: for `qps(a) / qps(b) >= 2.5` it is the interval of the ratio of QPS, divided
by 2.5. A ratio that a table of the report has keeps the interval of that table; all others of a claim hold together. A
ratio within the noise floor decides nothing, but that two figures are similar.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import permutations, product
from statistics import fmean, stdev
from typing import NamedTuple

from msgspec import Struct, field

from stepgrid.model import units
from stepgrid.model.metrics import QPS, too_few_operations
from stepgrid.model.plan import ALPHA, BUILD, SMALLEST_EFFECT
from stepgrid.model.records import replace
from stepgrid.model.status import Status
from stepgrid.plan.report_check import SIMILAR, Arithmetic, ClaimComparison, Figure, Number, Value, evaluate, figures
from stepgrid.plugins import metrics
from stepgrid.plugins.layout import STEP
from stepgrid.summarize.claims import FAILS, HOLDS
from stepgrid.summarize.comparisons.comparison import RatioIntervals
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.statistics import confidence_intervals, verdicts
from stepgrid.summarize.statistics.confidence_intervals import Interval, LogRatios, add_bracket, inverse, moved, special
from stepgrid.summarize.statistics.verdicts import UNDECIDED

ONE_LOAD = "one load decides nothing"
MORE_POINTS = "what held and what failed lie on both sides: more `points` of the search may decide it"
MORE_LOADS, AT_THE_BOUND = "more loads may decide it", "at the bound: more loads would hardly decide it"
_SIGNS = {"<=": "≤", ">=": "≥"}
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_ORDERS = {">": float.__gt__, ">=": float.__ge__, "<": float.__lt__, "<=": float.__le__}
_TESTS = {**_ORDERS, "==": float.__eq__, "!=": float.__ne__, SIMILAR: float.__eq__}


class Provenance(NamedTuple):
    """A reason why published figures decide nothing of a comparison, and a note on them."""

    problem: str = ""
    note: str = ""


class ClaimEvidence(Struct, frozen=True):
    """Noise floor that the report has of a metric at two points, its intervals, and the smallest effect."""

    floor: Callable[[str, Point, Point], float | None] = lambda *_: None
    intervals: RatioIntervals = field(default_factory=RatioIntervals)
    effect: float = SMALLEST_EFFECT
    disturbance: Callable[[str, Sequence[Point]], str] = lambda *_: ""  # why others' load decides nothing
    # of figures that somebody published: each is judged as it stands, without an interval
    provenance: Callable[[ClaimComparison, Mapping[Figure, Point], Mapping[Figure, float]], Provenance] | None = None
    limits: Mapping[str, Sequence[Point]] = {}  # what searches found, by its metric

    def restrict(self, is_counted: Callable[[int], bool]) -> ClaimEvidence:
        """Forget the other loads."""
        limits = {name: [point.of_loads(is_counted) for point in points] for name, points in self.limits.items()}
        return replace(self, intervals=self.intervals.of_loads(is_counted), limits=limits)


class Leaf(Struct, frozen=True):
    comparison: ClaimComparison
    sides: tuple[tuple[float, float], ...]  # of each load
    problem: str | None = None  # why there are none
    floor: float | None = None  # noise floor of its points, where it has one metric
    interval: Interval | None = None  # of lhs / rhs, as a table of the report has it
    withheld: str = ""  # why its figures decide nothing: one load, or most of them disturbed
    claimed: float | None = None  # where two figures of one metric are compared: what their ratio is claimed to be
    figures: str = ""  # which, in words
    idle: tuple[str, ...] = ()  # of which figures of QPS a load did nothing
    margin: float = SMALLEST_EFFECT  # how far apart similar figures may be
    provenance: Provenance | None = None  # of published figures
    bracket: tuple[float, float] | None = None  # of lhs / rhs, where the values of searches may lie anywhere in theirs


class ClaimOutcome(NamedTuple):
    result: str
    numbers: str
    notes: tuple[str, ...] = ()
    distance: float = math.inf  # logarithm of how far a published figure is from its bound


def make_leaf(comparison: ClaimComparison, points: Mapping[Figure, Point], evidence: ClaimEvidence) -> Leaf:
    """Compute both sides in each load that has all of its figures."""
    ratio = ordered(comparison)
    wanted = dict.fromkeys((*figures(ratio.lhs), *figures(ratio.rhs)))
    for figure in wanted:
        point = points[figure]
        if point.status != Status.DONE:
            return Leaf(comparison, (), f"{_call(figure)}: {point.status}")
        if not point.values(name := own_name(figure.metric, point)):
            few = too_few_operations(name, (run.metrics for run in point.runs))
            return Leaf(comparison, (), f"{_call(figure)}: {point.step} has {few or 'no such figure'}")
    means = {
        figure: {
            load: units.mean(runs)
            for load, runs in points[figure].values(own_name(figure.metric, points[figure])).items()
        }
        for figure in wanted
    }
    common = sorted(set.intersection(*(set(by_load) for by_load in means.values()))) if means else [0]
    loads = [{figure: means[figure][load] for figure in wanted} for load in common]
    try:
        sides = tuple((evaluate(ratio.lhs, load), evaluate(ratio.rhs, load)) for load in loads)
    except (ArithmeticError, ValueError):
        return Leaf(comparison, (), "it has no value: a division by 0, or the like")
    if not sides:
        return Leaf(comparison, (), "no load has all of its figures")
    chosen = {figure: points[figure] for figure in wanted}
    if evidence.provenance is None:
        common_points = {figure: point.of_loads(common.__contains__) for figure, point in chosen.items()}
        withheld = ONE_LOAD if wanted and len(sides) < 2 else ""
        bare = Leaf(comparison, sides, withheld=withheld, bracket=_bracket(ratio, common_points, loads))
    else:
        provenance = evidence.provenance(comparison, chosen, loads[0])
        bare = Leaf(comparison, sides, problem=provenance.problem or None, provenance=provenance)
    return _with_noise(bare, chosen, loads, evidence)


def _bracket(
    ratio: ClaimComparison, points: Mapping[Figure, Point], loads: Sequence[Mapping[Figure, float]]
) -> tuple[float, float] | None:
    """Find the ends of lhs / rhs over what held and what failed in searches, means over the loads."""
    brackets = {figure: bracket for figure, point in points.items() if (bracket := point.bracket(figure.metric))}
    ends = [brackets.get(figure) or [fmean(load[figure] for load in loads)] for figure in points]
    quotients = []
    for corner in product(*ends) if brackets else ():
        values = dict(zip(points, corner, strict=True))
        try:
            quotients.append(units.quotient(evaluate(ratio.lhs, values), evaluate(ratio.rhs, values)))
        except (ArithmeticError, ValueError):
            quotients.append(math.nan)
    is_known = not any(math.isnan(value) or value < 0 for value in quotients)
    return (min(quotients), max(quotients)) if quotients and is_known else (0.0, math.inf) if quotients else None


def ordered(comparison: ClaimComparison) -> ClaimComparison:
    """Turn a - b > 0 into a > b, which is a ratio."""
    match comparison:
        case ClaimComparison(lhs=Arithmetic(sign="-", lhs=lhs, rhs=rhs), rhs=Number(value=0)):
            return ClaimComparison(comparison.sign, lhs, rhs)
        case ClaimComparison(lhs=Number(value=0), rhs=Arithmetic(sign="-", lhs=lhs, rhs=rhs)):
            return ClaimComparison(comparison.sign, rhs, lhs)
    return comparison


def own_name(metric: str, point: Point) -> str:
    """Translate a published name to the one of stepgrid, unless the step has a figure of that very name."""
    return metric if point.values(metric) else metrics.metric_name(metric) or metric


def _with_noise(
    bare: Leaf, points: Mapping[Figure, Point], loads: Sequence[Mapping[Figure, float]], evidence: ClaimEvidence
) -> Leaf:
    """Add the highest floor of any two of its points, and the interval of their ratio; one point has none."""
    pairs = list(permutations({point.places: point for point in points.values()}.values(), 2))
    names = {own_name(figure.metric, point) for figure, point in points.items()}
    disturbances = (evidence.disturbance(name, list(points.values())) for name in sorted(names))
    floors = {name: [evidence.floor(name, *pair) for pair in pairs] for name in names}
    highest = {name: max((floor for floor in row if floor is not None), default=None) for name, row in floors.items()}
    scaled = _scaled(bare.comparison, points, loads) if len(names) == 1 else None
    interval = None
    if scaled and len(pairs) == 2:
        interval = evidence.intervals.interval(next(iter(names)), points[scaled.over], points[scaled.under])
    floor = highest[next(iter(names))] if len(names) == 1 else None
    return replace(
        bare,
        floor=floor,
        margin=max(evidence.effect, floor or 0.0) if bare.comparison.within is None else bare.comparison.within,
        interval=moved(interval, interval.ratio * scaled.factor) if scaled and interval else None,
        withheld=bare.withheld or next(filter(None, disturbances), ""),
        claimed=1 / scaled.factor if scaled else None,
        figures=_compared_figures(bare.comparison, scaled) if scaled else ", ".join(map(_call, points)),
        idle=tuple(
            f"{_call(figure)}: {point.idleness}"
            for figure, point in points.items()
            if own_name(figure.metric, point) == QPS and point.idle_loads
        ),
    )


class _Scaled(NamedTuple):
    """lhs / rhs = factor * over / under"""

    over: Figure
    under: Figure
    factor: float


def _scaled(
    comparison: ClaimComparison, points: Mapping[Figure, Point], loads: Sequence[Mapping[Figure, float]]
) -> _Scaled | None:
    """Find the constant factor to the ratio of its two figures: the same in each load, and of other figures, too."""
    if len(points) != 2 or any(value <= 0 for load in loads for value in load.values()):
        return None
    ratio = ordered(comparison)
    for over, under in permutations(points, 2):
        factors = []
        for load in (*loads, *({**load, over: 2 * load[over]} for load in loads)):
            lhs, rhs = evaluate(ratio.lhs, load), evaluate(ratio.rhs, load)
            factors.append(lhs / rhs * load[under] / load[over] if rhs else 0.0)
        if factors[0] > 0 and math.isclose(min(factors), max(factors), rel_tol=1e-9):
            return _Scaled(over, under, factors[0])
    return None


def _compared_figures(comparison: ClaimComparison, scaled: _Scaled) -> str:
    """qps, cache=lru / cache=hyper: as its ratio is printed, by the labels in which they differ."""
    sides = (scaled.under, scaled.over) if _is_constant(ordered(comparison).lhs) else (scaled.over, scaled.under)
    common = set(scaled.over.labels) & set(scaled.under.labels)
    names = [label_words([label for label in side.labels if label not in common]) for side in sides]
    return f"{scaled.over.metric}, {' / '.join(name or 'all' for name in names)}"


def _call(figure: Figure) -> str:
    return f"{figure.metric}({', '.join(f'{axis}={label!r}' for axis, label in figure.labels)})"


def label_words(labels: Iterable[tuple[str, object]]) -> str:
    """Write labels: a build and a step say what they are, any other label needs its axis."""
    return ", ".join(str(label) if axis in (BUILD, STEP) else f"{axis}={label}" for axis, label in labels)


def decide(leaves: Sequence[Leaf], alpha: float = ALPHA) -> dict[int, ClaimOutcome]:
    """Judge all comparisons of a claim together; outcomes are by the identity of the leaf."""
    samples = {id(leaf): sample for leaf in leaves if (sample := _sample(leaf))}
    intervals = dict(zip(samples, confidence_intervals.intervals(list(samples.values()), alpha), strict=True))
    return {id(leaf): _outcome(leaf, samples.get(id(leaf)), intervals.get(id(leaf))) for leaf in leaves}


def _sample(leaf: Leaf) -> LogRatios | None:
    """Take logarithms of lhs / rhs, where an order is claimed and they have one."""
    if leaf.comparison.sign in ("==", "!=") or not leaf.sides:
        return None
    if any(not (side > 0 and math.isfinite(side)) for pair in leaf.sides for side in pair):
        return None
    return LogRatios(tuple(math.log(lhs / rhs) for lhs, rhs in leaf.sides))


def _outcome(leaf: Leaf, sample: LogRatios | None, interval: Interval | None) -> ClaimOutcome:
    if leaf.problem is not None:
        return ClaimOutcome(UNDECIDED, leaf.problem)
    ratio = math.exp(sample.mean) if sample else 1.0
    if leaf.provenance is not None:
        alone = Interval(ratio, ratio, ratio, 1)
        words = _numbers(leaf, alone) if sample else _means(leaf)
        bound = math.log1p(leaf.margin) if leaf.comparison.sign == SIMILAR else 0.0
        distance = abs(abs(math.log(ratio)) - bound) if sample else math.inf
        return ClaimOutcome(_judge_sides(leaf), words, tuple(filter(None, [leaf.provenance.note])), distance)
    if leaf.withheld:
        interval = leaf.interval or interval or Interval(ratio, ratio, ratio, 1)
        interval = add_bracket(interval, *leaf.bracket) if leaf.bracket else interval
        return ClaimOutcome(
            UNDECIDED, _numbers(leaf, interval) if sample else _means(leaf), (leaf.withheld, *leaf.idle)
        )
    interval = leaf.interval or interval
    if leaf.bracket and (sample is None or interval is None):
        return ClaimOutcome(UNDECIDED, _means(leaf), (MORE_POINTS,))
    if sample is None or interval is None:
        return _by_load(leaf)
    if leaf.bracket:
        interval = add_bracket(interval, *leaf.bracket)
    result = _judge_interval(leaf, interval)
    doubtful = (FAILS,) if leaf.comparison.sign == SIMILAR else (FAILS, HOLDS)
    if leaf.floor is not None and result in doubtful and abs(math.log(interval.ratio)) <= math.log1p(leaf.floor):
        return ClaimOutcome(
            UNDECIDED, _numbers(leaf, interval), (f"within the noise floor ({units.percent(leaf.floor)})",)
        )
    return ClaimOutcome(result, _numbers(leaf, interval), _outlook(leaf, interval) if result == UNDECIDED else ())


def _judge_sides(leaf: Leaf) -> str:
    """Judge the figures of one run as they stand."""
    lhs, rhs = leaf.sides[0]
    if leaf.comparison.sign == SIMILAR:
        is_true = max(abs(lhs), abs(rhs)) <= (1 + leaf.margin) * min(abs(lhs), abs(rhs)) and lhs * rhs >= 0
    else:
        is_true = _TESTS[leaf.comparison.sign](float(lhs), float(rhs))
    return HOLDS if is_true else FAILS


def _judge_interval(leaf: Leaf, interval: Interval) -> str:
    if leaf.comparison.sign != SIMILAR:
        return by_interval(leaf.comparison.sign, interval)
    verdict = verdicts.verdict(interval.low, interval.high, leaf.margin)
    return HOLDS if verdict == verdicts.SAME else UNDECIDED if verdict in verdicts.OPEN else FAILS


def by_interval(sign: str, interval: Interval) -> str:
    """Decide by the side of 1 that the whole interval is on."""
    if sign.startswith("<"):
        interval = inverse(interval)
    is_strict = sign in (">", "<")
    if interval.low > 1 or (interval.low == 1 and not is_strict):
        return HOLDS
    return FAILS if interval.high < 1 or (interval.high == 1 and is_strict) else UNDECIDED


def _outlook(leaf: Leaf, interval: Interval) -> tuple[str, ...]:
    """Say whether loads that somebody may wait for would decide: not where the ratio is the claimed one."""
    bound = math.log1p(leaf.margin) if leaf.comparison.sign == SIMILAR else 0.0
    distance = abs(abs(math.log(interval.ratio)) - bound)
    reach = math.log(interval.high / interval.ratio) * math.sqrt(interval.loads / verdicts.PATIENCE)
    return (MORE_POINTS if leaf.bracket else AT_THE_BOUND if distance < reach else MORE_LOADS,)


def _by_load(leaf: Leaf) -> ClaimOutcome:
    """Judge where there are no logarithms: equality, or a figure of 0 or below it."""
    sign, sides = leaf.comparison.sign, leaf.sides
    varies = not (_is_constant(leaf.comparison.lhs) or _is_constant(leaf.comparison.rhs))
    if sign == SIMILAR or (varies and sign in _ORDERS and not leaf.idle):  # a mean hides a load that did nothing
        return _by_difference(leaf)
    holding = sum(_TESTS[sign](float(lhs), float(rhs)) for lhs, rhs in sides)
    result = HOLDS if holding == len(sides) else UNDECIDED if holding else FAILS
    loads = f" in {holding} of {len(sides)} loads" if result == UNDECIDED else ""
    return ClaimOutcome(result, f"{_means(leaf)}{loads}", leaf.idle)


def _by_difference(leaf: Leaf) -> ClaimOutcome:
    """Judge by Student's t of the sides' differences, 95 %; similar sides differ by no more than a share of the rhs."""
    is_similar = leaf.comparison.sign == SIMILAR
    margin = leaf.margin * abs(fmean(rhs for _, rhs in leaf.sides)) if is_similar else 0.0
    differences = [lhs - rhs for lhs, rhs in leaf.sides]
    centre, loads = fmean(differences), len(differences)
    half = special("stdtrit", loads - 1, 0.975) * stdev(differences) / math.sqrt(loads)
    low, high = centre - half, centre + half
    if is_similar:
        result = HOLDS if -margin <= low and high <= margin else FAILS if low > margin or high < -margin else UNDECIDED
    else:
        tests = {_ORDERS[leaf.comparison.sign](end, 0.0) for end in (low, high)}
        result = UNDECIDED if len(tests) > 1 else HOLDS if tests.pop() else FAILS
    return ClaimOutcome(result, _means(leaf), leaf.idle or ((MORE_LOADS,) if result == UNDECIDED else ()))


def _means(leaf: Leaf) -> str:
    lhs, rhs = (fmean(side) for side in zip(*leaf.sides, strict=True))
    return _number(lhs) if _is_constant(leaf.comparison.rhs) else f"{_number(lhs)} against {_number(rhs)}"


def _numbers(leaf: Leaf, interval: Interval) -> str:
    """Write a ratio or a figure with its interval and its bound; of other sides both, as means, and their ratio."""
    lhs, rhs = (math.exp(fmean(map(math.log, side))) for side in zip(*leaf.sides, strict=True))
    ratio = ordered(leaf.comparison)
    if ratio.sign == SIMILAR:
        bounds = "–".join(map(units.ratio, (1 / (1 + leaf.margin), 1 + leaf.margin)))
        return f"{_with_ends(interval, 1.0, units.TIMES)} (claimed {bounds}{units.TIMES})"
    if _is_constant(ratio.lhs):  # 1.6 > f says that f < 1.6
        claimed = 1 / leaf.claimed if leaf.claimed else None
        return _with_bound(inverse(interval), _FLIPPED[ratio.sign], claimed, lhs)
    if leaf.claimed is not None or _is_constant(ratio.rhs):
        return _with_bound(interval, ratio.sign, leaf.claimed, rhs)
    sides = (
        f"{_side_name(ratio.lhs, ratio.rhs)}{_number(lhs)}",
        f"{_side_name(ratio.rhs, ratio.lhs)}{_number(rhs)}",
    )
    return f"{' against '.join(sides)}: {_with_ends(interval, 1.0, units.TIMES)}"


def _side_name(value: Value, opposite: Value) -> str:
    """Name a side, with a space: by the labels that it alone has, else by its metric."""
    common = {label for figure in figures(opposite) for label in figure.labels}
    labels = dict.fromkeys(label for figure in figures(value) for label in figure.labels if label not in common)
    if labels:
        return f"{label_words(labels)} "
    names, opposite_names = ({figure.metric for figure in figures(side)} for side in (value, opposite))
    return f"{names.pop()} " if len(names) == 1 and names != opposite_names else ""


def _is_constant(value: Value) -> bool:
    return not list(figures(value))


def _with_bound(interval: Interval, sign: str, claimed: float | None, bound: float) -> str:
    """1.42× [1.38, 1.46] (claimed > 3×); of a figure that is no ratio 240 [230, 250] (claimed < 100)"""
    factor, unit = (bound, "") if claimed is None else (claimed, units.TIMES)
    return f"{_with_ends(interval, factor, unit)} (claimed {_SIGNS.get(sign, sign)} {factor:,.10g}{unit})"


def _with_ends(interval: Interval, factor: float, unit: str) -> str:
    """Write a scaled interval; one load has no ends."""
    if interval.low == interval.high:
        return f"{_number(interval.ratio * factor)}{unit}"
    low, high = interval.low * factor, interval.high * factor
    if interval.bound:
        ends = f"0, {_number(high)}" if low == 0 else f"{_number(low)}, {units.UNBOUNDED}"
        return f"{interval.bound}{_number(interval.ratio * factor)}{unit} [{ends}]"
    return f"{units.telling(low, high, _number)(interval.ratio * factor)}{unit} {units.interval(low, high, _number)}"


def _number(value: float) -> str:
    """Write a side, which may be a ratio, or a figure with a unit."""
    return units.ratio(value) if 0.01 <= abs(value) < 99.995 else units.figure(value)
