"""What packages conclude of the figures of a report: best cells, what matters, claims that hold, what is doubtful."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from stepgrid.model.plan import Plan
from stepgrid.model.table import Table
from stepgrid.summarize.comparisons.comparison import RatioIntervals
from stepgrid.summarize.comparisons.comparison_axes import StepPoints
from stepgrid.summarize.comparisons.decisions import LoadCosts
from stepgrid.summarize.comparisons.judgement import RatioEvidence
from stepgrid.summarize.data.tables_reader import Place, Tables
from stepgrid.summarize.setup import Links, ReportSetup


class GridAnswer(Struct, frozen=True):
    key: str  # best, pareto, effects: by which programs find it
    title: str
    sentences: tuple[str, ...]  # the first one is the answer
    tables: tuple[Table, ...] = ()
    charts: tuple[str, ...] = ()  # SVG
    loads: tuple[tuple[str, int, str], ...] = ()  # that would tell more: cell, loads, why
    points: tuple[Mapping[str, str], ...] = ()  # that a search would try next
    why: str = ""  # it would
    finalists: tuple[str, ...] = ()  # of a search, by the last stages of their first loads


class GridEvidence(Struct, frozen=True):
    """A report before its answers."""

    plan: Plan
    setup: ReportSetup
    sections: Sequence[StepPoints]  # the points of each measured step
    ratios: RatioEvidence
    intervals: RatioIntervals  # of the tables
    tables: Tables  # without what searches tried
    links: Links
    durability: Callable[[Place], Mapping[str, str] | None]  # what a step that writes promises to its class
    costs: LoadCosts = LoadCosts()


# answers: a GridAnswer, a JudgedClaim, a Ladder, a Doubt, or an Explanation (stepgrid/summarize/report.py)
AnswerGrid: TypeAlias = Callable[[GridEvidence], Iterable[Any]]
