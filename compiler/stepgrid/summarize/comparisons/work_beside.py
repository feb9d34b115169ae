"""The table of steps that ran beside others: what each did to the step that it ran beside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stepgrid.model import units
from stepgrid.model.table import NOTHING, Cell, Column, Table
from stepgrid.summarize.comparisons.comparison_axes import StepPoints
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.statistics.confidence_intervals import mean_interval

RAN, RATIO, P99 = "beside_seconds", "main_qps_ratio", "main_p99_ratio"
JUDGED = (RATIO, P99, RAN)  # metrics whose arms get verdicts
MOST_SENTENCES = 6
_FIGURES = (  # metric, heading, unit
    (RAN, "ran", "s"),
    ("beside_rounds", "rounds", ""),
    ("main_qps_before", "QPS before", ""),
    ("main_qps_during", "QPS meanwhile", ""),
    (P99, "p99", units.TIMES),
    ("main_recovery_seconds", "back at 95 %", "s"),
    ("main_qps_after_ratio", "QPS after", units.TIMES),
)


def beside_tables(sections: Sequence[StepPoints]) -> list[Table]:
    """Make a row for each point of a step that ran beside another one; nothing where there is none."""
    chosen = [section for section in sections if any({RAN, RATIO} & run.metrics.keys() for run in section.runs)]
    points = [(section, point) for section in chosen for point in section.points if point.spread(RAN) or cost(point)]
    if not points:
        return []
    axes = dict.fromkeys(name for section in chosen for name in section.names)
    figures = [entry for entry in _FIGURES if any(point.spread(entry[0]) for _, point in points)]
    heads = [Column(name, label=True) for name in ("step", *axes)]
    heads += [
        Column("cost of QPS", is_text=True),
        *(Column(head, unit=unit, is_text=True) for _, head, unit in figures),
    ]
    rows = tuple(
        (
            Cell(section.step),
            *(Cell(point.labels.get(name, NOTHING)) for name in axes),
            Cell(cost(point) or NOTHING),
            *(_mean(point, metric) for metric, _, _ in figures),
        )
        for section, point in points
    )
    sentences = [f"{section.step} costs {text}" for section in chosen if (text := "; ".join(_sentences(section)))]
    notes = ("cost and ratios: by the series of the step that it ran beside, while it ran / before it began",)
    return [Table("work beside work", tuple(heads), rows, before=tuple(sentences[:MOST_SENTENCES]), notes=notes)]


def cost(point: Point) -> str:
    """Say by how much QPS was less, with the interval over the loads: 18 % [15, 21]."""
    spread, ends = point.spread(RATIO), mean_interval(point.means(RATIO))
    if spread is None:
        return ""
    text = units.percent(1 - spread[0])
    return f"{text} [{100 * (1 - ends[1]):.3g}, {100 * (1 - ends[0]):.3g}]" if ends else text


def _sentences(section: StepPoints) -> Iterator[str]:
    """load/index costs 18 % [15, 21] of the QPS of load for 40 s in version=17; 9 % [7, 11] for 55 s in version=18"""
    main, _, _ = section.step.rpartition("/")
    words = f" of the QPS of {main}"
    for point in section.points:
        ran, share, ends = point.spread(RAN), cost(point), mean_interval(point.means(RATIO))
        if share:
            arm = section.point_name(point)
            is_open = ends is not None and ends[0] <= 1 <= ends[1]
            doubt, suffix = " (undecided)" if is_open else "", f" in {arm}" if arm else ""
            length = f" for {units.rate(ran[0])} s" if ran else ""  # one that was stopped has none
            yield f"{share}{doubt}{words}{length}{suffix}"
            words = ""


def _mean(point: Point, metric: str) -> Cell:
    spread = point.spread(metric)
    if spread is None:
        return Cell(NOTHING)
    return Cell(units.ratio(spread[0]) if metric.endswith("_ratio") else units.rate(spread[0]), value=spread[0])
