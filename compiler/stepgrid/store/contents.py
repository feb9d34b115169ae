"""Which files' contents stand behind a stage whose id was made before ids had them.

Its first results do not say what they were made with. The contents that a run finds first count as theirs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from stepgrid.host.durable_writes import make_folder, write_json
from stepgrid.language import input_record
from stepgrid.model.plan import PlannedStage
from stepgrid.store.store import Store


def stands_for(store: Store, stage: str, contents: Mapping[str, str]) -> bool:
    """Whether the results under this id, which has no contents, count for these."""
    path = store.contents(stage)
    try:
        text = path.read_bytes()
    except OSError:
        input_record.saw(str(path), None)
        return bool(store.results(stage))
    input_record.saw(str(path), text)
    try:
        return bool(json.loads(text) == dict(contents))
    except ValueError:
        return bool(store.results(stage))


def note(store: Store, stages: Iterable[PlannedStage]) -> None:
    """Once for each: what comes first stays."""
    for stage in stages:
        contents = stage.contents
        if contents and store.results(stage.id) and not store.contents(stage.id).exists():
            make_folder(store.contents(stage.id).parent)
            write_json(store.contents(stage.id), contents)
