"""A status as one JSON object."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from stepgrid.model import status as model
from stepgrid.model.status import Node, Status, Step, Work
from stepgrid.run.live_throughput import current


def to_json(status: Status) -> dict[str, Any]:
    plan = status.plan
    return {
        "spec": plan.spec,
        "scale": plan.scale,
        "plan": plan.digest,
        "title": plan.title,
        "time": _time(status.now),
        "run": _run(status),
        "totals": {kind: _counts(status, kind) for kind in ("build", "stage")},
        "seconds_left": status.left,
        "about": status.about,
        "nodes": [_node(node, status.now) for node in status.nodes],
    }


def _run(status: Status) -> dict[str, Any] | None:
    run = status.run
    if run is None:
        return None
    times = {"started": _time(run.started), "stops": _time(run.stops)}
    return {"pid": run.pid, "spec": run.spec, "own": run.own, "until": run.until or None, **times}


def _counts(status: Status, kind: str) -> dict[str, int]:
    return {state: len(status.of(state, kind=kind)) for state in model.STATES}


def _node(node: Node, now: float) -> dict[str, Any]:
    plain = {"id": node.id, "kind": node.kind, "title": node.title, "state": node.state, "replayed": node.replayed}
    more = {"because": node.because or None, "seconds": node.seconds, "ended": _time(node.ended)}
    return {**plain, **more, "work": _work(node.work, now), "end": _end(node)}


def _work(work: Work | None, now: float) -> dict[str, Any] | None:
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


def _end(node: Node) -> dict[str, Any] | None:
    if node.end is None:
        return None
    return {**asdict(node.end), "log": str(node.end.log), "when": _time(node.end.when)}


def _time(when: float | None) -> str | None:
    return None if when is None else datetime.fromtimestamp(when, UTC).isoformat(timespec="seconds")
