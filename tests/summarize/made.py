"""Runs of a step, as the tables have them."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from stepgrid.model.plan import PlannedCell, PlannedRepeat
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import PastFigure, Run, Tables

START = datetime(2026, 11, 20, 10)


def run(cell: str, load: int, qps: float, index: int = 0, minutes: float = 0.0, **metrics: float) -> Run:
    return Run(
        cell=cell,
        labels={"arm": cell},
        step="readww",
        kind="db_bench",
        measured=True,
        build="b",
        build_id="b",
        client_id=None,
        load=load,
        run=index,
        place=(f"s-{cell}-{load}-{index}", 0),
        attempt="1",
        same_as=None,
        status="done",
        reason=None,
        log=None,
        started=START + timedelta(minutes=minutes),
        warnings=(),
        metrics={"qps": qps, **metrics},
    )


def point(*runs: Run) -> Point:
    return Point("readww", runs[0].labels, runs)


def past(
    cell: str,
    load: int,
    qps: float,
    age: int = 1,
    restored: bool = True,
    host: str | None = "here",
) -> PastFigure:
    """`age`: of two results of a load the older has the higher one."""
    place = (f"s-{cell}-{load}-0", 0)
    return PastFigure(
        place, "readww", "db_bench", f"s-{cell}-0-0/0", load, 0, restored, host, qps, f"2026-11-{20 - age}"
    )


def tables(runs: Iterable[Run], **more: Any) -> Tables:
    return Tables(tuple(runs), {}, {}, **more)


def cell(labels: Mapping[str, str], stage: str, build: str = "b") -> PlannedCell:
    """A cell of one load and one stage."""
    return PlannedCell(stage, labels, build, (), (PlannedRepeat(0, 0, (stage,)),))
