from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.run.server_process import Crash, first_complaint, read_crash


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "2026-11-21 15:13:40 0 [ERROR] /b/mariadbd: Error while setting value 'quick' to 'innodb-flush-method'",
            "Error while setting value 'quick' to 'innodb-flush-method'",
        ),
        (
            "2026-11-21T15:13:44.7Z 0 [ERROR] [MY-013236] [Server] The data directory /d/ is unusable.",
            "The data directory /d/ is unusable",
        ),
        (
            "2026-11-21 15:00:00.000 UTC [77] FATAL:  database files are incompatible with server",
            "database files are incompatible with server",
        ),
        (
            "2026-11-21 15:00:00.000 UTC [77] FATAL:  database files are incompatible with server\n"
            "2026-11-21 15:00:00.000 UTC [77] DETAIL:  They are of version 15.",
            "database files are incompatible with server: They are of version 15",
        ),
        (
            '2026-11-21 15:00:00.000 UTC [77] LOG:  5 s is outside the valid range for parameter "checkpoint_timeout"\n'
            '2026-11-21 15:00:00.000 UTC [77] FATAL:  configuration file "/a/postgresql.conf" contains errors',
            '5 s is outside the valid range for parameter "checkpoint_timeout"',
        ),
        ("2026-11-21 15:13:40 0 [ERROR] Aborting", ""),
        ("2026-11-21 15:13:40 0 [Note] InnoDB: ready", ""),
        ("", ""),
    ],
)
def test_the_first_of_its_errors(line: str, said: str, tmp_path: Path) -> None:
    log = tmp_path / "stderr"
    log.write_text(f"starting\n{line}\n2026-11-21 15:13:41 0 [ERROR] Aborting\n")
    assert first_complaint(log) == said


def test_no_log(tmp_path: Path) -> None:
    assert first_complaint(tmp_path / "gone") == ""


def test_a_process_that_crashed(tmp_path: Path) -> None:
    log = tmp_path / "stderr"
    log.write_text(
        "2026-11-21 15:00:00.000 UTC [7] LOG:  server process (PID 77) was terminated by signal 11: Segmentation "
        "fault\n"
        "2026-11-21 15:00:00.000 UTC [7] LOG:  terminating any other active server processes\n"
    )
    assert read_crash(log) == Crash("server", 11)
    log.write_text("2026-11-21 15:00:00.000 UTC [7] LOG:  checkpoint complete\n")
    assert read_crash(log) is None
