"""What a search on an axis is for: `max qps`, `max rate where stall_pct < 1 and p99_us < 5000`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from stepgrid.language.expressions.evaluator import ExpressionError, evaluate, parts

FORM = "`max NAME`, or `max NAME where CONDITION`"
_OBJECTIVE = re.compile(r"\s*max\s+([^\W\d]\w*)(?:\s+where\s+(.+?))?\s*", re.S)


class Objective(NamedTuple):
    name: str  # a metric, or the variable itself
    condition: str  # empty: there is none

    @property
    def names(self) -> set[str]:
        """Metrics, and maybe the variable."""
        from jinja2 import nodes

        said = parts(self.condition, nodes.Name)[0] if self.condition else []
        return {self.name, *(str(node.name) for node in said)}

    def holds(self, names: Mapping[str, float]) -> bool:
        """ExpressionError where it names what there is not."""
        found = evaluate(self.condition, names) if self.condition else True
        if not isinstance(found, bool):
            raise ExpressionError(f"`{self.condition}` is neither true nor false")
        return found


def objective(text: str) -> Objective:
    """ExpressionError where it is none."""
    found = _OBJECTIVE.fullmatch(text)
    if found is None:
        raise ExpressionError(f"`{text}` is not what a search can be for", hint=f"expected {FORM}")
    made = Objective(found[1], found[2] or "")
    assert made.names  # a condition that cannot be read says so now
    return made
