"""The steps of a table of loads: those that load, the last one before what is measured, and the last of all.

Right after a load a server does not know how large its tables are; after the wait that follows it does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compiler.layouts import FIGURES, by_name
from compiler.layouts.layout import STEP
from compiler.summarize.tables import Run

Said = Mapping[str, Any]


def is_sized(said: Said) -> bool:
    return by_name(said.get("layout", FIGURES)).sizes


def asked(said: Said, runs: Sequence[Run]) -> Said:
    """With those steps, unless it says others."""
    where = {STEP: steps(runs, by_name(said["layout"]).metrics), **said.get("where", {})}
    return {**said, "where": where}


def steps(runs: Sequence[Run], metrics: Sequence[str]) -> list[str]:
    """`runs`: in the order of the steps."""
    every = [*dict.fromkeys(run.step for run in runs)]
    loads = [*dict.fromkeys(run.step for run in runs if any(name in run.metrics for name in metrics))]
    measured = next((index for index, step in enumerate(every) if any(_is(run, step) for run in runs)), len(every))
    return [*dict.fromkeys((*loads, *every[max(measured - 1, 0) : measured], every[-1]))] if loads else []


def _is(run: Run, step: str) -> bool:
    return run.step == step and run.measured
