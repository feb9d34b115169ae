"""Snakemake needs no cache of the user: where HOME or the cache folder cannot be made, a run goes on as elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(("way", "name"), [("snakemake", "HOME"), ("stepgrid run", "XDG_CACHE_HOME")])
def test_a_folder_that_cannot_be_made(checkout: Any, tmp_path: Path, name: str, way: str) -> None:
    (tmp_path / "file").write_text("")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    run = [checkout.argv()[0], "stepgrid_run.py", "spec.json"]
    argv = checkout.argv() if way == "snakemake" else run
    env = {"XDG_CACHE_HOME": "", name: str(tmp_path / "file" / "below"), "TMPDIR": str(temporary)}
    done = checkout.execute(argv, **env)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert [*temporary.iterdir()] == []


def test_the_home_stays_as_it_is(checkout: Any, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    done = checkout.execute(checkout.argv(), HOME=str(home), XDG_CACHE_HOME="")
    assert done.returncode == 0, done.stderr
    assert [*home.iterdir()] == []
