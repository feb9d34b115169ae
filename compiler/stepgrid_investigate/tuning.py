"""What a report of a search says: which points it tries next, or what its finalists are worth by fresh loads alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct

from stepgrid.model import units
from stepgrid.model.metrics import QPS
from stepgrid.model.plan import FINALISTS, PlannedTune
from stepgrid.model.records import replace
from stepgrid.model.table import NOTHING, Cell, Column, Table
from stepgrid.model.units import counted
from stepgrid.plugins.design import Row
from stepgrid.summarize.comparisons.comparison import ComparedMetric
from stepgrid.summarize.comparisons.comparison_axes import StepPoints
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.report import GridAnswer, GridEvidence
from stepgrid.summarize.statistics import verdicts
from stepgrid.summarize.statistics.confidence_intervals import Interval, intervals, sample, special
from stepgrid_investigate.arms import OPEN, Arms, comparable_arms
from stepgrid_investigate.best.proposals import SearchAxis, expectations, propose
from stepgrid_investigate.best.ranking import Standing, rank_arms
from stepgrid_page import chart_forms
from stepgrid_page.chart_forms import ChartRow, Rows
from stepgrid_page.drawing import PageMarks

BATCH = 8  # tries of a round


def answer_tune(evidence: GridEvidence) -> Iterator[GridAnswer]:
    tune, report = evidence.plan.tune, evidence.plan.report
    if tune is None:
        return
    directions = ((report.best.metric, report.best.is_least),) if report.best else report.pareto
    sections = [section for section in evidence.sections if tune.step in (None, section.step)]
    measured = [section for section in sections if any(_has(point, directions) for point in section.points)]
    if measured:
        yield Search(evidence, tune, measured[-1], directions).answer()


def _has(point: Point, directions: Sequence[tuple[str, bool]]) -> bool:
    return all(point.values(name) for name, _ in directions)


class Search(Struct, frozen=True, dict=True):
    """A search after a round: its tries are the first load of each cell, later ones confirm."""

    evidence: GridEvidence
    tune: PlannedTune
    section: StepPoints
    directions: Sequence[tuple[str, bool]]  # metrics, each with whether less is better

    def answer(self) -> GridAnswer:
        is_over = bool(self._finalists)
        if is_over and len(self.directions) == 1:
            return self._confirmed()
        name, total = self.section.step, len(self._rows)
        title = f"{name}: a search of {math.prod(len(axis.labels) for axis in self.tune.axes):,} points"
        best = max(self._values, key=lambda row: self._values[row] or -math.inf, default=None)
        answer = f"{name}: {counted(total, 'point')} tried"
        answer += (
            f"; the best try, which luck helped, is {self._name(best)}" if best and len(self.directions) == 1 else ""
        )
        points = () if is_over or self._is_waiting else tuple(map(self._labels, self._next_rows()))
        finalists = () if is_over or self._is_waiting or points else tuple(self._confirming())
        if not (is_over or self._is_waiting or points or finalists):
            answer += f"; `budget: {units.duration(self.tune.budget or 0)}` leaves no time for fresh loads of the best"
        goal = "confirm what is best" if len(self.directions) == 1 else "confirm the front"
        why = f"search: {counted(total, 'point')} tried, {len(points)} more" if points else f"search: {goal}"
        return GridAnswer("tune", title, (answer, *self._tries.notes), points=points, why=why, finalists=finalists)

    # Tries

    @cached_property
    def _tries(self) -> Arms:
        first = tuple(point.of_loads(lambda load: load == 1) for point in self.section.points)
        return self._arms(first)

    def _arms(self, points: Sequence[Point]) -> Arms:
        best = self.evidence.plan.report.best
        section = replace(self.section, points=tuple(point for point in points if point.runs))
        return comparable_arms(
            self.evidence, section, [name for name, _ in self.directions], best.where if best else None
        )

    @cached_property
    def _rows(self) -> Mapping[Row, Point]:
        rows = {}
        for point in self.section.points:
            labels = point.runs[0].labels
            if all(labels.get(axis.name) in axis.labels for axis in self.tune.axes):
                rows[tuple(axis.labels.index(labels[axis.name]) for axis in self.tune.axes)] = point
        return rows

    @property
    def _is_waiting(self) -> bool:
        return any(point.status in OPEN for point in self._rows.values())

    @cached_property
    def _values(self) -> dict[Row, float | None]:
        """Map each try to what is searched for, larger is better; None where it takes no part."""
        figures = {id_: self._logs(point) for id_, point in self._tries.points.items()}
        names = {row: self.section.point_name(point) for row, point in self._rows.items()}
        if len(self.directions) == 1:
            return {row: figures[name][0] if name in figures else None for row, name in names.items()}
        # a weight of each metric, drawn anew in each round, leads to another part of the front
        weights = np.random.default_rng([self.tune.seed, len(names)]).dirichlet(np.ones(len(self.directions)))
        logs = np.array(list(figures.values())) if figures else np.zeros((0, len(self.directions)))
        widths = np.maximum(np.ptp(logs, axis=0), 1e-9) if len(logs) else np.ones(len(self.directions))
        losses = (weights * (logs.max(axis=0, initial=-math.inf) - logs) / widths).max(axis=1) if len(logs) else logs
        values = dict(zip(figures, (-losses).tolist(), strict=True))
        return {row: values.get(name) for row, name in names.items()}

    def _logs(self, point: Point) -> list[float]:
        return [(-1 if less else 1) * math.log(point.means(name)[0]) for name, less in self.directions]

    @cached_property
    def _axes(self) -> list[SearchAxis]:
        return [
            SearchAxis(axis.name, len(axis.labels), all(units.number(label) is not None for label in axis.labels))
            for axis in self.tune.axes
        ]

    def _next_rows(self) -> list[Row]:
        added = {tuple(axis.labels.index(point[axis.name]) for axis in self.tune.axes) for point in self.tune.points}
        forbidden: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
        for labels in self.tune.forbidden:
            forbidden.setdefault(tuple(labels), set()).add(tuple(labels.values()))

        def allows(row: Row) -> bool:
            labels = self._labels(row)
            return row not in added and not any(
                tuple(map(labels.__getitem__, names)) in values for names, values in forbidden.items()
            )

        return propose(self._axes, self._values, self._room, allows, self.tune.seed)

    @property
    def _room(self) -> int:
        """Count the tries of the next round: what confirms them has its time, too."""
        costs, cells = self.evidence.costs, [point.runs[0].cell for point in self._rows.values()]
        room = BATCH if self.tune.tries is None else min(BATCH, self.tune.tries - len(cells))
        if costs.spent > 0 and self._remaining_s < math.inf:
            try_s = (costs.seconds(cells) - costs.seconds(cells[:1])) / max(len(cells) - 1, 1) or costs.spent
            room = min(room, int((self._remaining_s - self._confirming_s(self._contenders(FINALISTS))) / try_s))
        return max(room, 0)

    def _confirming(self) -> list[str]:
        """List the finalists and the base; fewer where the budget has no time for the fresh loads of all."""
        for count in range(FINALISTS, 0, -1):
            points = self._contenders(count)
            if self._confirming_s(points) <= self._remaining_s:
                return [self._last_stage(point) for point in points]
        return []

    def _contenders(self, count: int) -> list[Point]:
        """List the best by the model, with the best try, or tries of the whole front; and the base."""
        base = [row for row in self._rows if self._name(row) == self._tries.base]
        return [self._rows[row] for row in dict.fromkeys([*self._ranked[:count], *base])] if self._ranked else []

    @cached_property
    def _ranked(self) -> list[Row]:
        figures = {row: value for row, value in self._values.items() if value is not None}
        expected = expectations(self._axes, figures) if figures else {}
        ranked = sorted(figures, key=lambda row: -expected[row])
        first = [*ranked[: FINALISTS - 1], *sorted(figures, key=lambda row: -figures[row])[:1]]
        if figures and len(self.directions) > 1:
            names = {self._name(row): row for row in figures}
            logs = {names[name]: self._logs(point) for name, point in self._tries.points.items() if name in names}
            first = spread_front(logs, FINALISTS)
        return list(dict.fromkeys([*first, *ranked]))

    def _confirming_s(self, points: Sequence[Point]) -> float:
        return self.tune.confirm * self.evidence.costs.seconds([point.runs[0].cell for point in points])

    @property
    def _remaining_s(self) -> float:
        return math.inf if self.tune.budget is None else self.tune.budget - self.evidence.costs.spent

    def _last_stage(self, point: Point) -> str:
        return self._last_stages[point.runs[0].cell]

    @cached_property
    def _last_stages(self) -> Mapping[str, str]:
        """Map each cell to the last stage of its first load."""
        return {cell.id: cell.repeats[0].stages[-1] for cell in self.evidence.plan.cells}

    @cached_property
    def _finalists(self) -> list[Point]:
        """List the finalists that this search has chosen; other specs may have loads of the same cells."""
        return [point for point in self.section.points if self._last_stage(point) in self.tune.finalists]

    def _name(self, row: Row) -> str:
        return self.section.point_name(self._rows[row])

    def _labels(self, row: Row) -> Mapping[str, str]:
        return {axis.name: axis.labels[at] for axis, at in zip(self.tune.axes, row, strict=True)}

    # What fresh loads say

    def _confirmed(self) -> GridAnswer:
        (name, is_least), effect = self.directions[0], self.evidence.setup.effect
        metric = ComparedMetric() if name == QPS else ComparedMetric(name, self.evidence.tables.units.get(name, ""))
        fresh = [point.of_loads(lambda load: load > 1) for point in self._finalists]
        arms, notes = self._judged(self._arms(fresh), name)
        title = f"{self.section.step}: {metric.title} of the finalists by fresh loads"
        if waiting := sum(any(run.status in OPEN for run in point.runs) for point in fresh):
            answer = f"{counted(waiting, 'finalist')} {'waits' if waiting == 1 else 'wait'} for fresh loads"
            return GridAnswer("tune", title, (f"{self.section.step}: {answer}", *notes))
        if not arms.points:
            answer = f"{self.section.step}: no finalist has figures of two fresh loads"
            return GridAnswer("tune", title, (answer, *notes))
        values = {arm: point.values(name) for arm, point in arms.points.items()}
        figures = {arm: {load: units.mean(runs) for load, runs in loads.items()} for arm, loads in values.items()}
        ranking = rank_arms(figures, effect, is_less_better=is_least)
        base = values.get(arms.base or "", {})
        rivals = [arm for arm in values if arm != arms.base] if base else []
        ratios = dict(zip(rivals, intervals([sample(values[arm], base, "base") for arm in rivals]), strict=True))
        chosen = ranking.arms[0].arm
        tries = {arm: point.means(name)[0] for arm, point in self._tries.points.items()}
        luckiest = (min if is_least else max)(tries, key=lambda arm: tries[arm])
        texts = {arm: self._figure(point, metric, len(values)) for arm, point in arms.points.items()}
        fresh_figure = f"{texts[chosen]} by {counted(len(values[chosen]), 'fresh load')}"
        sentences = [self._answer(chosen, ratios.get(chosen), fresh_figure, metric, arms)]
        lucky = f"the best of {counted(len(self._rows), 'try').replace('trys', 'tries')} showed"
        lucky += f" {units.short_figure(tries[luckiest], metric.unit)}"
        if luckiest in texts:
            lucky += f", and {'its' if luckiest == chosen else f'{luckiest}, by'} fresh loads {texts[luckiest]}"
        within = ranking.of(Standing.WITHIN)
        sentences += [
            lucky,
            f"{len(within)} of {len(values)} are surely within {units.percent(effect)} of the best of them",
        ]
        rows = []
        for arm in ranking.arms:
            ratio = ratios.get(arm.arm)
            text = units.ratio_with_interval(ratio.ratio, ratio.low, ratio.high, units.TIMES) if ratio else NOTHING
            tried = units.short_figure(tries[arm.arm], metric.unit) if arm.arm in tries else NOTHING
            label = f"{arm.arm} (base)" if arm.arm == arms.base else arm.arm
            ends = (ratio.low, ratio.high) if ratio else None
            rows.append(
                (Cell(label), Cell(tried), Cell(texts[arm.arm]), Cell(text, "", ratio.ratio if ratio else None, ends))
            )
        heads = (Column("cell", label=True), Column("its try"), Column("confirmed"), Column("of the base"))
        table = Table(title, heads, tuple(rows), notes=("its try chose it, so that luck is in it",))
        charts = (_chart(title, ratios, effect),) if ratios else ()
        return GridAnswer("tune", title, (*sentences, *notes, *self._tries.notes), (table,), charts)

    def _judged(self, arms: Arms, metric: str) -> tuple[Arms, tuple[str, ...]]:
        """Leave out what has no two figures, which have no interval; name all that lack a fresh load."""
        counts = {arm: (len(point.values(metric)), point.loads[1]) for arm, point in arms.points.items()}
        losses = [
            f"{arm}: figures of {count} of {counted(planned, 'fresh load')}"
            for arm, (count, planned) in counts.items()
            if count < planned
        ]
        points = {arm: point for arm, point in arms.points.items() if counts[arm][0] > 1}
        base = arms.base if arms.base in points else None
        return arms._replace(points=points, base=base), (*losses, *arms.notes)

    def _answer(self, chosen: str, ratio: Interval | None, fresh: str, metric: ComparedMetric, arms: Arms) -> str:
        if ratio is None:
            reason = "no finalist is better than the base" if chosen == arms.base else "the base has no figure"
            return f"{self.section.step}: {arms.caution}{chosen}: {metric.title} {fresh}; {reason}"
        text = units.ratio_with_interval(ratio.ratio, ratio.low, ratio.high, units.TIMES)
        word = verdicts.verdict(ratio.low, ratio.high, self.evidence.setup.effect)
        doubt = f", {word}" if word in (*verdicts.OPEN, verdicts.SAME) else ""
        name = f"{self.section.step}: {arms.caution}{chosen}"
        return f"{name} has {text} the {metric.title} of the base{doubt} (95 %): {fresh}"

    def _figure(self, point: Point, metric: ComparedMetric, finalists: int) -> str:
        """Write a figure with an interval that holds for all finalists together, as one of them is chosen."""
        low, high = figure_interval(point.means(metric.name), finalists)
        return f"{units.short_figure(units.mean(point.means(metric.name)), metric.unit)} {units.margin(low, high)}"


def spread_front(logs: Mapping[Row, Sequence[float]], count: int) -> list[Row]:
    """List tries that no other beats in all metrics: the ends, then what is farthest from those before."""
    tries = np.array(list(logs.values()))
    is_beaten = [((tries >= one).all(axis=1) & (tries > one).any(axis=1)).any() for one in tries]
    rows = [row for row, is_out in zip(logs, is_beaten, strict=True) if not is_out]
    figures = np.array([logs[row] for row in rows])
    figures /= np.maximum(np.ptp(figures, axis=0), 1e-9)
    order = list(dict.fromkeys(figures.argmax(axis=0).tolist()))
    while len(order) < min(count, len(rows)):
        distances = np.abs(figures[:, None] - figures[order]).max(axis=2).min(axis=1)
        distances[order] = -1
        order.append(int(distances.argmax()))
    return [rows[index] for index in order]


def figure_interval(loads: Sequence[float], finalists: int, alpha: float = 0.05) -> tuple[float, float]:
    """Return Student's interval of the logarithms, of so many figures that all are to hold."""
    logs = np.log(loads)
    reach = (
        special("stdtrit", len(logs) - 1, 1 - alpha / 2 / finalists) * float(logs.std(ddof=1)) / math.sqrt(len(logs))
    )
    return math.exp(float(logs.mean()) - reach), math.exp(float(logs.mean()) + reach)


def _chart(title: str, ratios: Mapping[str, Interval | None], effect: float) -> str:
    marks, rows = PageMarks(), []
    for arm, ratio in ratios.items():
        if ratio is not None:
            ends = (ratio.low, ratio.high)
            is_open = verdicts.verdict(ratio.low, ratio.high, effect) in verdicts.OPEN
            rows.append(ChartRow("", arm, ratio.ratio, units.times(ratio.ratio), ends, is_hollow=is_open))
            marks[arm] = 0
    return chart_forms.ratios(Rows(title, "of the base", rows, marks, ("more", "less")), effect)
