"""A report of two sets of results, in which they are the arms and the first is the base."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stepgrid.summarize.report import Report, report
from stepgrid.summarize.side_by_side import reproduction, what_differs
from stepgrid.summarize.side_by_side.joined_tables import AXIS, joined
from stepgrid.summarize.side_by_side.matching_cells import Chosen, Match, matched
from stepgrid.summarize.side_by_side.result_set import ResultSet

SAME_RUNS = "the same runs on both sides: they reproduce nothing"


def side_by_side(first: ResultSet, second: ResultSet, chosen: Chosen) -> Report:
    """NotComparable says why there is none."""
    match = matched(first.header, second.header, chosen)
    found = report(_header(first, second, match), joined(first, second, match))
    tables = (table for section in found.sections for table in section.comparisons)
    again = (SAME_RUNS,) if _are_same(first, second) else reproduction.sentences(tables, found.effect)
    differs = (*again, *_differs(first, second, match))
    # tables that nobody asked for would say the ratios once more
    return replace(found, differs=differs, left_out=tuple(match.left_out), tables=(), long=())


def _are_same(first: ResultSet, second: ResultSet) -> bool:
    """An archive beside the results that it was made of would reproduce them at every point."""
    one, other = ({(run.place, run.attempt) for run in side.tables.runs if run.attempt} for side in (first, second))
    return bool(one and other) and (one <= other or other <= one)


def _differs(first: ResultSet, second: ResultSet, match: Match) -> Iterator[str]:
    yield f"measured: {first.days} -> {second.days}"
    yield from what_differs.sentences(first, second, match)


def _header(first: ResultSet, second: ResultSet, match: Match) -> Mapping[str, Any]:
    said = second.header["report"]
    return {
        **{name: second.header[name] for name in ("spec", "scale", "hardware", "digest")},
        "title": f"{second.header['title']}: {second.name} against {first.name}",
        "axes": [{"name": AXIS, "labels": [first.name, second.name], "steps": None}, *_axes(first, second, match)],
        "cells": [*_cells(first, match.first, match), *_cells(second, match.second, match)],
        "report": {**said, "base": {AXIS: first.name}, "tables": [], "claims": [], "within": None},
        "warnings": [],
        "across_hosts": True,
    }


def _axes(first: ResultSet, second: ResultSet, match: Match) -> Iterator[Mapping[str, Any]]:
    known = [{axis["name"]: axis for axis in side.header["axes"]} for side in (first, second)]
    for name in match.axes:
        one, other = (each[name] for each in known)
        labels = list(dict.fromkeys((*other["labels"], *one["labels"])))
        there = {dict(key).get(name) for key in match.common}
        yield {"name": name, "labels": [each for each in labels if each in there], "steps": _steps(one, other)}


def _steps(one: Mapping[str, Any], other: Mapping[str, Any]) -> Sequence[str] | None:
    """Those that the axis changes in either; None: all."""
    if one["steps"] is None or other["steps"] is None:
        return None
    return list(dict.fromkeys((*other["steps"], *one["steps"])))


def _cells(side: ResultSet, cells: Mapping[Any, str], match: Match) -> Iterator[Mapping[str, Any]]:
    known = {cell["id"]: cell for cell in side.header["cells"]}
    for key in match.common:
        yield {**known[cells[key]], "labels": {AXIS: side.name, **dict(key)}}
