"""The `--set` values that turn a spec into one of some candidates alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from stepgrid.bisect.request import Candidate, Request

_FIXED = tuple(f"repeat.{key}=null" for key in ("until", "least", "most", "within"))  # the search says how many loads
_WITHOUT = ("also=null", "report.base=null", "report.tables=null")  # they may name builds that take no part


def overrides(
    request: Request, claim: Mapping[str, Any] | None, candidates: Sequence[Candidate], loads: int
) -> tuple[str, ...]:
    """JSON is YAML: quotes keep a version or a commit a text."""
    labels = [request.label(each) for each in candidates]
    return (
        *request.sets,
        *([f"builds={json.dumps(_builds(request, candidates))}"] if request.commits else []),
        f"sweep.build={json.dumps(labels)}",
        *_FIXED,
        f"repeat.loads={loads}",
        *_WITHOUT,
        f"claims={json.dumps([claim] if claim else [])}",
    )


def _builds(request: Request, candidates: Sequence[Candidate]) -> dict[str, Any]:
    """Along a branch the version changes: where the trees say theirs, that is what a build declares."""
    return {request.label(each): _build(request, each) for each in candidates}


def _build(request: Request, candidate: Candidate) -> dict[str, Any]:
    version = candidate.version or request.version
    found = {"extends": request.family, "source": {"ref": candidate.ref}}
    return {**found, "version": version} if version else found
