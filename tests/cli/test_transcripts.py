"""Commands and exactly what they print: tests/cli/transcripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.host import facts
from tests import transcripts
from tests.cli.worlds import WORLDS
from tests.conftest import HOST
from tests.golden import Golden
from tests.transcripts import Scene

SCENES = list(transcripts.scenes(Path(__file__).with_name("transcripts")))
BEGINNINGS = {scene.file: scene for scene in SCENES if not scene.name}


@pytest.mark.parametrize("scene", [scene for scene in SCENES if scene.name], ids=str)
def test_a_scene(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "checkout").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")
    monkeypatch.setattr(facts, "hardware", lambda *_: HOST)  # which ids of stages, and so their order, come from
    for name, value in (
        ("LOGNAME", "me"),
        ("USER", "me"),
        ("XDG_STATE_HOME", str(tmp_path / "state")),
        ("LC_ALL", "C.UTF-8"),
    ):
        monkeypatch.setenv(name, value)
    transcripts.check(scene, BEGINNINGS[scene.file], WORLDS, request)
