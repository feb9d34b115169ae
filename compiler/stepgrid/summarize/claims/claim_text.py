"""Claims in words: which holds, fails or is undecided, with the numbers; in the order of the spec, as one may speak of
what the one before it says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from stepgrid.model.table import Cell, Column, Table
from stepgrid.summarize.claims.claim import ORDER, Case, Claim
from stepgrid.summarize.claims.claim_judgement import FAILS, HOLDS, UNDECIDED

VERBS = {FAILS: ("fails", "fail"), UNDECIDED: ("is undecided", "are undecided"), HOLDS: ("holds", "hold")}
NONE = "This spec makes no claims."
MOST_CASES = 3  # cases of a claim that are shown in the text: the page has all
NAMED = 6  # points of another outcome that are named


def lines(claims: Sequence[Claim]) -> list[str]:
    return list(_lines(claims))


def _lines(claims: Sequence[Claim]) -> Iterator[str]:
    if len(claims) > 1:
        yield count(claims)
    for claim in claims:
        yield f"{claim.result}: {claim.claim}"
        yield f"  {claim.expect}{at_all(claim)}"
        yield from (f"  {line}" for line in notes(claim))
        yield from (f"  {case_words(case, claim.notes)}" for case in shown(claim))
        yield from (f"  {line}" for line in rest(claim))


def count(claims: Sequence[Claim]) -> str:
    """6 claims: 1 fails, 2 are undecided, 3 hold"""
    found = Counter(claim.result for claim in claims)
    said = (f"{found[result]} {VERBS[result][found[result] > 1]}" for result in ORDER if found[result])
    return f"{len(claims)} claims: {', '.join(said)}"


def at_all(claim: Claim) -> str:
    """Where it is said, of how many points, and at how many it is what it is."""
    of = f", at {claim.where}" if claim.where else ""
    if len(claim.cases) < 2:
        return of
    if claim.result == HOLDS:
        return f"{of}{',' if of else ', at'} all {len(claim.cases)} points"
    return f"{of}, {claim.result} at {len(claim.worst)} of {len(claim.cases)} points"


def notes(claim: Claim) -> list[str]:
    """What is true of the numbers of all its points, once."""
    return [f"each: {'; '.join(claim.notes)}"] if claim.notes else []


def shown(claim: Claim) -> tuple[Case, ...]:
    return claim.worst[:MOST_CASES]


def rest(claim: Claim) -> Iterator[str]:
    """What is not shown: how many more, and where it came out otherwise."""
    if (more := len(claim.worst) - MOST_CASES) > 0:
        yield f"and {more} more, on the page"
    for result in ORDER:
        where = [case.where for case in claim.cases if case.result == result and result != claim.result]
        if where:
            named = [*where[:NAMED], *([f"and {len(where) - NAMED} more"] if len(where) > NAMED else [])]
            yield f"{VERBS[result][0]} at {'; '.join(named)}"


def case_words(case: Case, known: Collection[str] = ()) -> str:
    """Without the notes that are known."""
    said = "; ".join((*case.said, *(note for note in case.notes if note not in known)))
    return f"{case.where}: {said}" if case.where else said


def table(claims: Sequence[Claim]) -> Table:
    """A row for each case, for formats that are read by programs."""
    heads = tuple(Column(name, label=True) for name in ("result", "claim", "expect", "where", "numbers"))
    rows = tuple(
        tuple(map(Cell, (case.result, claim.claim, claim.expect, case.where, case.words)))
        for claim in claims
        for case in claim.cases
    )
    return Table("claims", heads, rows)
