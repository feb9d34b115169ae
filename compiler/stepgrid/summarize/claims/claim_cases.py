"""What became of each claim: it holds, fails or is undecided, for all points that it leaves open, with the numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from stepgrid.expand.scope import Label
from stepgrid.model.plan import BUILD, Axis, Json
from stepgrid.model.status import Status
from stepgrid.plan.report_check import (
    ClaimError,
    Comparison,
    Figure,
    Junction,
    Negation,
    Statement,
    comparisons,
    figures,
    parse_claim,
)
from stepgrid.plugins.layout import MARK, STEP
from stepgrid.summarize.claims.claim import Assignment, Case, Claim, with_cases
from stepgrid.summarize.claims.claim_confirmation import Confirmation, confirmed
from stepgrid.summarize.claims.claim_judgement import (
    FAILS,
    HOLDS,
    UNDECIDED,
    ClaimEvidence,
    Leaf,
    Outcome,
    decided,
    leaf,
)
from stepgrid.summarize.claims.claim_numbers import words
from stepgrid.summarize.comparisons.builds import AS_SHIPPED, NO_VERDICT
from stepgrid.summarize.comparisons.comparison_table import DOUBT
from stepgrid.summarize.data.points import Point, choose_points, label
from stepgrid.summarize.table_blocks import Caveat, no_caveat

Chosen = Mapping[Figure, Point]


def claims(
    said: Sequence[Mapping[str, Json]],
    axes: Sequence[Axis],
    points: Sequence[Point],
    caveat: Caveat = no_caveat,
    beside: ClaimEvidence = ClaimEvidence(),  # noqa: B008  # frozen
) -> list[Claim]:
    """`caveat`: why two points are not to be compared; what a claim says of them carries it."""
    return [_claim(each, axes, points, caveat, beside) for each in said]


def _claim(
    said: Mapping[str, Json], axes: Sequence[Axis], points: Sequence[Point], caveat: Caveat, beside: ClaimEvidence
) -> Claim:
    """One that is to be confirmed is judged by the first loads, and where it fails by fresh ones alone."""
    confirmation = Confirmation.of(said)
    if confirmation is None:
        return _judged(said, axes, points, caveat, beside)
    first, fresh = (
        _judged(said, axes, _points(points, some), caveat, beside.some(some))
        for some in (confirmation.is_first, confirmation.is_fresh)
    )
    return with_cases(first, [confirmed(case, fresh.cases, confirmation) for case in first.cases])


def _points(points: Sequence[Point], some: Callable[[int], bool]) -> list[Point]:
    return [found for point in points if (found := point.of_loads(some)).runs]


def _judged(
    said: Mapping[str, Json], axes: Sequence[Axis], points: Sequence[Point], caveat: Caveat, beside: ClaimEvidence
) -> Claim:
    statement, where = parse_claim(str(said["expect"])), said.get("where") or {}
    assert isinstance(where, Mapping)
    found = list(_assignments(statement, where, points))
    leaves = [[leaf(each, chosen, _reason, beside) for each in comparisons(statement)] for _, chosen in found]
    outcomes = decided([each for row in leaves for each in row], beside.alpha)
    shown = _varying([labels for labels, _ in found], axes)
    cases = []
    for (labels, chosen), row in zip(found, leaves, strict=True):
        case = _case(statement, labels, row, outcomes, shown)
        cells = tuple(dict.fromkeys(point.runs[0].cell for point in chosen.values()))
        marked = _marked(case, _unlike(list(chosen.values()), caveat))
        losses = {words(figure.labels): point.losses for figure, point in chosen.items() if point.losses}
        survivors = (f"{DOUBT} {': '.join(filter(None, each))}" for each in losses.items())
        marked = replace(marked, notes=(*marked.notes, *survivors))
        cases.append(replace(marked, labels=labels, cells=cells))
    empty = [Case(UNDECIDED, "", ("no cell of the sweep is at these points",))]
    fixed = _fixed([labels for labels, _ in found], axes, where)
    return with_cases(Claim(str(said["claim"]), str(said["expect"]), UNDECIDED, (), fixed), cases or empty)


def loads_of(said: Mapping[str, Json], points: Sequence[Point]) -> tuple[float, ...]:
    """Of each load, by how much a claim of one comparison holds: above 1 it does. ClaimError where it says more."""
    statement = parse_claim(str(said["expect"]))
    if not isinstance(statement, Comparison) or statement.sign in ("==", "!="):
        raise ClaimError("a claim of one comparison by <, <=, > or >= is expected")
    where = said.get("where") or {}
    assert isinstance(where, Mapping)
    found = [leaf(statement, chosen, _reason, ClaimEvidence()) for _, chosen in _assignments(statement, where, points)]
    if len(found) > 1:
        raise ClaimError(f"the claim is about {len(found)} points of each build: one is expected")
    sides = [pair for each in found for pair in each.sides]
    if any(side <= 0 for pair in sides for side in pair):
        raise ClaimError("a side of the claim is not above zero")
    return tuple(right / left if statement.sign.startswith("<") else left / right for left, right in sides)


def _case(
    statement: Statement,
    labels: Assignment,
    row: Sequence[Leaf],
    outcomes: Mapping[int, Outcome],
    shown: Sequence[str],
) -> Case:
    known = {id(each.comparison): outcomes[id(each)] for each in row}
    where = words([(axis, labels[axis]) for axis in shown if axis in labels])
    several = len({each.of for each in row}) > 1
    mixed = len({each.result for each in known.values()}) > 1
    said = (
        f"{f'{found.result}: ' if mixed else ''}{f'{each.of}: ' if several and each.of else ''}{found.said}"
        for each in row
        for found in (known[id(each.comparison)],)
    )
    notes = dict.fromkeys(note for found in known.values() for note in found.notes)
    return Case(_result(statement, known), where, tuple(dict.fromkeys(said)), tuple(notes))


def _fixed(found: Sequence[Assignment], axes: Sequence[Axis], where: Mapping[str, Json]) -> str:
    """The step and what `where` asks for, as far as all cases have it in common."""
    names = [STEP, *(axis.name for axis in axes if axis.name in where)]
    every = {name: {labels.get(name) for labels in found} for name in names}
    return words([(name, at) for name, values in every.items() if len(values) == 1 and (at := next(iter(values)))])


def _unlike(points: Sequence[Point], caveat: Caveat) -> list[str]:
    """Each pair of builds once."""
    found = (caveat(point, base) for base, point in combinations(points, 2))
    return list(dict.fromkeys(why for why in found if why))


def _marked(case: Case, unlike: Sequence[str]) -> Case:
    """What gets no verdict in a table decides no claim; how builds differ as shipped, the warnings say."""
    open_ = any(why.startswith(NO_VERDICT) for why in unlike)
    shipped = [f"{MARK} {AS_SHIPPED}"] if any(why.startswith(AS_SHIPPED) for why in unlike) else []
    notes = (*case.notes, *shipped, *(f"{MARK} {why}" for why in unlike if not why.startswith(AS_SHIPPED)))
    return replace(case, result=UNDECIDED if open_ else case.result, notes=notes)


def _result(statement: Statement, known: Mapping[int, Outcome]) -> str:
    """What is undecided stays so, unless the rest decides without it."""
    match statement:
        case Comparison():
            return known[id(statement)].result
        case Negation(part=part):
            return {HOLDS: FAILS, FAILS: HOLDS}.get(_result(part, known), UNDECIDED)
        case Junction(all=every, parts=parts):
            found = {_result(part, known) for part in parts}
            first = FAILS if every else HOLDS
            return first if first in found else UNDECIDED if UNDECIDED in found else HOLDS if every else FAILS


def _reason(point: Point) -> str | None:
    return None if point.status == Status.DONE else point.status


def _varying(found: Sequence[Assignment], axes: Sequence[Axis]) -> list[str]:
    """The axes that tell the cases apart."""
    names = (STEP, *(axis.name for axis in axes))
    return [name for name in names if len({labels.get(name) for labels in found}) > 1]


def _assignments(
    statement: Statement, where: Mapping[str, Json], points: Sequence[Point]
) -> Iterator[tuple[Assignment, Chosen]]:
    """Every way to have all figures at points that agree on what the claim leaves open."""
    every = dict.fromkeys(figure for each in comparisons(statement) for figure in _figures(each))
    found: list[tuple[dict[str, str], dict[Figure, Point]]] = [({}, {})]
    for figure in every:
        found = _joined(found, figure, list(_places(figure, where, points)))
    yield from found


def _figures(comparison: Comparison) -> Iterator[Figure]:
    yield from figures(comparison.lhs)
    yield from figures(comparison.rhs)


def _places(
    figure: Figure, where: Mapping[str, Json], points: Sequence[Point]
) -> Iterator[tuple[dict[str, str], Point]]:
    """The points of a figure, each with the labels that the figure itself does not fix."""
    fixed = dict(figure.labels)
    wanted = {axis: said for axis, said in where.items() if axis not in fixed}
    for point in choose_points(points, {**wanted, **fixed}):
        if all(_has(point, axis, at) for axis, at in fixed.items()):
            yield {axis: at for axis, at in {**point.labels, STEP: point.step}.items() if axis not in fixed}, point


def _has(point: Point, axis: str, said: object) -> bool:
    """A figure that names an axis is of a step which that touches; where it does not, it is of no such thing."""
    found = label(point, axis)
    return found is not None and (axis in (BUILD, STEP) or Label(found) == said)


def _joined(
    found: Sequence[tuple[dict[str, str], dict[Figure, Point]]],
    figure: Figure,
    places: Sequence[tuple[dict[str, str], Point]],
) -> list[tuple[dict[str, str], dict[Figure, Point]]]:
    """By the axes that both have; those that all of them have are looked up."""
    if not found or not places:
        return []
    shared = sorted(set.intersection(*(set(labels) for labels, *_ in (*found, *places))))
    index: dict[tuple[str | None, ...], list[tuple[dict[str, str], Point]]] = {}
    for labels, point in places:
        index.setdefault(tuple(labels.get(axis) for axis in shared), []).append((labels, point))
    return [
        ({**mine, **labels}, {**chosen, figure: point})
        for mine, chosen in found
        for labels, point in index.get(tuple(mine.get(axis) for axis in shared), ())
        if all(mine.get(axis, at) == at for axis, at in labels.items())
    ]
