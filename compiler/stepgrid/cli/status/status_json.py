"""A status as one JSON object."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from stepgrid.model.status import ActiveRun, ActiveWork, AttemptEnd, NodeStatus, PlanStatus, Status, Step
from stepgrid.run.live_throughput import current


def to_json(found: PlanStatus) -> dict[str, Any]:
    plan = found.plan
    return {
        "spec": plan.spec,
        "scale": plan.scale,
        "plan": plan.digest,
        "title": plan.title,
        "time": _time(found.now),
        "run": _run(found.run),
        "totals": {kind: _counts(found, kind) for kind in ("build", "stage")},
        "seconds_left": found.eta.seconds,
        "about": found.eta.is_rough,
        "nodes": [_node(node, found.now) for node in found.nodes.values()],
    }


def _run(run: ActiveRun | None) -> dict[str, Any] | None:
    if run is None:
        return None
    times = {"started": _time(run.started), "stops": _time(run.stops)}
    return {"pid": run.pid, "spec": run.spec, "own": run.own, "until": run.until or None, **times}


def _counts(found: PlanStatus, kind: str) -> dict[str, int]:
    return {status: len(found.of(status, kind=kind)) for status in Status}


def _node(node: NodeStatus, now: float) -> dict[str, Any]:
    plain = {"id": node.id, "kind": node.kind, "title": node.title, "state": node.status, "action": node.action}
    ended = _time(node.result.ended if node.result else None)
    more = {"because": node.because or None, "cause": node.cause, "seconds": node.seconds, "ended": ended}
    return {**plain, **more, "work": _work(node.work, now), "end": _end(node.end)}


def _work(work: ActiveWork | None, now: float) -> dict[str, Any] | None:
    if work is None:
        return None
    texts = {name: getattr(work, name) or None for name in ("hostname", "waits", "doing", "replays")}
    attempt = None if work.attempt is None else str(work.attempt)
    plain = {"pids": list(work.pids), "attempt": attempt, "since": _time(work.since)}
    return {**plain, **texts, "step": None if work.step is None else _step(work.step, now)}


def _step(step: Step, now: float) -> dict[str, Any]:
    passed = {"since": _time(step.since), "seconds": round(max(now - step.since, 0.0), 3)}
    qps = current(step.kind, step.folder) if step.kind else None
    return {**asdict(step), **passed, "folder": str(step.folder), "qps": qps}


def _end(end: AttemptEnd | None) -> dict[str, Any] | None:
    return None if end is None else {**asdict(end), "log": str(end.log), "when": _time(end.when)}


def _time(when: float | None) -> str | None:
    return None if when is None else datetime.fromtimestamp(when, UTC).isoformat(timespec="seconds")
