"""A run that stops by the clock: what would not end in time is left, and nothing has failed."""

from __future__ import annotations

import re
from typing import Any

import pytest

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("way", ["snakemake", "stepgrid"])
def test_stages_that_would_not_end_in_time_are_left_and_the_next_run_goes_on(checkout: Any, way: str) -> None:
    """One of two loads is too long for the time: it is left, and so is all that waits for it."""
    checkout.write_spec(builds=["p"], loads=2, seconds=0.05, long={"s-p-1": 3600.0})
    ended = checkout.snakemake("until=6m") if way == "snakemake" else checkout.stepgrid_run("spec.json", "--until=6m")
    lines = ended.stderr.splitlines()
    assert ended.returncode == 0, ended.stderr
    assert sorted(checkout.logged("measure")) == ["s-p-0", "s-p-0-a", "s-p-0-b"]
    assert re.fullmatch(r"stopped at 6m: 3 of 6 stages left, the next needs about \dh\d\dm", lines[-2])
    assert lines[-1].startswith("summary of what there is: outputs/summary/")
    assert "Error" not in ended.stderr
    assert checkout.log[-2:] == ["collect --partial", "summarize --partial"]
    checkout.forget_log()
    checkout.write_spec(builds=["p"], loads=2, seconds=0.05)
    assert checkout.snakemake().returncode == 0


def test_a_failure_stays_a_failure(checkout: Any) -> None:
    checkout.write_spec(builds=["p"], loads=2, seconds=0.05, long={"s-p-1": 3600.0})
    (checkout.folder / "fail-s-p-0-a").touch()
    ended = checkout.stepgrid_run("spec.json", "--until=6m")
    assert ended.returncode == 3
    stopped, far, kept = ended.stderr.splitlines()[-4:-1]
    assert re.fullmatch(r"stopped at 6m: 3 of 6 stages left, the next needs about \dh\d\dm", stopped)
    assert far.startswith("the run is not complete: [2/6 done] failed 1, missing 3, ETA ")
    assert kept == "failed attempts are kept in outputs/attempts; the same command tries them again"


def test_with_time_enough_it_is_a_run_like_any_other(checkout: Any) -> None:
    ended = checkout.stepgrid_run("spec.json", "--until", "1h30m")
    assert ended.returncode == 0
    assert "stopped" not in ended.stderr
    assert checkout.log[-2:] == ["collect", "summarize"]


def test_a_rule_is_left_to_snakemake(checkout: Any) -> None:
    ended = checkout.stepgrid_run("spec.json", "--until", "build")
    assert ended.returncode == 0
    assert [line.split()[0] for line in checkout.log] == ["build", "build"]


def test_what_is_neither_is_said_before_anything_starts(checkout: Any) -> None:
    wrong = "until=soon: expected a duration such as 6h, 90m or 1h30m, or a time of day such as 07:30"
    ended = checkout.snakemake("until=soon")
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (2, wrong)
    before = checkout.stepgrid_run("--until", "soon", "spec.json")
    assert (before.returncode, before.stderr.splitlines()[-1]) == (
        2,
        "stepgrid run: error: argument --until: expected a duration such as 6h, 90m or 1h30m, "
        "or a time of day such as 07:30, found 'soon'",
    )
    assert checkout.log == []
