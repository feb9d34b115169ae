"""Programs of collectors that this machine lacks."""

from __future__ import annotations

from typing import Any

import pytest

from stepgrid.model.plan import PlannedStage, PlannedStep
from stepgrid.model.site import Site
from stepgrid.workflow.doctor import collector_tools


def _stage(*listed: dict[str, Any]) -> PlannedStage:
    steps = tuple(PlannedStep(f"s{n}", "command", 1, {}, {}, 7, setup={"collectors": list(listed)}) for n in (1, 2))
    return PlannedStage("s-1", "t", "b-1", None, (), 0, 0, "h", steps, 1.0, 0)


def test_each_is_told_once_with_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    asked = (
        {"name": "fg", "collector": "perf_record"},
        {"name": "mine", "command": ["offcputime-bpfcc"]},
        {"name": "own", "command": ["{program:python}"]},
        {"name": "sh", "command": ["/bin/sh"]},
    )
    assert list(collector_tools.sentences([_stage(*asked)], Site())) == [
        "collector fg: there is no perf here, its steps are measured without it; install linux-perf",
        "collector mine: there is no offcputime-bpfcc here, its steps are measured without it",
    ]
    found = [(each.name, each.text, each.mend) for each in collector_tools.findings([_stage(asked[0])], Site())]
    mend = "sudo apt install linux-perf, or `tools:` of a site file"
    assert found == [("perf", "not here; for the collector fg", mend)]


def test_a_site_file_says_where_a_tool_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    asked = _stage({"name": "fg", "collector": "perf_record"})
    assert collector_tools.lacking([asked], Site(tools={"perf": "/bin/sh"})) == []


def test_without_collectors_there_is_nothing_to_say() -> None:
    plain = PlannedStage("s-1", "t", "b-1", None, (), 0, 0, "h", (PlannedStep("s", "command", 1, {}, {}, 7),), 1.0, 0)
    assert collector_tools.lacking([plain], Site()) == []
