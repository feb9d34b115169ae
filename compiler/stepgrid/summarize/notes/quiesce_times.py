"""How long each build took until it was quiet: a row for each step that waits, measured or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from stepgrid.model.units import seconds
from stepgrid.plugins.driver import Waiting
from stepgrid.plugins.registry import driver
from stepgrid.summarize.data.tables_reader import Run


def waits(runs: Sequence[Run]) -> Iterator[str]:
    """`settle: innodb 2.8 s, myrocks 0.3 s; not in time: mysql`; the median where a build waited several times."""
    made = [run for run in runs if run.same_as is None and run.attempt is not None]
    waited = [(run, kind.waited) for run in made if isinstance(kind := driver(run.kind), Waiting)]
    for step, metric in dict.fromkeys((run.step, metric) for run, metric in waited):
        yield f"{step}: {_builds([run for run, name in waited if (run.step, name) == (step, metric)], metric)}"


def _builds(runs: Sequence[Run], metric: str) -> str:
    took: list[str] = []
    late: list[str] = []
    for build in dict.fromkeys(run.build for run in runs):
        found = [run.metrics[metric] for run in runs if run.build == build and metric in run.metrics]
        took += [f"{build} {seconds(median(found))}"] if found else []
        late += [build] if any(run.build == build and metric not in run.metrics for run in runs) else []
    parts = (", ".join(took), f"not in time: {', '.join(late)}" if late else "")
    return "; ".join(part for part in parts if part)
