"""What a step that failed is said to have failed of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from stepgrid.host.processes.supervision import ProcessEnd
from stepgrid.model.plan import PlannedStep
from stepgrid.plugins.registry import require_runner
from stepgrid.run.options import AcceptedOptions
from stepgrid.run.step import Step, StepEnd, describe, explain_end

FATAL = (
    "FATAL: unable to connect to MySQL server on socket '/s', aborting...\nFATAL: error 1040: Too many connections\n"
)


def _ended(status: int) -> ProcessEnd:
    return ProcessEnd(status, False, "", "", 1.0, 0.5, 0.5, 0)


def _explain(folder: Path, kind: str, process: ProcessEnd, *kept: str) -> str:
    planned = PlannedStep("readww", kind, 1, {}, {}, 7)
    step = Step(cast(Any, None), planned, folder, folder, AcceptedOptions({}), None, None, False, list)
    return explain_end(step, require_runner(kind), process, 10.0, kept)


@pytest.mark.parametrize(
    ("kind", "status", "output", "said"),
    [
        (
            "sysbench",
            1,
            FATAL,
            "sysbench failed: unable to connect to MySQL server on socket '/s': error 1040: Too many connections",
        ),
        ("sysbench", 1, "invalid option: --x\n", "it ended with exit status 1"),
        ("sysbench", -15, FATAL, "it was killed by SIGTERM"),
        ("db_bench", 1, FATAL, "it ended with exit status 1"),
    ],
)
def test_a_program_that_says_why_is_quoted(kind: str, status: int, output: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "stdout").write_text(output)
    assert _explain(tmp_path, kind, _ended(status)) == said


def test_a_step_over_which_the_host_was_suspended_carries_a_warning() -> None:
    step = PlannedStep("readww", "command", 1, {}, {}, 7)
    end = StepEnd(_ended(0), 9.0, None, {}, {})
    suspended = end._replace(process=replace(end.process, suspended=7200.0))
    said = "the host was suspended for 2h00m while the step ran: `stepgrid redo` measures it again"
    assert describe(step, suspended, ())["warnings"] == [said]
    assert "warnings" not in describe(step, end, ())


def test_a_full_disk_that_only_the_engines_own_log_tells(tmp_path: Path) -> None:
    """An assertion stopped the program before it could say so, and the file that did not fit is gone."""
    (tmp_path / "stderr").write_text("db_bench: db/db_impl.cc:1: Assertion `s.ok()' failed.\n")
    (tmp_path / "LOG").write_text("[WARN] Background IO error IO error: No space left on device: While appending\n")
    assert _explain(tmp_path, "db_bench", _ended(-6), "LOG").startswith(f"the disk of {tmp_path} is full: ")
    assert _explain(tmp_path, "db_bench", _ended(-6)) == "it was killed by SIGABRT"
