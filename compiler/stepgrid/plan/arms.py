"""The axes by which arms are compared. Pure.

Where the points of another axis name the builds, that axis stands for them: with `server: {my: {build: mysql}, pg:
{build: postgres}}` an arm is a server, and nothing would have "all other axes equal" if its build counted once more.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from stepgrid.model.plan import Axis

BUILD = "build"
Labels = Mapping[str, str]
PLACES = ("rows", "columns", "by", "where", "base")


def arms(axes: Sequence[Axis], cells: Collection[Labels], report: Mapping[str, Any]) -> tuple[Axis, ...]:
    """All of them, where the report speaks of builds."""
    if _speaks_of_builds(report) or not any(_tells(axis.name, cells) for axis in axes if axis.name != BUILD):
        return tuple(axes)
    return tuple(axis for axis in axes if axis.name != BUILD)


def _tells(axis: str, cells: Iterable[Labels]) -> bool:
    """Each of its labels has one build, and there are several."""
    found: dict[str, set[str]] = {}
    for labels in cells:
        if axis not in labels or BUILD not in labels:
            return False
        found.setdefault(labels[axis], set()).add(labels[BUILD])
    return all(len(builds) == 1 for builds in found.values()) and len(set().union(*found.values())) > 1


def _speaks_of_builds(report: Mapping[str, Any]) -> bool:
    named = {*report["base"], *(name for table in report["tables"] for key in PLACES for name in table.get(key, ()))}
    claims = (f"{claim['expect']} {' '.join(claim.get('where', ()))}" for claim in report["claims"])
    return BUILD in named or any(re.search(rf"\b{BUILD}\b", claim) for claim in claims)
