"""Claims in words: which holds, fails or is undecided, with the numbers; what fails comes first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stepgrid.model.table import Cell, Column, Table
from stepgrid.summarize.claims.claim import ORDER, Case, Claim
from stepgrid.summarize.claims.claim_judgement import HOLDS

MOST = 3  # cases of a claim that are shown: the rest is said to be more


def lines(claims: Sequence[Claim]) -> list[str]:
    return list(_lines(claims))


def _lines(claims: Sequence[Claim]) -> Iterator[str]:
    for claim in ordered(claims):
        yield f"{claim.result}: {claim.claim}"
        yield f"  {claim.expect}{at_all(claim)}"
        yield from (f"  {case_words(case)}" for case in shown(claim))
        if more := left(claim):
            yield f"  {more}"


def ordered(claims: Sequence[Claim]) -> list[Claim]:
    return sorted(claims, key=lambda claim: ORDER.index(claim.result))


def at_all(claim: Claim) -> str:
    """Of how many points it is said, and where it is what it is."""
    if len(claim.cases) < 2:
        return ""
    if claim.result == HOLDS:
        return f", at all {len(claim.cases)} points"
    return f", {claim.result} at {len(claim.worst)} of {len(claim.cases)} points"


def shown(claim: Claim) -> tuple[Case, ...]:
    return claim.worst[:MOST]


def left(claim: Claim) -> str:
    more = len(claim.worst) - MOST
    return f"and {more} more" if more > 0 else ""


def case_words(case: Case) -> str:
    said = "; ".join(case.said)
    return f"{case.where}: {said}" if case.where else said


def table(claims: Sequence[Claim]) -> Table:
    """A row for each case, for formats that are read by programs."""
    heads = tuple(Column(name, label=True) for name in ("result", "claim", "expect", "where", "numbers"))
    rows = tuple(
        tuple(map(Cell, (case.result, claim.claim, claim.expect, case.where, "; ".join(case.said))))
        for claim in ordered(claims)
        for case in claim.cases
    )
    return Table("claims", heads, rows)
