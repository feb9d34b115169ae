"""The run that is active in the checkout, and what it has to do with the plan that is looked at."""

from __future__ import annotations

from stepgrid.host.locks import HeldLock
from stepgrid.model.plan import Header, Plan
from stepgrid.model.status import ActiveRun
from stepgrid.plan import plan_file
from stepgrid.store import active_run, paths
from stepgrid.store.active_run import RunRecord
from stepgrid.store.store import Store


class Runs:
    def __init__(self, store: Store, plan: Plan | Header) -> None:
        self._store, self._plan = store, plan
        self._known: dict[str, bool] = {}  # by the digest of a run's plan: whether it has all of ours

    def active(self, held: HeldLock) -> ActiveRun | None:
        pids = held.of(self._store.lock(paths.RUN_LOCK))
        if not pids:
            return None
        found = active_run.active_run_record(self._store, pids)
        if found is None:  # it is writing who it is
            return ActiveRun(pids[0], None, "")
        exact = found.plan == self._plan.digest if found.plan else found.spec == self._plan.spec
        own = exact or self._has_ours(found)
        return ActiveRun(found.pid, found.started.timestamp(), found.spec, found.until, found.stops, own, exact)

    def _has_ours(self, run: RunRecord) -> bool:
        """We look at a part of it: `--only`."""
        if run.spec != self._plan.spec:
            return False
        if run.plan not in self._known:
            self._known[run.plan] = {stage.id for stage in self._plan.stages} <= self._stages(run.plan)
        return self._known[run.plan]

    def _stages(self, plan: str) -> set[str]:
        try:
            return set(plan_file.stage_ids(self._store.plan(plan)))
        except (OSError, ValueError):
            return set()
