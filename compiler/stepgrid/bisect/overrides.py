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
    version = {"version": request.version} if request.version else {}
    return {
        request.label(each): {"extends": request.family, **version, "source": {"ref": each.ref}} for each in candidates
    }
