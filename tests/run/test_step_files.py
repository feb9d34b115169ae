from __future__ import annotations

from pathlib import Path

from stepgrid.run.step_files import attach


def test_nobody_else_may_read_what_may_hold_a_password(tmp_path: Path) -> None:
    attach(tmp_path, {"a": "secret", "b": ""})
    assert (tmp_path / "a").read_text() == "secret"
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    attach(tmp_path, {"c": "configuration"}, 0o644)
    assert (tmp_path / "c").stat().st_mode & 0o044
