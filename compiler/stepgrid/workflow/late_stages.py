"""The last word about stages that a run left because they would not have ended in time."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from stepgrid.model.counted import counted
from stepgrid.model.units import duration
from stepgrid.run.run_end_time import in_force
from stepgrid.store import skipped_stages
from stepgrid.store.status.progress_count import count
from stepgrid.workflow.remaining_work import Work


class Unstarted(NamedTuple):
    sentence: str
    in_order: bool  # nothing failed: the run did what it was asked for


def unstarted(work: Work) -> Unstarted | None:
    until, noted = in_force(), skipped_stages.noted(work.store)
    if until is None or not noted:
        return None
    tally = count(work.store, work.plan.digest)
    first = min(noted, key=work.rank)
    takes = noted[first]
    needs = "takes a time that is not known" if takes is None else f"needs about {duration(takes)}"
    far = f"{tally.left} of {counted(tally.total, 'stage')} left, the next {needs}"
    return Unstarted(f"stopped at {until.text}: {far}", not tally.failed and _all_explained(work, noted))


def _all_explained(work: Work, noted: Collection[str]) -> bool:
    """Whether every stage that lacks a result was left itself, or waits for one that was."""
    lacking = [stage for stage in work.stages if stage in work.lacking and not work.store.mark(stage).exists()]
    return all(_waits(work, stage, noted) for stage in lacking)


def _waits(work: Work, stage: str | None, noted: Collection[str]) -> bool:
    while stage is not None and stage not in noted:
        stage = work.stages[stage].parent
    return stage is not None
