from __future__ import annotations

import pytest

from stepgrid.model.plan import Plan, Report
from stepgrid.model.status import NodeStatus, Status
from stepgrid.plan.actions import decide_action
from stepgrid.plan.estimate import Node, Preview, preview_json

PLAN = Plan("p", "title", "x.yaml", None, (), (), (), (), {}, Report())


def outlook(*nodes: Node) -> Preview:
    return Preview(PLAN, nodes, 0.0, None)


def stage(seconds: float | None, size: int | None, load: bool = True) -> Node:
    return Node(decide_action(NodeStatus("s-1", "a stage", Status.MISSING, seconds=seconds)), load, (), bytes=size)


@pytest.mark.parametrize(
    ("nodes", "seconds", "size"),
    [
        ((), 0, 0),
        ((stage(None, None),), None, None),
        ((stage(60.0, 7), stage(None, None)), 60.0, 7),
        ((stage(60.0, None, load=False),), 60.0, 0),
    ],
)
def test_what_is_not_known_is_no_zero(nodes: tuple[Node, ...], seconds: float | None, size: int | None) -> None:
    totals = preview_json(outlook(*nodes))["totals"]
    assert (totals["seconds"], totals["bytes"]) == (seconds, size)
    assert totals["hours"] == (None if seconds is None else seconds / 3600)
