from pathlib import Path

import pytest

from stepgrid.build.commands import COOKIE, Commands, mask_credentials


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("git ls-remote -- https://me:secret@a.example/b.git v1", "git ls-remote -- https://***@a.example/b.git v1"),
        ("https://token@a.example/b", "https://***@a.example/b"),
        ("http://me:p@ss@a.example:8080/", "http://***@a.example:8080/"),
        ("ssh://git@a.example/b.git", "ssh://git@a.example/b.git"),
        ("ssh://git:secret@a.example/b.git", "ssh://git:***@a.example/b.git"),
        ("https://a.example/@scope/b and c@d.example", "https://a.example/@scope/b and c@d.example"),
    ],
)
def test_what_lets_someone_in(text: str, shown: str) -> None:
    assert mask_credentials(text) == shown


def test_what_reaches_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CXXFLAGS", "-O0")
    monkeypatch.setenv("GIT_DIR", "x")
    monkeypatch.setenv("https_proxy", "http://a.example:3128")
    commands = Commands(tmp_path / "log", tmp_path)
    asked = commands.run(["env"], 60, quiet=True, env={"X": "y"}).stdout.splitlines()
    assert commands.compile(["env"], 60, env={"X": "y"}) == 0
    made = (tmp_path / "log").read_text().splitlines()
    assert ("CXXFLAGS=-O0" in asked, "CXXFLAGS=-O0" in made) == (True, False)
    common = {"X=y", "LC_ALL=C", f"{COOKIE}={tmp_path}", f"TMPDIR={tmp_path}/tmp", "https_proxy=http://a.example:3128"}
    for environment in (asked, made):
        assert common <= {*environment}
        assert "GIT_DIR=x" not in environment
