"""A claim that fails is only suspected to, until loads that were measured afterwards fail it, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from stepgrid.model.plan import Json
from stepgrid.summarize.claims.claim import Case
from stepgrid.summarize.claims.claim_judgement import FAILS, UNDECIDED


class Confirmation(NamedTuple):
    first: int  # loads that suspect it
    fresh: int  # loads after these, which judge it alone

    @classmethod
    def of(cls, said: Mapping[str, Json]) -> Confirmation | None:
        found = said.get("confirm")
        return cls(**found) if isinstance(found, Mapping) else None  # type: ignore[arg-type]

    def is_first(self, load: int) -> bool:
        return load <= self.first

    def is_fresh(self, load: int) -> bool:
        return load > self.first


def confirmed(case: Case, later: Sequence[Case], wanted: Confirmation) -> Case:
    """With both numbers."""
    if case.result != FAILS:
        return case
    whole = wanted.first + wanted.fresh
    first, fresh = f"loads 1 to {wanted.first}: {case.words}", f"loads {wanted.first + 1} to {whole}"
    again = next((each for each in later if each.labels == case.labels), None)
    if again is None or not again.cells:
        return replace(case, result=UNDECIDED, said=(first, f"{fresh} are to confirm it"), notes=(), wanted=whole)
    word = "confirmed" if again.result == FAILS else "not confirmed"
    result = FAILS if again.result == FAILS else UNDECIDED
    return replace(case, result=result, said=(first, f"{word} by {fresh}: {again.words}"), notes=())
