"""Programs of collectors that this machine lacks; tests/cli/test_doctor.py has the rest."""

from __future__ import annotations

from typing import Any

import pytest

from stepgrid.model.plan import PlannedStage, PlannedStep
from stepgrid.model.site import Site
from stepgrid.workflow.doctor import missing_tools
from stepgrid.workflow.hooks import describe_shortcomings

FG = {"name": "fg", "collector": "perf_record"}


@pytest.fixture(autouse=True)
def no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")


def stage(*collectors: dict[str, Any]) -> PlannedStage:
    setup = {"collectors": list(collectors)} if collectors else {}
    steps = tuple(PlannedStep(f"s{n}", "command", 1, {}, {}, 7, setup=setup) for n in (1, 2))
    return PlannedStage("s-1", "t", "b-1", None, (), 0, 0, "h", steps, 1.0, 0)


def test_each_is_named_once_with_its_package() -> None:
    mine = {"name": "mine", "command": ["offcputime-bpfcc"]}
    in_build = {"name": "own", "command": ["{program:python}"]}
    present = {"name": "sh", "command": ["/bin/sh"]}
    assert [*describe_shortcomings([stage(FG, mine, in_build, present)], Site())] == [
        "collector fg: there is no perf here, its steps are measured without it; install linux-perf",
        "collector mine: there is no offcputime-bpfcc here, its steps are measured without it",
    ]
    assert [*missing_tools([stage()], Site())] == []


def test_a_site_file_names_the_path_of_a_tool() -> None:
    assert [*missing_tools([stage(FG)], Site(tools={"perf": "/bin/sh"}))] == []
