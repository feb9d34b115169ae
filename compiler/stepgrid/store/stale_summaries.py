"""Summaries that may not say what the results say: the next run makes them again, and measures nothing for it."""

from __future__ import annotations

from collections.abc import Iterator

from stepgrid.plan import plan_file
from stepgrid.store.store import Store


def out_of_date(store: Store, stages: set[str]) -> None:
    """A new result is newer than a summary, and shows; what is taken out, or brought in with its old time, is not."""
    for plan in _plans_with(store, stages):
        store.drop_stamps(plan)


def _plans_with(store: Store, stages: set[str]) -> Iterator[str]:
    """One that cannot be read has no summary."""
    parent = store.plan("_").parent
    for folder in parent.iterdir() if parent.is_dir() else ():
        try:
            if not stages.isdisjoint(plan_file.stage_ids(folder)):
                yield folder.name
        except (OSError, ValueError):
            continue
