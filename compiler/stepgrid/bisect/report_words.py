"""The answer of a search in words and a table, for the terminal and the page."""

from __future__ import annotations

from collections.abc import Iterator

from stepgrid.bisect.findings import Findings, Row
from stepgrid.model import units
from stepgrid.model.table import NOTHING, Cell, Column, Table
from stepgrid.model.units import counted
from stepgrid.summarize.statistics.confidence_intervals import Interval

_ALMOST = 0.999


def title(found: Findings) -> str:
    request = found.request
    what = f"claim `{request.claim}`" if request.claim else f"{request.metric} of {request.step}"
    kind = "commit" if request.commits else "release"
    ends = f"{found.candidates[0].name} (good) to {found.candidates[-1].name} (bad)"
    return f"{what}, {request.family} {ends}: {counted(len(found.candidates) - 1, kind)} after the good one"


def answer(found: Findings) -> list[str]:
    return list(_answer(found)) if found.found else [f"not found: {found.why_not}"]


def _answer(found: Findings) -> Iterator[str]:
    assert found.found
    names = [each.name for each in found.suspects]
    first = "the first bad one is" if len(names) == 1 else "the first bad one is among"
    yield f"{first} {', '.join(names)} (probability {probability(found.found.probability)})"
    if len(names) > 1:
        yield f"{counted(len(names) - 1, 'candidate')} between the two neighbours could not be measured"
    figure = "the claim's ratio" if found.request.claim else found.request.metric
    if found.ratio and found.neighbours:
        good, bad = found.candidates[found.found.low].name, found.candidates[found.found.high].name
        yield f"{figure} after against before the change: {_ratio(found.ratio)}, by {counted(found.loads, 'load')}"
        yield f"{figure} of {bad} against {good}: {_ratio(found.neighbours)}"
    if found.odd:
        yield f"on neither level: {', '.join(found.odd)}. There may be more changes than one"


def _ratio(found: Interval) -> str:
    return units.ratio_with_interval(found.ratio, found.low, found.high)


def cost(found: Findings) -> str:
    builds = counted(len(found.rows), "build")
    noise = ""
    if found.change is not None:
        share = units.percent(round(float(found.change.noise[found.change.most_probable()]), 4))
        noise = f"; noise of a load: {share}"
    return f"{builds} of {len(found.candidates)} tried, {counted(found.loads, 'load')} measured{noise}"


def table(found: Findings) -> Table:
    figure = "claim" if found.request.claim else found.request.metric
    head = (
        Column("candidate", label=True),
        *(Column("date", label=True) for _ in range(found.request.commits)),
        Column("loads"),
        Column(figure),
        Column("first bad one"),
        Column("subject" if found.request.commits else "", is_text=True),
    )
    return Table("measured", head, tuple(_cells(found, row) for row in found.rows))


def _cells(found: Findings, row: Row) -> tuple[Cell, ...]:
    figure = NOTHING if row.figure is None else units.figure(row.figure)
    texts = [row.candidate.name, *([row.candidate.date] if found.request.commits else [])]
    texts += [str(len(row.reading.figures)), figure, probability(row.probability)]
    return tuple(map(Cell, (*texts, _remark(row))))


def _remark(row: Row) -> str:
    return f"skipped: {row.reading.lacking}" if row.reading.lacking else row.candidate.subject


def probability(share: float) -> str:
    """Certainty is never said."""
    if share > _ALMOST:
        return f"over {units.percent(_ALMOST)}"
    return f"under {units.percent(1 - _ALMOST)}" if share < 1 - _ALMOST else units.percent(share)
