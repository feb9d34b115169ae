"""A claim as the report has it: what became of it at each of the points that it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from stepgrid.summarize.claims.claim_judgement import FAILS, HOLDS, UNDECIDED

Assignment = Mapping[str, str]  # axis -> label, of what the claim leaves open
ORDER = (FAILS, UNDECIDED, HOLDS)


@dataclass(frozen=True, slots=True)
class Case:
    """A claim at one of the points that it is about."""

    result: str
    where: str
    said: tuple[str, ...]  # the numbers of each comparison, or why there are none
    notes: tuple[str, ...] = ()  # of these numbers: of how many loads they are, what is assumed of them
    labels: Assignment = field(default_factory=dict)
    cells: tuple[str, ...] = ()  # that its figures come from
    wanted: int = 0  # loads of these cells, to confirm it

    @property
    def words(self) -> str:
        return "; ".join((*self.said, *self.notes))


@dataclass(frozen=True, slots=True)
class Claim:
    claim: str
    expect: str
    result: str
    cases: tuple[Case, ...]  # the worst first
    where: str = ""  # step=l.i1, data=cached: what all its points have in common

    @property
    def worst(self) -> tuple[Case, ...]:
        """Those that make it what it is."""
        return tuple(case for case in self.cases if case.result == self.result)

    @property
    def notes(self) -> tuple[str, ...]:
        """Those that all of several cases have."""
        if len(self.cases) < 2:
            return ()
        return tuple(note for note in self.cases[0].notes if all(note in case.notes for case in self.cases))


def with_cases(claim: Claim, cases: Sequence[Case]) -> Claim:
    """The worst first, which makes the claim what it is."""
    ordered = sorted(cases, key=lambda case: ORDER.index(case.result))
    return replace(claim, result=ordered[0].result if ordered else UNDECIDED, cases=tuple(ordered))
