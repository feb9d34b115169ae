"""Which files' contents stand behind a stage whose id was made before ids had them.

Its first results do not say what they were made with. The contents that a run finds first count as theirs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from stepgrid.host import file_reader
from stepgrid.host.durable_writes import make_folder, write_json
from stepgrid.language import input_record
from stepgrid.model.plan import PlannedStage
from stepgrid.store.store import Store


def stands_for(store: Store, stage: str, contents: Mapping[str, str]) -> bool:
    """Say whether the results under this id, which lacks some contents, count for these."""
    path = store.contents(stage)
    try:
        text = path.read_bytes()
    except OSError:
        input_record.saw(str(path), None)
        return bool(store.results(stage))
    input_record.saw(str(path), text)
    try:
        checksums = json.loads(text)
        return checksums.keys() <= contents.keys() and all(contents[name] == checksums[name] for name in checksums)
    except (ValueError, AttributeError):
        return bool(store.results(stage))


def note(store: Store, stages: Iterable[PlannedStage]) -> None:
    """Keep what comes first; names that an earlier version did not look at are added."""
    for stage in stages:
        contents, path = stage.contents, store.contents(stage.id)
        if not contents or not store.results(stage.id):
            continue
        checksums = file_reader.read(path)
        if checksums.keys() < contents.keys():
            make_folder(path.parent)
            write_json(path, {**contents, **checksums})
