"""What a second run is told."""

import subprocess
import sys
from datetime import UTC, datetime

from stepgrid.store.active_run import RunRecord
from stepgrid.workflow.snakemake_hooks import refusal


def test_a_run_that_says_what_it_is():
    began = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    assert refusal(RunRecord(7, began, "a.yaml"), [7]) == (
        f"another run is active in this checkout: pid 7, started {began.astimezone():%H:%M:%S} (a.yaml). "
        "It goes on; start again when it has ended, or stop it with: kill 7"
    )


def test_a_run_that_has_just_taken_the_lock():
    assert refusal(None, [7]) == (
        "another run is active in this checkout: pid 7. "
        "It goes on; start again when it has ended, or stop it with: kill 7"
    )


def test_a_run_of_which_nothing_is_known():
    assert refusal(None, []) == ("another run is active in this checkout. It goes on; start again when it has ended")


def test_a_signal_where_snakemake_does_not_listen():
    code = (
        "import os, signal\n"
        "from stepgrid.workflow.snakemake_hooks import Hooks\n"
        "Hooks(None).listen()\n"
        "os.kill(os.getpid(), signal.SIGTERM)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.stderr == (
        "stopped by SIGTERM: nothing that was measured is lost, the same command goes on from here\n"
    )
    assert ended.returncode == 1
