"""Claims of a report: outcomes, which a package decides, and their words, one line each or lines with all numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from stepgrid.model import units
from stepgrid.model.records import replace
from stepgrid.model.table import Table, word_table
from stepgrid.summarize.statistics.verdicts import UNDECIDED

HOLDS, FAILS = "holds", "fails"
ORDER = (FAILS, UNDECIDED, HOLDS)  # the worst first
MARKS = {HOLDS: "✔", FAILS: "✘", UNDECIDED: "?"}
VERBS = {FAILS: "fails", UNDECIDED: "is undecided", HOLDS: "holds"}
MOST_CASES = 3  # cases of a claim that the text has: the page has all
MOST_POINTS = 6  # points of another outcome that are named

Assignment = Mapping[str, str]  # axis -> label, of what the claim leaves open


class ClaimCase(Struct, frozen=True):
    """A claim at one of the points that it is about."""

    result: str
    where: str
    numbers: tuple[str, ...]  # of each comparison, or why there are none
    notes: tuple[str, ...] = ()  # of these numbers: of how many loads they are, what is assumed of them
    labels: Assignment = {}
    cells: tuple[str, ...] = ()  # that its figures come from
    needed_loads: int = 0  # of these cells, to confirm it
    distance: float = math.inf  # of a published figure from its bound

    @property
    def words(self) -> str:
        return "; ".join((*self.numbers, *self.notes))


class JudgedClaim(Struct, frozen=True):
    claim: str
    expect: str
    result: str
    cases: tuple[ClaimCase, ...]  # the worst first
    where: str = ""  # step=l.i1, data=cached: what all its points have in common

    @property
    def worst(self) -> tuple[ClaimCase, ...]:
        """Select the cases that decide its result."""
        return tuple(case for case in self.cases if case.result == self.result)

    @property
    def notes(self) -> tuple[str, ...]:
        """Select the notes that all of several cases have."""
        if len(self.cases) < 2:
            return ()
        return tuple(note for note in self.cases[0].notes if all(note in case.notes for case in self.cases))


def with_cases(claim: JudgedClaim, cases: Sequence[ClaimCase]) -> JudgedClaim:
    """Order the cases, the worst first, which gives the claim its result."""
    ordered = sorted(cases, key=lambda case: ORDER.index(case.result))
    return replace(claim, result=ordered[0].result if ordered else UNDECIDED, cases=tuple(ordered))


def brief_count(claims: Sequence[JudgedClaim]) -> str:
    """Claims 8: ✔ 2 hold ✘ 3 fail ? 3 undecided"""
    counts = Counter(claim.result for claim in claims)
    words = {HOLDS: ("holds", "hold"), FAILS: ("fails", "fail"), UNDECIDED: (UNDECIDED, UNDECIDED)}
    parts = [f"{MARKS[key]} {counts[key]} {verbs[counts[key] > 1]}" for key, verbs in words.items() if counts[key]]
    return f"Claims {len(claims)}: {' '.join(parts)}"


def brief_line(claim: JudgedClaim) -> str:
    """✘ fails at 1 of 4 points: hyper is faster: 0.90× [0.88, 0.93] (claimed ≥ 1×)"""
    numbers = brief_numbers(claim)
    start = f"{MARKS[claim.result]} {claim.result}{brief_points(claim)}: {claim.claim}"
    return f"{start}: {numbers}" if numbers else start


def brief_points(claim: JudgedClaim) -> str:
    return f" at {len(claim.worst)} of {len(claim.cases)} points" if len(claim.cases) > 1 else ""


def brief_numbers(claim: JudgedClaim) -> str:
    """Select the numbers of one comparison that decides the claim at its first point."""
    numbers = claim.worst[0].numbers if claim.worst else ()
    decisive = next((text for text in numbers if text.startswith(f"{claim.result}: ")), numbers[0] if numbers else "")
    return decisive.removeprefix(f"{claim.result}: ")


def lines(claims: Sequence[JudgedClaim]) -> Iterator[str]:
    """Write all claims in the order of the spec, as one may speak of what the one before it says."""
    if len(claims) > 1:
        yield brief_count(claims)
    for claim in claims:
        yield f"{claim.result}: {claim.claim}"
        yield f"  {claim.expect}{scope(claim)}"
        yield from (f"  {line}" for line in common_notes(claim))
        yield from (f"  {case_words(case, claim.notes)}" for case in first_cases(claim))
        yield from (f"  {line}" for line in other_cases(claim))


def scope(claim: JudgedClaim) -> str:
    """Say where it is claimed, of how many points, and at how many it has its result."""
    where = f", at {claim.where}" if claim.where else ""
    if len(claim.cases) < 2:
        return where
    if claim.result == HOLDS:
        return f"{where}{',' if where else ', at'} all {len(claim.cases)} points"
    return f"{where}, {claim.result} at {len(claim.worst)} of {len(claim.cases)} points"


def common_notes(claim: JudgedClaim) -> list[str]:
    return [f"each: {'; '.join(claim.notes)}"] if claim.notes else []


def first_cases(claim: JudgedClaim) -> tuple[ClaimCase, ...]:
    return claim.worst[:MOST_CASES]


def other_cases(claim: JudgedClaim) -> Iterator[str]:
    """Say how many more there are, and where it came out otherwise."""
    if (extra := len(claim.worst) - MOST_CASES) > 0:
        yield f"and {extra} more, on the page"
    for result in ORDER:
        points = [case.where for case in claim.cases if case.result == result != claim.result]
        if points:
            yield f"{VERBS[result]} at {'; '.join(units.first(points, MOST_POINTS))}"


def case_words(case: ClaimCase, common: Collection[str] = ()) -> str:
    """Write the numbers of a case and its notes but the common ones."""
    words = "; ".join((*case.numbers, *(note for note in case.notes if note not in common)))
    return f"{case.where}: {words}" if case.where else words


def table(claims: Sequence[JudgedClaim]) -> Table:
    """Make a row for each case, for formats that programs read."""
    cases = ((claim, case) for claim in claims for case in claim.cases)
    rows = ((case.result, claim.claim, claim.expect, case.where, case.words) for claim, case in cases)
    return word_table("claims", ("result", "claim", "expect", "where", "numbers"), rows)
