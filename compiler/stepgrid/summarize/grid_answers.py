"""What packages conclude of all figures of a step together, beside comparisons of pairs: the best, what matters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from stepgrid.model.plan import Plan
from stepgrid.model.table import Table
from stepgrid.summarize.comparisons.comparison_axes import StepPoints
from stepgrid.summarize.comparisons.decisions import LoadCosts
from stepgrid.summarize.comparisons.judgement import RatioEvidence
from stepgrid.summarize.setup import ReportSetup


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
    """A report before its grid_answers."""

    plan: Plan
    setup: ReportSetup
    sections: Sequence[StepPoints]  # the points of each measured step
    ratios: RatioEvidence
    units: Mapping[str, str]  # of metrics, also of those that a spec names
    costs: LoadCosts = LoadCosts()


AnswerGrid: TypeAlias = Callable[[GridEvidence], Iterable[GridAnswer]]
