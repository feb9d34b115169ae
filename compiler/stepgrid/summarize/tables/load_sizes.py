"""The steps of a table of loads: those that load, the last one before what is measured, and the last of all.

Right after a load a server does not know how large its tables are; after the wait that follows it does. What varies in
more than the load would make rows of its own, and is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from stepgrid.plugins.layout import FIGURES, STEP
from stepgrid.plugins.registry import LAYOUTS
from stepgrid.summarize.data.parquet_reader import Run

Said = Mapping[str, Any]


def is_sized(said: Said) -> bool:
    return LAYOUTS.get(said.get("layout", FIGURES)).sizes


def asked(said: Said, runs: Sequence[Run]) -> Said:
    """With those steps, unless it says others."""
    where = {STEP: steps(runs, LAYOUTS.get(said["layout"]).metrics), **said.get("where", {})}
    return {**said, "where": where}


def steps(runs: Sequence[Run], metrics: Sequence[str]) -> list[str]:
    """`runs`: in the order of the steps."""
    loads = [run for run in runs if any(name in run.metrics for name in metrics)]
    if not loads:
        return []
    alike = [run for run in runs if run.labels.keys() == loads[0].labels.keys()]
    every = [*dict.fromkeys(run.step for run in alike)]
    measured = {run.step for run in alike if run.measured}
    before = [*takewhile(lambda step: step not in measured, every)]
    return [*dict.fromkeys((*(run.step for run in loads), *before[-1:], every[-1]))]
