"""What a stage needs: itself, and what is run again because there is no image."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stepgrid.host.file_tree import Tree
from stepgrid.store.status.eta import Pace, needed
from stepgrid.store.store import Store

STAGES: dict[str, dict[str, Any]] = {
    "s-load": {"id": "s-load", "parent": None, "seconds": 100.0},
    "s-more": {"id": "s-more", "parent": "s-load", "seconds": 20.0},
    "s-read": {"id": "s-read", "parent": "s-more", "seconds": 5.0},
}
PACE = Pace({True: 2.0})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "outputs")


def finish(store: Store, stage: str) -> None:
    attempt = store.new_attempt(stage)
    (attempt / "result.json").write_text("{}")
    store.publish_result(stage, attempt)


def keep_image(store: Store, stage: str) -> None:
    store.image(stage).mkdir(parents=True)
    (store.image(stage) / "image.json").write_text(json.dumps(Tree((), {}, {}).to_json()))


def test_what_never_ran_is_no_replay(store: Store) -> None:
    assert needed(store, STAGES["s-read"], STAGES, PACE) == 5.0


def test_what_ran_and_has_no_image_is_run_again(store: Store) -> None:
    finish(store, "s-load")
    finish(store, "s-more")
    assert needed(store, STAGES["s-read"], STAGES, PACE) == 5.0 + 20.0 + 2 * 100.0
    keep_image(store, "s-load")
    assert needed(store, STAGES["s-read"], STAGES, PACE) == 25.0
    keep_image(store, "s-more")
    assert needed(store, STAGES["s-read"], STAGES, PACE) == 5.0


def test_an_unknown_part_makes_the_whole_unknown(store: Store) -> None:
    finish(store, "s-more")
    stages = {**STAGES, "s-more": {**STAGES["s-more"], "seconds": 0.0}}
    assert needed(store, stages["s-read"], stages, PACE) is None
