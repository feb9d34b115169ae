"""Commands and exactly what they print: tests/cli/transcripts."""

import tempfile
from pathlib import Path

import pytest

from stepgrid.host import facts
from tests import transcripts
from tests.cli.worlds import WORLDS
from tests.conftest import HOST

SCENES = list(transcripts.scenes(Path(__file__).with_name("transcripts")))
BEGINNINGS = {scene.file: scene for scene in SCENES if not scene.name}


@pytest.fixture
def folder():
    """A folder whose path has always the same length: lines are wrapped and cut by it."""
    with tempfile.TemporaryDirectory(prefix="stepgrid-", dir="/tmp") as name:
        yield Path(name)


@pytest.mark.parametrize("scene", [scene for scene in SCENES if scene.name], ids=str)
def test_a_scene(scene, folder, monkeypatch, golden, request):
    (folder / "checkout").mkdir()
    monkeypatch.chdir(folder / "checkout")
    monkeypatch.setattr(facts, "hardware", lambda *_: HOST)  # which ids of stages, and so their order, come from
    for name, value in {
        "LOGNAME": "me",
        "USER": "me",
        "XDG_STATE_HOME": str(folder / "state"),
        "LC_ALL": "C.UTF-8",
    }.items():
        monkeypatch.setenv(name, value)
    transcripts.check(scene, BEGINNINGS[scene.file], WORLDS, request)
