"""Who it is that something waits for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from stepgrid.host.locks import describe_processes


def test_a_job_is_told_by_what_it_does_and_where(tmp_path: Path) -> None:
    code = "import sys; print(flush=True); sys.stdin.read()"
    argv = [sys.executable, "-c", code, "stepgrid.run", "p", "s-load"]
    with subprocess.Popen(argv, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as job:
        assert job.stdout is not None
        job.stdout.readline()
        said = describe_processes([job.pid])
        assert job.stdin is not None
        job.stdin.close()
    assert said == f"process {job.pid}, which measures s-load in {tmp_path}"


def test_what_cannot_be_seen_is_said_so() -> None:
    assert describe_processes([]) == "a process that cannot be seen from here"
    assert describe_processes([2**22 + 1]) == f"process {2**22 + 1}"
    assert describe_processes([os.getpid()]).startswith(f"process {os.getpid()} (")
