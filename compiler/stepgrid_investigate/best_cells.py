"""What a report concludes of all cells of a step: the best of them, and those that no other beats in every metric.

Cells that did other work than the base, or void a condition, take no part and are named.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from stepgrid.model import units
from stepgrid.model.metrics import QPS
from stepgrid.model.plan import AdaptiveRepeat, PlannedBest
from stepgrid.model.table import NOTHING, Cell, Column, Table
from stepgrid.model.units import counted, percent
from stepgrid.summarize.comparisons.comparison import ComparedMetric, figure_text
from stepgrid.summarize.comparisons.comparison_axes import StepPoints
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.report import GridAnswer, GridEvidence
from stepgrid.summarize.statistics import confidence_intervals, verdicts
from stepgrid.summarize.statistics.confidence_intervals import log_mean
from stepgrid_investigate.arms import OPEN, Arms, comparable_arms, listed, nearest_miss
from stepgrid_investigate.best.race import Race, look
from stepgrid_investigate.best.ranking import Ranked, Ranking, Standing, rank_arms
from stepgrid_page import chart_forms, drawing
from stepgrid_page.chart_forms import ChartRow, Rows
from stepgrid_page.drawing import PageMarks

MOST_ROWS = 20
FARTHEST = 0.5  # of cells that may be the best: beyond it nothing is said of how far they are from it
GREY = 6  # of the marks of a chart
STANDINGS = {
    Standing.WITHIN: "within {effect}",
    Standing.OPEN: "perhaps the best",
    Standing.WORSE: "not the best",
    Standing.BEYOND: "worse",
}


def answer_grid(evidence: GridEvidence) -> Iterator[GridAnswer]:
    yield from _best(evidence)
    yield from _fronts(evidence)


# The best


def _best(evidence: GridEvidence) -> Iterator[GridAnswer]:
    question = evidence.plan.report.best if evidence.plan.tune is None else None  # tries are no figures to compare
    for section in evidence.sections:
        if question is None:
            return
        if question.step in (None, section.step) and any(point.values(question.metric) for point in section.points):
            arms = comparable_arms(evidence, section, [question.metric], question.where)
            if len(arms.points) > 1:
                yield _best_of(evidence, section, question, arms)
            elif len(section.points) > 1:
                nearest = ""
                if question.where and not arms.points:
                    candidates = comparable_arms(evidence, section, [question.metric])
                    nearest = nearest_miss(evidence, candidates, question.where)
                condition = f" where {question.where}" if question.where else ""
                yield _too_few("best", f"best {question.metric}{condition}", section, arms, nearest)


def _too_few(key: str, question: str, section: StepPoints, arms: Arms, nearest: str = "") -> GridAnswer:
    """Name the only cell that takes part, or say that none does."""
    answer = f"only {listed([*arms.points])} takes part" if arms.points else f"no cell takes part{nearest}"
    return GridAnswer(key, f"{section.step}: {question}", (f"{section.step}: {answer}", *arms.notes))


def _best_of(evidence: GridEvidence, section: StepPoints, question: PlannedBest, arms: Arms) -> GridAnswer:
    metric = _metric(evidence, question.metric, question.is_least)
    figures = {name: _figures(point, metric.name) for name, point in arms.points.items()}
    effect, repeat = evidence.setup.effect, evidence.plan.until
    in_race = repeat is not None and repeat.is_race
    requests: Mapping[str, int] = {}
    if repeat and in_race:
        planned = {name: point.loads[1] for name, point in arms.points.items()}
        race = look(figures, planned, repeat, effect, question.is_least)
        missing = {(run.cell, run.load) for point in section.points for run in point.runs if run.status in OPEN}
        ranking, requests = race.ranking, {} if missing else _affordable(evidence, arms, race.wanted)
        outlook = _race_words(race, repeat, len(requests), len(missing))
    else:
        ranking = rank_arms(figures, effect, evidence.setup.alpha, question.is_least)
        outlook = "more loads tell them apart" if ranking.of(Standing.OPEN) and _loads(ranking) > 1 else ""
    title = f"{section.step}: {'least' if question.is_least else 'best'} {metric.title} of {len(figures)} cells"
    title += f" where {question.where}" if question.where else ""
    answer = f"{section.step}: {arms.caution}{_answer(ranking, metric, effect)}"
    sentences = (answer, *filter(None, [_base_words(ranking, arms.base), outlook]), *arms.notes)
    name = f"{section.step}: {metric.title} of cells, and ratio to the best"
    table = _ranking_table(name, ranking, arms, metric, effect)
    chart = _ranking_chart(title, ranking, effect, in_race)
    why = f"race of {len(figures)} cells: {len(ranking.candidates)} may be the best, {len(requests)} get more loads"
    loads = tuple((arms.points[name].runs[0].cell, count, why) for name, count in requests.items())
    return GridAnswer("best", title, sentences, (table,), (chart,), loads)


def _loads(ranking: Ranking) -> int:
    return max(arm.loads for arm in ranking.arms)


def _affordable(evidence: GridEvidence, arms: Arms, wanted: Mapping[str, int]) -> dict[str, int]:
    """Keep the requests that `within` leaves time for, the better arms first."""
    requests: dict[str, int] = {}
    within = evidence.plan.until.within if evidence.plan.until else None
    remaining = math.inf if within is None else within - evidence.costs.spent
    for name, count in wanted.items():
        point = arms.points[name]
        seconds = evidence.costs.seconds([point.runs[0].cell]) * (count - point.loads[1])
        if seconds <= remaining:
            requests[name] = count
            remaining -= seconds
    return requests


def _race_words(race: Race, repeat: AdaptiveRepeat, racing: int, missing: int) -> str:
    """Say how far the race is, and why cells that are open get no more loads."""
    counts = Counter(arm.loads for arm in race.ranking.of(Standing.WORSE, Standing.BEYOND))
    fallen = ", ".join(f"{count} after {counted(loads, 'load')}" for loads, count in sorted(counts.items()))
    parts = [f"{sum(counts.values())} of {len(race.ranking.arms)} fell ({fallen})" if counts else "no cell fell"]
    still_open = race.ranking.of(Standing.OPEN)
    if missing:
        parts.append(f"{counted(missing, 'load')} {'is' if missing == 1 else 'are'} missing")
    elif racing:
        parts.append(f"{counted(racing, 'cell')} {'gets' if racing == 1 else 'get'} more loads")
    elif race.wanted:
        parts.append(f"more loads would exceed `within: {units.duration(repeat.within or 0.0)}`")
    elif race.hopeless:
        parts.append(f"{counted(len(race.hopeless), 'cell')} given up: {repeat.most} loads would hardly tell")
    elif still_open:
        parts.append(f"{len(still_open)} undecided after {repeat.most} loads, the most that `repeat` allows")
    return f"race: {'; '.join(parts)}"


def _metric(evidence: GridEvidence, name: str, is_less_better: bool) -> ComparedMetric:
    unit = evidence.tables.units.get(name, "")
    return ComparedMetric() if name == QPS else ComparedMetric(name, unit, "lower" if is_less_better else "higher")


def _figures(point: Point, metric: str) -> dict[int, float]:
    """The figure of each load: the geometric mean of its runs."""
    return {load: confidence_intervals.exp(log_mean(runs)) for load, runs in point.values(metric).items()}


def _answer(ranking: Ranking, metric: ComparedMetric, effect: float) -> str:
    """7 of 64 cells are within 2 % of the best QPS (95 %): …"""
    total, within, unsure = len(ranking.arms), ranking.of(Standing.WITHIN), ranking.of(Standing.OPEN, Standing.WORSE)
    if _loads(ranking) < 2:
        name = f"the highest {metric.title}" if metric.better == "higher" else f"the lowest {metric.title}"
        return (
            f"{ranking.arms[0].arm} has {name} of {total} cells; with one load of each nobody knows if it is the best"
        )
    if not ranking.of(Standing.OPEN):
        remainder = f"; {len(unsure)} more may be, though they are not the best" if unsure else ""
        count = f"{len(within)} of {total} cells {'is' if len(within) == 1 else 'are'} within {percent(effect)}"
        return f"{count} of the best {metric.title} (95 %): {listed([arm.arm for arm in within])}{remainder}"
    candidates = ranking.candidates
    if len(candidates) == total and not within:
        return f"any of {total} cells may have the best {metric.title}{_farthest('; all are', candidates)}"
    sure = f"; {len(within)} of them surely within {percent(effect)} of it" if within else ""
    answer = f"the best {metric.title} of {total} cells is among {len(candidates)} (95 %)"
    answer += _farthest(", which are all", candidates)
    return f"{answer}{sure}: {listed([arm.arm for arm in candidates])}"


def _farthest(words: str, candidates: Sequence[Ranked]) -> str:
    """; all are within 4.1 % of it (95 %). Empty where an interval is too wide for that to say anything."""
    farthest = max(max(arm.high, 1 / arm.low if arm.low else math.inf) for arm in candidates) - 1
    return "" if farthest > FARTHEST else f"{words} within {percent(math.ceil(farthest * 1000) / 1000)} of it (95 %)"


def _base_words(ranking: Ranking, base: str | None) -> str:
    arm = next((arm for arm in ranking.arms if arm.arm == base), None)
    if arm is None or _loads(ranking) < 2:
        return ""
    ratio = _ratio_text(arm) if arm.loads > 1 else f"{units.times(arm.ratio)} (one load)"
    return f"the base, {arm.arm}, is {ratio} of the best"


def _ratio_text(arm: Ranked) -> str:
    if arm.low == arm.high == 1:
        return f"1{units.TIMES}"
    return units.ratio_with_interval(arm.ratio, arm.low, arm.high, units.TIMES)


def _ranking_table(title: str, ranking: Ranking, arms: Arms, metric: ComparedMetric, effect: float) -> Table:
    rows = []
    listed_arms = [arm for at, arm in enumerate(ranking.arms) if at < MOST_ROWS or arm.arm == arms.base]
    for arm in listed_arms:
        standing = STANDINGS[arm.standing].format(effect=percent(effect)) if arm.loads > 1 else NOTHING
        point = arms.points[arm.arm]
        ratio = Cell(
            _ratio_text(arm) if arm.loads > 1 else units.times(arm.ratio), "", arm.ratio, (arm.low, arm.high), standing
        )
        name = f"{arm.arm} (base)" if arm.arm == arms.base else arm.arm
        rows.append((Cell(name), Cell(figure_text(point, metric)), ratio, Cell(standing), Cell(str(arm.loads))))
    heads = (
        Column("cell", label=True),
        Column(metric.heading),
        Column("of the best"),
        Column("", is_text=True),
        Column("loads"),
    )
    omitted = len(ranking.arms) - len(listed_arms)
    return Table(
        title,
        heads,
        tuple(rows),
        notes=(f"and {counted(omitted, 'cell')} more, farther from the best",) if omitted else (),
    )


def _ranking_chart(title: str, ranking: Ranking, effect: float, in_race: bool) -> str:
    """Draw the best on top; hollow is what may be the best or not, grey what fell in a race."""
    marks, rows = PageMarks(), []
    has_intervals = in_race or all(arm.loads > 1 for arm in ranking.arms)
    for arm in ranking.arms[:MOST_ROWS]:
        fell = in_race and arm.standing in (Standing.WORSE, Standing.BEYOND)
        text = units.times(arm.ratio) + (f", fell after {counted(arm.loads, 'load')}" if fell else "")
        ends = (arm.low, arm.high) if has_intervals and arm.loads > 1 else None
        is_hollow = has_intervals and arm.standing in (Standing.OPEN, Standing.WORSE)
        rows.append(ChartRow("", arm.arm, arm.ratio, text, ends, is_hollow=is_hollow))
        marks[arm.arm] = GREY if fell else 0
    return chart_forms.ratios(Rows(title, "of the best", rows, marks, ("more", "less")), effect)


# Pareto: cells that no other one beats in all metrics


class Standings(NamedTuple):
    front: Sequence[str]  # by their means
    dominated: Mapping[str, str]  # surely -> by which


def _fronts(evidence: GridEvidence) -> Iterator[GridAnswer]:
    directions = evidence.plan.report.pareto
    metrics = [_metric(evidence, name, is_least) for name, is_least in directions]
    for section in evidence.sections if metrics else ():
        if any(all(point.values(metric.name) for metric in metrics) for point in section.points):
            arms = comparable_arms(evidence, section, [metric.name for metric in metrics])
            if len(arms.points) > 1:
                yield _front_of(evidence, section, metrics, arms)
            elif len(section.points) > 1:
                yield _too_few("pareto", f"cells that no other beats in {_all_of(metrics)}", section, arms)


def _front_of(evidence: GridEvidence, section: StepPoints, metrics: Sequence[ComparedMetric], arms: Arms) -> GridAnswer:
    standings = find_front(arms.points, metrics, evidence.setup.effect, evidence.setup.alpha)
    title = f"{section.step}: cells that no other beats in {_all_of(metrics)}"
    total, remaining = len(arms.points), [name for name in arms.points if name not in standings.dominated]
    count = len(standings.dominated)
    beaten = f"{count or 'none'} of {total} cells {'are' if count > 1 else 'is'} surely beaten in {_all_of(metrics)}"
    answer = f"{section.step}: {arms.caution}{beaten}"
    answer += f"; {len(remaining)} are not: {listed(remaining)}" if count else ""
    rows = []
    for name in sorted(remaining, key=lambda name: -(arms.points[name].spread(metrics[0].name) or (0,))[0]):
        cells = [Cell(figure_text(arms.points[name], metric)) for metric in metrics]
        rows.append(
            (
                Cell(f"{name} (base)" if name == arms.base else name),
                *cells,
                Cell("front" if name in standings.front else "perhaps"),
            )
        )
    heads = (Column("cell", label=True), *(Column(metric.heading) for metric in metrics), Column("", is_text=True))
    note = "front: no other cell has better means in all; perhaps: one has, but not surely"
    charts = tuple(_front_chart(title, pair, arms, standings) for pair in list(combinations(metrics, 2))[:2])
    return GridAnswer(
        "pareto",
        title,
        (answer, *arms.notes),
        (Table(f"{section.step}: front of {_all_of(metrics)}", heads, tuple(rows), notes=(note,)),),
        charts,
    )


def _all_of(metrics: Sequence[ComparedMetric]) -> str:
    names = [metric.title for metric in metrics]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def find_front(
    points: Mapping[str, Point], metrics: Sequence[ComparedMetric], effect: float, alpha: float
) -> Standings:
    """Find the front of the means, and the cells that one of it surely beats.

    Surely: by intervals that hold together for all pairs and metrics, it is worse by more than the smallest effect in
    no metric, and better by more than that in one."""
    means = {name: [_mean(point, metric) for metric in metrics] for name, point in points.items()}
    front = [name for name, mean in means.items() if not any(_beats(other, mean) for other in means.values())]
    pairs = [
        (name, other) for name in points if name not in front for other in front if _beats(means[other], means[name])
    ]
    words: dict[tuple[str, str], list[str]] = {pair: [] for pair in pairs}
    for metric in metrics:
        samples = [
            confidence_intervals.sample(points[other].values(metric.name), points[name].values(metric.name), name)
            for name, other in pairs
        ]
        for pair, interval in zip(pairs, confidence_intervals.intervals(samples, alpha / len(metrics)), strict=True):
            if interval is None:
                words[pair].append("")
                continue
            better = interval if metric.better == "higher" else confidence_intervals.inverse(interval)
            word = verdicts.verdict(better.low, better.high, effect)
            is_no_worse = better.low >= 1 / (1 + effect)
            words[pair].append(word if word == verdicts.FASTER else verdicts.SAME if is_no_worse else "")
    sure = {pair: all(parts) and verdicts.FASTER in parts for pair, parts in words.items()}
    return Standings(front, {name: other for (name, other), is_sure in sure.items() if is_sure})


def _mean(point: Point, metric: ComparedMetric) -> float:
    """The mean of the logarithms; more is better."""
    logs = [log_mean(runs) for runs in point.values(metric.name).values()]
    return (1 if metric.better == "higher" else -1) * units.mean(logs)


def _beats(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(first >= second for first, second in zip(one, other, strict=True)) and one != other


def _front_chart(title: str, metrics: Sequence[ComparedMetric], arms: Arms, standings: Standings) -> str:
    """Draw two metrics with their intervals; grey is surely beaten, hollow perhaps so."""
    x_metric, y_metric = metrics
    spots = {name: [_ends(point, metric) for metric in metrics] for name, point in arms.points.items()}
    width, foot, start = drawing.WIDE, 420.0, 70.0
    x = drawing.scale([end for ends, _ in spots.values() for end in ends], start, width - 14)
    y = drawing.scale([end for _, ends in spots.values() for end in ends], foot, 30)
    parts = [drawing.x_axis(x, (24, foot), x_metric.heading), drawing.y_axis(y, start, width - 14, y_metric.heading)]
    for name, (across, up) in sorted(spots.items(), key=lambda item: item[0] not in standings.dominated):
        is_beaten, spot = name in standings.dominated, (x(across[1]), y(up[1]))
        kind = "line" if is_beaten else "one"
        bars = drawing.line((x(across[0]), spot[1]), (x(across[2]), spot[1]), kind)
        bars += drawing.line((spot[0], y(up[0])), (spot[0], y(up[2])), kind)
        if is_beaten:
            parts.append(bars + drawing.line((spot[0] - 3, spot[1]), (spot[0] + 3, spot[1]), "load", 6))
        else:
            note = f"{name}: {figure_text(arms.points[name], x_metric)}, {figure_text(arms.points[name], y_metric)}"
            mark = drawing.shape(spot, 0, 5, name not in standings.front)
            parts.append(bars + drawing.of_arm(name, 0, mark, title=note))
    return drawing.svg(title, width, foot + 40, *parts)


def _ends(point: Point, metric: ComparedMetric) -> tuple[float, float, float]:
    means = point.means(metric.name)
    low, high = confidence_intervals.mean_interval(means) or (min(means), max(means))
    value = units.mean(means)
    return max(low, min(means) / 2), value, min(high, max(means) * 2)  # of two loads an interval has no end
