"""Claims of a spec, judged at each point that they leave open, by its loads, and confirmed by fresh ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from stepgrid.expand.scope import Label
from stepgrid.model import units
from stepgrid.model.plan import BUILD, ConfirmingLoads, Json, PlannedAxis, PlannedClaim
from stepgrid.model.records import replace
from stepgrid.model.table import group
from stepgrid.plan.report_check import (
    SIMILAR,
    ClaimComparison,
    ClaimError,
    Figure,
    Junction,
    Negation,
    Statement,
    comparisons,
    figures,
    parse_claim,
)
from stepgrid.plugins.layout import MARK, STEP
from stepgrid.summarize.claims import FAILS, HOLDS, ORDER, Assignment, ClaimCase, JudgedClaim, with_cases
from stepgrid.summarize.comparisons.builds import AS_SHIPPED, NO_VERDICT
from stepgrid.summarize.comparisons.comparison import DOUBT
from stepgrid.summarize.data.points import Point, choose_points, label
from stepgrid.summarize.report import GridEvidence
from stepgrid.summarize.report_tables import Caveat
from stepgrid.summarize.statistics.verdicts import UNDECIDED
from stepgrid_answers.claim_judgement import ClaimEvidence, ClaimOutcome, Leaf, decide, label_words, make_leaf

MOST_NUMBERS = 6  # comparisons of a case, such as the releases between which something is stable

Choice = tuple[dict[str, str], dict[Figure, Point]]  # labels that the claim leaves open, and the point of each figure


class _Scope(NamedTuple):
    axes: Sequence[PlannedAxis]
    points: Sequence[Point]
    caveat: Caveat
    evidence: ClaimEvidence

    def restrict(self, is_counted: Callable[[int], bool]) -> _Scope:
        """Forget the other loads."""
        points = [point for point in (point.of_loads(is_counted) for point in self.points) if point.runs]
        return self._replace(points=points, evidence=self.evidence.restrict(is_counted))


def answer_claims(evidence: GridEvidence) -> list[JudgedClaim]:
    """Judge the claims of a plan by the figures of a report."""
    axes, ratios = evidence.setup.axes, evidence.ratios
    points = [point for section in evidence.sections for point in section.points]

    def floor(metric: str, point: Point, other: Point) -> float | None:
        return ratios.floor(point, other, axes, metric)

    claim_evidence = ClaimEvidence(floor, evidence.intervals, ratios.effect, ratios.disturbance, limits=evidence.limits)
    return judge_claims(evidence.plan.report.claims, axes, points, ratios.caveat, claim_evidence)


def judge_claims(
    claims: Sequence[PlannedClaim],
    axes: Sequence[PlannedAxis],
    points: Sequence[Point],
    caveat: Caveat = lambda *_: None,
    evidence: ClaimEvidence = ClaimEvidence(),  # noqa: B008  # frozen
) -> list[JudgedClaim]:
    """Judge the claims of a spec; `caveat`: why two points are not to be compared, which their cases carry."""
    scope = _Scope(axes, points, caveat, evidence)
    return [_confirmed(claim, claim.confirm, scope) if claim.confirm else _judged(claim, scope) for claim in claims]


def ratios_by_load(claim: PlannedClaim, points: Sequence[Point]) -> tuple[float, ...]:
    """Return by how much a claim of one comparison holds in each load: above 1 it does.

    ClaimError where the claim is about more.
    """
    statement = parse_claim(claim.expect)
    if not isinstance(statement, ClaimComparison) or statement.sign in ("==", "!=", SIMILAR):
        raise ClaimError("a claim of one comparison by <, <=, > or >= is expected")
    choices = _choices(statement, claim.where, points)
    if len(choices) > 1:
        raise ClaimError(f"the claim is about {len(choices)} points of each build: one is expected")
    sides = [pair for _, chosen in choices for pair in make_leaf(statement, chosen, ClaimEvidence()).sides]
    if any(side <= 0 for pair in sides for side in pair):
        raise ClaimError("a side of the claim is not above zero")
    return tuple(rhs / lhs if statement.sign.startswith("<") else lhs / rhs for lhs, rhs in sides)


def _confirmed(claim: PlannedClaim, loads: ConfirmingLoads, scope: _Scope) -> JudgedClaim:
    """Judge by the first loads; where these fail, fresh ones alone decide."""
    first, fresh = loads.first, loads.fresh
    suspected = _judged(claim, scope.restrict(lambda load: load <= first))
    later = _judged(claim, scope.restrict(lambda load: load > first))
    cases = [
        _confirmed_case(case, later.cases, first, fresh) if case.result == FAILS else case for case in suspected.cases
    ]
    return with_cases(suspected, cases)


def _confirmed_case(case: ClaimCase, later: Sequence[ClaimCase], first: int, fresh: int) -> ClaimCase:
    """Carry the numbers of both."""
    suspicion, loads = f"loads 1 to {first}: {case.words}", f"loads {first + 1} to {first + fresh}"
    again = next((other for other in later if other.labels == case.labels), None)
    if again is None or not again.cells:
        numbers = suspicion, f"{loads} are to confirm it"
        return replace(case, result=UNDECIDED, numbers=numbers, notes=(), needed_loads=first + fresh)
    result, word = (FAILS, "confirmed") if again.result == FAILS else (UNDECIDED, "not confirmed")
    return replace(case, result=result, numbers=(suspicion, f"{word} by {loads}: {again.words}"), notes=())


def _judged(claim: PlannedClaim, scope: _Scope) -> JudgedClaim:
    statement = parse_claim(claim.expect, {axis.name: axis.labels for axis in scope.axes})
    where = claim.where
    choices = _choices(statement, where, scope.points, scope.evidence.limits)
    leaves = [[make_leaf(part, chosen, scope.evidence) for part in comparisons(statement)] for _, chosen in choices]
    outcomes = decide([leaf for row in leaves for leaf in row], scope.evidence.intervals.alpha)
    names = [STEP, *(axis.name for axis in scope.axes)]
    by_name = {name: {labels.get(name) for labels, _ in choices} for name in names}
    cases = []
    for (labels, chosen), row in zip(choices, leaves, strict=True):
        varying = [(name, labels[name]) for name in names if len(by_name[name]) > 1 and name in labels]
        case = _case(statement, row, outcomes)
        cells = tuple(dict.fromkeys(point.runs[0].cell for point in chosen.values()))
        case = replace(case, where=label_words(varying), labels=labels, cells=cells)
        cases.append(_with_caveats(case, chosen, scope.caveat))
    common = [
        (name, value)
        for name, values in by_name.items()
        if (name == STEP or name in where) and len(values) == 1 and (value := next(iter(values)))
    ]
    empty = ClaimCase(UNDECIDED, "", ("no cell of the sweep is at these points",))
    unjudged = JudgedClaim(claim.claim, claim.expect, UNDECIDED, (), label_words(common))
    return with_cases(unjudged, cases or [empty])


def _case(statement: Statement, row: Sequence[Leaf], outcomes: Mapping[int, ClaimOutcome]) -> ClaimCase:
    by_part = {id(leaf.comparison): outcomes[id(leaf)] for leaf in row}
    several = len({leaf.figures for leaf in row}) > 1
    mixed = len({outcome.result for outcome in by_part.values()}) > 1
    numbers = []
    for leaf in row:
        outcome = by_part[id(leaf.comparison)]
        heads = [outcome.result] * mixed + [leaf.figures] * bool(several and leaf.figures)
        numbers.append(": ".join((*heads, outcome.numbers)))
    if len(numbers) > MOST_NUMBERS:
        numbers.sort(key=lambda text: next((at for at, result in enumerate(ORDER) if text.startswith(result)), 0))
        numbers = units.first(numbers, MOST_NUMBERS)
    notes = dict.fromkeys(note for outcome in by_part.values() for note in outcome.notes)
    distance = min(outcome.distance for outcome in by_part.values())
    return ClaimCase(_result(statement, by_part), "", tuple(dict.fromkeys(numbers)), tuple(notes), distance=distance)


def _result(statement: Statement, outcomes: Mapping[int, ClaimOutcome]) -> str:
    """Combine the parts: an undecided one stays so, unless the others decide without it."""
    match statement:
        case ClaimComparison():
            return outcomes[id(statement)].result
        case Negation(part=part):
            return {HOLDS: FAILS, FAILS: HOLDS}.get(_result(part, outcomes), UNDECIDED)
        case Junction(all=is_all, parts=parts):
            results = {_result(part, outcomes) for part in parts}
            decisive, other = (FAILS, HOLDS) if is_all else (HOLDS, FAILS)
            return decisive if decisive in results else UNDECIDED if UNDECIDED in results else other


def _with_caveats(case: ClaimCase, chosen: Mapping[Figure, Point], caveat: Caveat) -> ClaimCase:
    """Add why points get no verdict, which leaves the claim open, and which loads failed.

    The report's warnings say how builds differ as shipped.
    """
    pairs = combinations(chosen.values(), 2)
    reasons = list(dict.fromkeys(reason for base, point in pairs if (reason := caveat(point, base))))
    shipped = [f"{MARK} {AS_SHIPPED}"] if any(reason.startswith(AS_SHIPPED) for reason in reasons) else []
    refused = [f"{MARK} {reason}" for reason in reasons if not reason.startswith(AS_SHIPPED)]
    losses = {label_words(figure.labels): point.losses for figure, point in chosen.items() if point.losses}
    failed = (f"{DOUBT} {': '.join(filter(None, row))}" for row in losses.items())
    is_open = any(reason.startswith(NO_VERDICT) for reason in reasons)
    return replace(case, result=UNDECIDED if is_open else case.result, notes=(*case.notes, *shipped, *refused, *failed))


def _choices(
    statement: Statement, where: Mapping[str, Json], points: Sequence[Point], limits: Mapping[str, Sequence[Point]] = {}
) -> list[Choice]:
    """List every way to have all figures at points that agree on what the claim leaves open."""
    sides = (side for part in comparisons(statement) for side in (part.lhs, part.rhs))
    choices: list[Choice] = [({}, {})]
    for figure in dict.fromkeys(figure for side in sides for figure in figures(side)):
        choices = _join(choices, figure, list(_points_of_figure(figure, where, limits.get(figure.metric, points))))
    return choices


def _points_of_figure(
    figure: Figure, where: Mapping[str, Json], points: Sequence[Point]
) -> Iterator[tuple[dict[str, str], Point]]:
    """List the points of a figure, each with the labels that the figure itself does not fix.

    A figure that names an axis is of a step which that axis touches.
    """
    fixed = dict(figure.labels)
    for point in choose_points(points, {**where, **fixed}):
        texts = ((axis, label(point, axis)) for axis in fixed)
        if all(text is not None and (axis in (BUILD, STEP) or Label(text) == fixed[axis]) for axis, text in texts):
            labels: Assignment = {**point.labels, STEP: point.step}
            yield {axis: value for axis, value in labels.items() if axis not in fixed}, point


def _join(choices: Sequence[Choice], figure: Figure, points: Sequence[tuple[dict[str, str], Point]]) -> list[Choice]:
    """Join by the axes that both have; an index has those that all of them have."""
    if not choices or not points:
        return []
    shared = sorted(set.intersection(*(set(labels) for labels, *_ in (*choices, *points))))
    index = group((tuple(labels.get(axis) for axis in shared), (labels, point)) for labels, point in points)
    return [
        ({**mine, **labels}, {**chosen, figure: point})
        for mine, chosen in choices
        for labels, point in index.get(tuple(mine.get(axis) for axis in shared), ())
        if all(mine.get(axis, value) == value for axis, value in labels.items())
    ]
