"""stepgrid run: what it says, and its exit status."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.integration

TOLD = """\
from snakemake.scheduling.job_scheduler import JobScheduler

JobScheduler._schedule_reevalutation = lambda self, delay: print("looks again", flush=True)
"""
PLAIN = 'import sys\nfrom snakemake.cli import main\nmain(["--config", "spec=spec.json"])\n'


def test_nothing_to_do_is_answered_without_snakemake(finished: Any) -> None:
    os.utime(finished.folder / "spec.json", (1, 1))
    assert finished.stepgrid_run("spec.json").returncode == 0  # its plan is remembered from here on
    (finished.folder / "snakemake.py").write_text("raise AssertionError('imported')")
    ended = finished.stepgrid_run("spec.json")
    assert ended.returncode == 0
    assert ended.stdout.startswith("nothing to do: 4 cells, 12 stages measured\n\nthe summary\n\noutputs/summary/")
    assert (ended.stderr, finished.log) == ("", [])


def test_a_dry_run_of_snakemake_writes_nothing(checkout: Any) -> None:
    ended = checkout.snakemake("-n")
    assert ended.returncode == 0, ended.stderr
    assert "run             12" in ended.stdout + ended.stderr
    assert not (checkout.folder / "outputs").exists()


def test_a_dry_run_lists_the_jobs_without_snakemake_and_writes_nothing(checkout: Any) -> None:
    (checkout.folder / "snakemake.py").write_text("raise AssertionError('imported')")
    ended = checkout.stepgrid_run("spec.json", "-n")
    assert ended.returncode == 0, ended.stderr
    *jobs, end = ended.stdout.splitlines()
    assert jobs[:2] == ["build p", "build q"]
    assert sum(job.startswith("measure ") for job in jobs) == 12
    assert jobs[-2:] == ["collect the tables", "summarize"]
    assert end == "a dry run: 2 builds, 12 stages; nothing was started"
    assert not (checkout.folder / "outputs").exists()


def test_a_dry_run_of_what_is_measured_prints_no_report(finished: Any) -> None:
    before = {path: path.lstat().st_mtime_ns for path in (finished.folder / "outputs").rglob("*")}
    ended = finished.stepgrid_run("spec.json", "-n")
    assert (ended.returncode, ended.stdout) == (0, "nothing to do: 4 cells, 12 stages measured\n")
    assert before == {path: path.lstat().st_mtime_ns for path in (finished.folder / "outputs").rglob("*")}


def test_options_after_the_spec(finished: Any) -> None:
    finished.write_spec(scales={"more": {"loads": 3}})
    ended = finished.stepgrid_run("spec.json", "-n", "--scale", "more", "--quiet", "rules")
    assert ended.returncode == 0, ended.stderr
    assert "run              6" in ended.stdout
    assert finished.log == []


def test_more_arguments_are_for_snakemake(finished: Any) -> None:
    assert finished.stepgrid_run("spec.json", "-F").returncode == 0
    assert finished.log == ["collect", "summarize"]


@pytest.mark.parametrize("way", ['exec(open("stepgrid_run.py").read())\n', PLAIN], ids=["stepgrid run", "snakemake"])
def test_the_scheduler_does_not_look_again_by_timers(checkout: Any, way: str) -> None:
    """It would take a core from what is measured, while other jobs wait."""
    (checkout.folder / "told.py").write_text(TOLD + way)
    ended = checkout.execute([sys.executable, "told.py", "spec.json"])
    assert ended.returncode == 0, ended.stderr
    assert "looks again" not in ended.stdout + ended.stderr


def test_the_handler_of_ctrl_c_says_little() -> None:
    """asyncio and Python's signal module ask for its words in every round of the scheduler."""
    from stepgrid.workflow.hooks import Hooks

    assert len(repr(Hooks(object())._stop)) < 200  # type: ignore[arg-type]


def test_a_usage_error_of_snakemake_is_shown(finished: Any) -> None:
    ended = finished.stepgrid_run("spec.json", "--cores", "two", "-F")
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert "Error parsing number of cores" in ended.stderr


def test_snakemake_without_a_spec_says_how(checkout: Any) -> None:
    ended = checkout.execute([*checkout.argv()[:-2]])
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1] == (
        "which spec? snakemake --config spec=specs/quickstart.yaml, or stepgrid run specs/quickstart.yaml"
    )


def test_no_spec_is_said_to_be_missing(checkout: Any) -> None:
    ended = checkout.stepgrid_run()
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1] == "stepgrid run: error: the following arguments are required: SPEC"


def test_a_place_that_cannot_be_written_is_a_sentence(checkout: Any) -> None:
    (checkout.folder / "outputs").write_text("not a folder")
    ended = checkout.stepgrid_run("spec.json")
    assert ended.returncode == 3
    assert ended.stderr.startswith(f"{checkout.folder}/outputs cannot be written: ")
    assert ended.stderr.endswith("; make it writable, or start in another folder\n")
    assert ended.stderr.count("\n") == 1


def test_an_absolute_path_is_the_same_plan(finished: Any) -> None:
    ended = finished.stepgrid_run(str(finished.folder / "spec.json"))
    assert (ended.returncode, finished.log) == (0, [])
    assert ended.stdout.startswith("nothing to do: ")
    assert len(list((finished.folder / "outputs/plans").glob("[!.]*"))) == 1


@pytest.mark.parametrize("way", ["snakemake", "stepgrid"])
def test_problems_of_the_spec_are_rendered_and_nothing_runs(checkout: Any, way: str) -> None:
    checkout.write_spec(broken=True)
    ended = checkout.snakemake() if way == "snakemake" else checkout.stepgrid_run("spec.json")
    assert ended.returncode == 1
    first = int(way == "snakemake")  # its line about the profile
    said = ended.stderr.splitlines()[first:]
    assert said[0] == "spec.json:1:1: error[toy]: the spec is broken"
    assert said[-3:] == ["   = mend it", "", "spec.json: 1 error"]
    assert ended.stdout == ""
    assert checkout.log == []
