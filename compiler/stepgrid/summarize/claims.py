"""Claims of a report: their outcomes, one line each for the brief list, and the lines with all numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from stepgrid.model.table import Cell, Column, Table

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
ORDER = (FAILS, UNDECIDED, HOLDS)  # the worst first
MARKS = {HOLDS: "✔", FAILS: "✘", UNDECIDED: "?"}
VERBS = {FAILS: ("fails", "fail"), UNDECIDED: ("is undecided", "are undecided"), HOLDS: ("holds", "hold")}
NONE = "This spec makes no claims."
MOST_CASES = 3  # cases of a claim that the text has: the page has all
MOST_POINTS = 6  # points of another outcome that are named

Assignment = Mapping[str, str]  # axis -> label, of what the claim leaves open


@dataclass(frozen=True, slots=True)
class Case:
    """A claim at one of the points that it is about."""

    result: str
    where: str
    numbers: tuple[str, ...]  # of each comparison, or why there are none
    notes: tuple[str, ...] = ()  # of these numbers: of how many loads they are, what is assumed of them
    labels: Assignment = field(default_factory=dict)
    cells: tuple[str, ...] = ()  # that its figures come from
    needed_loads: int = 0  # of these cells, to confirm it

    @property
    def words(self) -> str:
        return "; ".join((*self.numbers, *self.notes))


@dataclass(frozen=True, slots=True)
class Claim:
    claim: str
    expect: str
    result: str
    cases: tuple[Case, ...]  # the worst first
    where: str = ""  # step=l.i1, data=cached: what all its points have in common

    @property
    def worst(self) -> tuple[Case, ...]:
        """Select the cases that decide its result."""
        return tuple(case for case in self.cases if case.result == self.result)

    @property
    def notes(self) -> tuple[str, ...]:
        """Select the notes that all of several cases have."""
        if len(self.cases) < 2:
            return ()
        return tuple(note for note in self.cases[0].notes if all(note in case.notes for case in self.cases))


def with_cases(claim: Claim, cases: Sequence[Case]) -> Claim:
    """Order the cases, the worst first, which gives the claim its result."""
    ordered = sorted(cases, key=lambda case: ORDER.index(case.result))
    return replace(claim, result=ordered[0].result if ordered else UNDECIDED, cases=tuple(ordered))


def brief_count(claims: Sequence[Claim]) -> str:
    """Claims 8: ✔ 2 hold ✘ 3 fail ? 3 undecided"""
    counts = Counter(claim.result for claim in claims)
    words = {HOLDS: VERBS[HOLDS], FAILS: VERBS[FAILS], UNDECIDED: (UNDECIDED, UNDECIDED)}
    parts = (f"{MARKS[result]} {counts[result]} {words[result][counts[result] > 1]}" for result in words)
    return f"Claims {len(claims)}: {' '.join(part for part in parts if ' 0 ' not in part)}"


def brief_line(claim: Claim) -> str:
    """✘ fails at 1 of 4 points: hyper is faster: 0.90× [0.88, 0.93] (claimed ≥ 1×)"""
    numbers = brief_numbers(claim)
    start = f"{MARKS[claim.result]} {claim.result}{brief_points(claim)}: {claim.claim}"
    return f"{start}: {numbers}" if numbers else start


def brief_points(claim: Claim) -> str:
    return f" at {len(claim.worst)} of {len(claim.cases)} points" if len(claim.cases) > 1 else ""


def brief_numbers(claim: Claim) -> str:
    """Select the numbers of one comparison that decides the claim at its first point."""
    numbers = claim.worst[0].numbers if claim.worst else ()
    decisive = next((text for text in numbers if text.startswith(f"{claim.result}: ")), numbers[0] if numbers else "")
    return decisive.removeprefix(f"{claim.result}: ")


def lines(claims: Sequence[Claim]) -> list[str]:
    """Write all claims in the order of the spec, as one may speak of what the one before it says."""
    return list(_lines(claims))


def _lines(claims: Sequence[Claim]) -> Iterator[str]:
    if len(claims) > 1:
        yield count(claims)
    for claim in claims:
        yield f"{claim.result}: {claim.claim}"
        yield f"  {claim.expect}{scope(claim)}"
        yield from (f"  {line}" for line in common_notes(claim))
        yield from (f"  {case_words(case, claim.notes)}" for case in first_cases(claim))
        yield from (f"  {line}" for line in other_cases(claim))


def count(claims: Sequence[Claim]) -> str:
    """6 claims: 1 fails, 2 are undecided, 3 hold"""
    counts = Counter(claim.result for claim in claims)
    parts = (f"{counts[result]} {VERBS[result][counts[result] > 1]}" for result in ORDER if counts[result])
    return f"{len(claims)} claims: {', '.join(parts)}"


def scope(claim: Claim) -> str:
    """Say where it is claimed, of how many points, and at how many it has its result."""
    where = f", at {claim.where}" if claim.where else ""
    if len(claim.cases) < 2:
        return where
    if claim.result == HOLDS:
        return f"{where}{',' if where else ', at'} all {len(claim.cases)} points"
    return f"{where}, {claim.result} at {len(claim.worst)} of {len(claim.cases)} points"


def common_notes(claim: Claim) -> list[str]:
    return [f"each: {'; '.join(claim.notes)}"] if claim.notes else []


def first_cases(claim: Claim) -> tuple[Case, ...]:
    return claim.worst[:MOST_CASES]


def other_cases(claim: Claim) -> Iterator[str]:
    """Say how many more there are, and where it came out otherwise."""
    if (extra := len(claim.worst) - MOST_CASES) > 0:
        yield f"and {extra} more, on the page"
    for result in ORDER:
        points = [case.where for case in claim.cases if case.result == result != claim.result]
        if points:
            extra = len(points) - MOST_POINTS
            yield f"{VERBS[result][0]} at {'; '.join([*points[:MOST_POINTS], *[f'and {extra} more'] * (extra > 0)])}"


def case_words(case: Case, common: Collection[str] = ()) -> str:
    """Write the numbers of a case and its notes but the common ones."""
    words = "; ".join((*case.numbers, *(note for note in case.notes if note not in common)))
    return f"{case.where}: {words}" if case.where else words


def table(claims: Sequence[Claim]) -> Table:
    """Make a row for each case, for formats that programs read."""
    heads = tuple(Column(name, label=True) for name in ("result", "claim", "expect", "where", "numbers"))
    rows = tuple(
        tuple(map(Cell, (case.result, claim.claim, claim.expect, case.where, case.words)))
        for claim in claims
        for case in claim.cases
    )
    return Table("claims", heads, rows)
