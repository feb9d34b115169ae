from __future__ import annotations

import os
from pathlib import Path

from stepgrid.run.attempt import attach, keep_database_files


def test_nobody_else_may_read_what_may_hold_a_password(tmp_path: Path) -> None:
    attach(tmp_path, {"a": "secret", "b": ""})
    assert (tmp_path / "a").read_text() == "secret"
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    attach(tmp_path, {"c": "configuration"}, 0o644)
    assert (tmp_path / "c").stat().st_mode & 0o044


def test_a_log_is_kept_from_a_file_and_into_a_file_alone(tmp_path: Path) -> None:
    step, data, elsewhere = tmp_path / "step", tmp_path / "data", tmp_path / "elsewhere"
    for folder in (step, data):
        folder.mkdir()
    elsewhere.write_text("of someone else")
    (data / "LOG").write_text("said")
    (step / "LOG").symlink_to(elsewhere)
    (data / "linked").symlink_to(elsewhere)
    os.mkfifo(data / "pipe")
    keep_database_files(step, data, ["LOG", "linked", "pipe", "missing"])
    assert (step / "LOG").read_text() == "said"
    assert elsewhere.read_text() == "of someone else"
    assert [path.name for path in step.iterdir()] == ["LOG"]
