"""What a report concludes of all cells of a step: the best of them, and those that no other beats in every metric.

Cells that did other work than the base, or void a condition, take no part and are named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from stepgrid.model import units
from stepgrid.model.metrics import QPS
from stepgrid.model.plan import PlannedBest
from stepgrid.model.table import NOTHING, Cell, Column, Table
from stepgrid.model.units import counted, percent
from stepgrid.summarize.charts import drawing, forms
from stepgrid.summarize.charts.drawing import PageMarks
from stepgrid.summarize.charts.forms import ChartRow, Rows
from stepgrid.summarize.comparisons.comparison import ComparedMetric, figure_text
from stepgrid.summarize.comparisons.comparison_axes import StepPoints
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.grid_answers import GridAnswer, GridEvidence
from stepgrid.summarize.statistics import confidence_intervals, verdicts
from stepgrid.summarize.statistics.confidence_intervals import log_mean
from stepgrid_investigate.arms import Arms, comparable_arms, listed
from stepgrid_investigate.best.of_many import Ranked, Ranking, Standing, rank_arms

MOST_ROWS = 20
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
    question = evidence.plan.report.best
    for section in evidence.sections:
        if question is None:
            return
        if question.step in (None, section.step) and any(point.values(question.metric) for point in section.points):
            arms = comparable_arms(evidence, section, [question.metric], question.where)
            if len(arms.points) > 1:
                yield _best_of(evidence, section, question, arms)


def _best_of(evidence: GridEvidence, section: StepPoints, question: PlannedBest, arms: Arms) -> GridAnswer:
    metric = _metric(evidence, question.metric, question.is_least)
    figures = {name: _figures(point, metric.name) for name, point in arms.points.items()}
    effect = evidence.setup.effect
    ranking = rank_arms(figures, effect, evidence.setup.alpha, question.is_least)
    title = f"{section.step}: {'least' if question.is_least else 'best'} {metric.title} of {len(figures)} cells"
    title += f" where {question.where}" if question.where else ""
    answer = f"{section.step}: {arms.caution}{_answer(ranking, metric, effect)}"
    sentences = (answer, *filter(None, [_base_words(ranking, arms.base)]), *arms.notes)
    name = f"{section.step}: {metric.title} of cells, and ratio to the best"
    table = _ranking_table(name, ranking, arms, metric, effect)
    return GridAnswer("best", title, sentences, (table,), (_ranking_chart(title, ranking, effect),))


def _metric(evidence: GridEvidence, name: str, is_less_better: bool) -> ComparedMetric:
    unit = evidence.units.get(name, "")
    return ComparedMetric() if name == QPS else ComparedMetric(name, unit, "lower" if is_less_better else "higher")


def _figures(point: Point, metric: str) -> dict[int, float]:
    """The figure of each load: the geometric mean of its runs."""
    return {load: confidence_intervals.exp(log_mean(runs)) for load, runs in point.values(metric).items()}


def _answer(ranking: Ranking, metric: ComparedMetric, effect: float) -> str:
    """7 of 64 cells are within 2 % of the best QPS (95 %): …"""
    total, within, unsure = len(ranking.arms), ranking.of(Standing.WITHIN), ranking.of(Standing.OPEN, Standing.WORSE)
    if max(arm.loads for arm in ranking.arms) < 2:
        name = f"the highest {metric.title}" if metric.better == "higher" else f"the lowest {metric.title}"
        return (
            f"{ranking.arms[0].arm} has {name} of {total} cells; with one load of each nobody knows if it is the best"
        )
    if not unsure:
        verb = "is" if len(within) == 1 else "are"
        names = listed([arm.arm for arm in within])
        return (
            f"{len(within)} of {total} cells {verb} within {percent(effect)} of the best {metric.title} (95 %): {names}"
        )
    candidates = ranking.candidates
    names = listed([arm.arm for arm in candidates])
    if len(candidates) == total:
        return f"any of {total} cells may have the best {metric.title}; more loads tell them apart"
    if len(candidates) == 1:
        further = f"{len(unsure)} may be within {percent(effect)}"
        return f"the best {metric.title} of {total} cells is that of {names} (95 %); {further}"
    sure = f"; {len(within)} of them surely within {percent(effect)} of it" if within else ""
    answer = f"the best {metric.title} of {total} cells is among {len(candidates)} (95 %)"
    return f"{answer}{sure}: {names}; more loads tell them apart"


def _base_words(ranking: Ranking, base: str | None) -> str:
    arm = next((arm for arm in ranking.arms if arm.arm == base), None)
    if arm is None or arm.loads < 2:
        return ""
    return f"the base, {arm.arm}, is {_ratio_text(arm)} of the best"


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


def _ranking_chart(title: str, ranking: Ranking, effect: float) -> str:
    """Draw the best on top; hollow is what may be the best or not."""
    marks = PageMarks()
    rows = [
        ChartRow(
            "",
            arm.arm,
            arm.ratio,
            units.times(arm.ratio),
            (arm.low, arm.high),
            "",
            arm.standing in (Standing.OPEN, Standing.WORSE),
        )
        for arm in ranking.arms[:MOST_ROWS]
    ]
    is_plain = any(arm.loads < 2 for arm in ranking.arms)
    rows = [ChartRow("", row.arm, row.value, row.text) for row in rows] if is_plain else rows
    for row in rows:
        marks[row.arm] = 0
    return forms.ratios(Rows(title, "of the best", rows, marks, ("more", "less")), effect)


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

    Surely: by intervals that hold together for all pairs of a metric, it is worse by more than the smallest effect in
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
        for pair, interval in zip(pairs, confidence_intervals.intervals(samples, alpha), strict=True):
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
