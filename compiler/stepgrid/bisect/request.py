"""What a search is asked for, and what it goes through: releases of a spec, or commits of a repository."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from stepgrid.errors import StepgridError

_DIGITS = 20


class SearchError(StepgridError):
    """What cannot be searched: a sentence or two."""


class Candidate(NamedTuple):
    """A release or a commit. `ref`: what its build declares, a version or a whole commit."""

    name: str
    ref: str
    date: str = ""
    subject: str = ""
    version: str = ""  # of a commit, as its tree says it


@dataclass(frozen=True, slots=True)
class Request:
    """Where `commits` holds, `good` and `bad` are whole commits; else they are versions."""

    spec: str
    scale: str | None
    only: str | None
    sets: tuple[str, ...]
    family: str  # the build as the spec names it
    version: str  # that the builds of commits declare
    commits: bool
    good: str
    bad: str
    step: str
    metric: str
    claim: str
    by: float

    @property
    def key(self) -> str:
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:_DIGITS]

    def label(self, candidate: Candidate) -> str:
        """Of its build."""
        return f"{self.family}-{candidate.name}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
