"""What past runs cost, and how far their repeats lie apart."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence

from stepgrid.model.plan import Plan
from stepgrid.store.store import Store

MOST = 200  # results whose figures are read: the spread is known well enough by then
FIGURE = "qps"


def figures(store: Store, plan: Plan) -> dict[str, list[Sequence[float]]]:
    """Step -> for each cell the figure of every load that has one: what the collected results say."""
    found: dict[str, list[Sequence[float]]] = defaultdict(list)
    left = MOST
    for cell in plan.cells:
        chains = [repeat.stages for repeat in cell.repeats if repeat.run == 0]
        if len(chains) < 2 or left < len(chains):
            continue
        left -= len(chains)
        for step in cell.steps:
            if step.measured and (step.stage > 0 or len(chains[0]) == 1):  # cells share their loads
                stages = [chain[step.stage] for chain in chains]
                values = [value for stage in stages if (value := _figure(store, stage, step.index)) is not None]
                found[step.name].append(values)
    return dict(found)


def _figure(store: Store, stage: str, index: int) -> float | None:
    """As the newest reading of the result has it."""
    result = store.result(stage)
    paths = result.glob("figures.*.json") if result else ()
    for path in sorted(paths, key=lambda path: path.stat().st_mtime, reverse=True):
        try:
            value = json.loads(path.read_text(encoding="utf-8"))["body"]["steps"][index]["metrics"].get(FIGURE)
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            continue  # by an earlier version
        return float(value) if isinstance(value, int | float) and value > 0 else None
    return None
