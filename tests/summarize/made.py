"""Runs of a step, as the tables have them."""

from datetime import datetime, timedelta

from stepgrid.model.plan import PlannedCell, PlannedRepeat
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import PastFigure, Run, Tables

START = datetime(2026, 11, 20, 10)


def run(cell, load, qps, index=0, minutes=0.0, **metrics):
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


def point(*runs):
    return Point("readww", runs[0].labels, runs)


def past(cell, load, qps, age=1, restored=True, host="here"):
    """`age`: of two results of a load the older has the higher one."""
    place = (f"s-{cell}-{load}-0", 0)
    return PastFigure(
        place, "readww", "db_bench", f"s-{cell}-0-0/0", load, 0, restored, host, qps, f"2026-11-{20 - age}"
    )


def tables(runs, **more):
    return Tables(tuple(runs), {}, {}, **more)


def cell(labels, stage, build="b"):
    """A cell of one load and one stage."""
    return PlannedCell(stage, labels, build, (), (PlannedRepeat(0, 0, (stage,)),))
