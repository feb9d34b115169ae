"""The tables of two plans as those of one, whose axis `results` says which figures are of which.

A result that both have is one result. Where they have different results of one stage, the stage of the second gets
another name, as figures are found by stage and step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from stepgrid.summarize.data import series
from stepgrid.summarize.data.series import Place
from stepgrid.summarize.data.tables_reader import PastFigure, Run, Tables
from stepgrid.summarize.side_by_side.matching_cells import Key, Match
from stepgrid.summarize.side_by_side.result_set import ResultSet

AXIS = "results"
_OTHER = "@2"
Facts = Mapping[str, Mapping[str, Mapping[str, str]]]


def joined(first: ResultSet, second: ResultSet, match: Match) -> Tables:
    known = {run.place[0]: run.attempt for run in first.tables.runs}
    renamed = {
        run.place[0]: f"{run.place[0]}{_OTHER}"
        for run in second.tables.runs
        if known.get(run.place[0], run.attempt) != run.attempt
    }
    runs = [
        *_runs(first, match, match.first, {}, ""),
        *_runs(second, match, match.second, renamed, _OTHER),
    ]
    both = (first.tables, second.tables)
    return Tables(
        runs=tuple(_owned(runs)),
        series=series.join(both[0].series, both[1].series, lambda place: _place(place, renamed)),
        facts=_facts(both[0].facts, both[1].facts, renamed),
        units={**both[0].units, **both[1].units},
        history=tuple(_history((*both[0].history, *both[1].history), runs)),
    )


def _runs(
    side: ResultSet, match: Match, cells: Mapping[Key, str], renamed: Mapping[str, str], suffix: str
) -> Iterator[Run]:
    common = {*match.common}
    kept = {cell for key, cell in cells.items() if key in common}
    for run in side.tables.runs:
        if run.cell in kept:
            labels = {axis: run.labels[axis] for axis in match.axes if axis in run.labels}
            place = _place(run.place, renamed)
            yield replace(run, cell=f"{run.cell}{suffix}", labels={AXIS: side.name, **labels}, place=place)


def _place(place: Place, renamed: Mapping[str, str]) -> Place:
    return renamed.get(place[0], place[0]), place[1]


def _owned(runs: Iterable[Run]) -> Iterator[Run]:
    """Each measurement is of the first cell that has it."""
    owner: dict[Place, str] = {}
    for run in runs:
        first = owner.setdefault(run.place, run.cell)
        yield replace(run, same_as=None if first == run.cell else first)


def _facts(first: Facts, second: Facts, renamed: Mapping[str, str]) -> Facts:
    def subject(name: str) -> str:
        stage, slash, rest = name.partition("/")
        return f"{renamed.get(stage, stage)}{slash}{rest}"

    found = {scope: dict(subjects) for scope, subjects in first.items()}
    for scope, subjects in second.items():
        found.setdefault(scope, {}).update({subject(name): facts for name, facts in subjects.items()})
    return found


def _history(past: Iterable[PastFigure], runs: Iterable[Run]) -> Iterator[PastFigure]:
    """What both have is one figure; what is compared is no history."""
    compared = {(run.place[0].removesuffix(_OTHER), run.attempt) for run in runs}
    every = {(each.place, each.attempt): each for each in past}
    yield from (each for (place, attempt), each in every.items() if (place[0], attempt) not in compared)
