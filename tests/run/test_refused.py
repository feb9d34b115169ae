from __future__ import annotations

from dataclasses import replace
from typing import Any

import stepgrid.plugins.registry


def test_a_stage_that_this_version_cannot_run_says_so(checkout: Any, step: Any, stage: Any) -> None:
    """The run refuses such a plan: a job that is started all the same is no fault of stepgrid's."""
    (kind, *_) = stepgrid.plugins.registry.unrunnable_kinds(stepgrid.plugins.registry.DRIVERS.names()) or ("",)
    if not kind:
        return
    checkout.plan(stage("s-load", replace(step(), kind=kind, settings={})))
    assert checkout.run("s-load").returncode == 1
    failure = checkout.failure("s-load")
    assert failure["message"] == f"this version checks and plans steps of kind {kind}; it cannot run them yet"
    assert failure["step"] == "load"
