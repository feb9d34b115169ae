"""What the scheduler of a cluster says of a failed job reaches the screen, with the job's log."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from snakemake_logger_plugin_stepgrid import _of_cluster


def record(**more: object) -> logging.LogRecord:
    found = logging.LogRecord("snakemake", logging.ERROR, "", 0, "Error in rule run, jobid: 3", (), None)
    for name, value in more.items():
        setattr(found, name, value)
    return found


def test_the_name_of_the_stage_the_status_and_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    log = tmp_path / ".snakemake" / "slurm_logs" / "rule_run" / "x" / "7.log"
    said = (
        "SLURM-job '7' failed, SLURM status is: 'NODE_FAIL'. Detailed failure reason unavailable (status command is "
        "not 'sacct').For further error details see the cluster/cloud log and the log files of the involved rule(s)."
    )
    output = ["outputs/marks/p/stages/sh cache=a, load 1: go"]
    assert _of_cluster(record(rule_msg=said, output=output, log=["outputs/marks/p/log/x", str(log)])) == (
        "sh cache=a, load 1: go: SLURM-job '7' failed, SLURM status is: 'NODE_FAIL'; "
        "its log: .snakemake/slurm_logs/rule_run/x/7.log"
    )


def test_a_job_of_this_machine_has_said_it_itself() -> None:
    assert _of_cluster(record(rule_msg=None, output=["a"], log=[])) == ""
