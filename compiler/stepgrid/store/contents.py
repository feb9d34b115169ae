"""Results under ids of before: ids have not always had the contents of files, and had what is read of the output.

Such a result does not say with which contents it was made: those that a run finds first count as its own. Once a stage
is found under an earlier id, that is kept, so that a change of what is read of its output does not lose it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from stepgrid.host.files import make_folder, read_json, write_json, write_text
from stepgrid.language import files
from stepgrid.model.plan import PlannedStage
from stepgrid.store.store import Store


def chosen_id(store: Store, today: str, earlier: Sequence[str], contents: Mapping[str, str]) -> str:
    """Choose the id under which the results of a stage lie."""
    path = store.earlier_id(today)
    try:
        text = path.read_bytes()
    except OSError:
        text = None
    files.record_file(str(path), text)
    if text:  # a lost result keeps its id: else all that comes after it would have another one as well
        node = text.decode(errors="replace")
        return node if _stands_for(store, node, contents, True) else today
    return next((node for node in earlier if _stands_for(store, node, contents, bool(store.results(node)))), today)


def _stands_for(store: Store, stage: str, contents: Mapping[str, str], unrecorded: bool) -> bool:
    """Say whether results under this id count for these contents; `unrecorded`: where nobody noted what they read."""
    path = store.contents(stage)
    try:
        text = path.read_bytes()
    except OSError:
        files.record_file(str(path), None)
        return unrecorded
    files.record_file(str(path), text)
    try:
        checksums = json.loads(text)
        return checksums.keys() <= contents.keys() and all(contents[name] == checksums[name] for name in checksums)
    except (ValueError, AttributeError):
        return unrecorded


def note(store: Store, stages: Iterable[PlannedStage]) -> None:
    """Keep what comes first; names that an earlier version did not look at are added."""
    for stage in stages:
        if stage.todays and not store.earlier_id(stage.todays).exists():
            make_folder(store.earlier_id(stage.todays).parent)
            write_text(store.earlier_id(stage.todays), stage.id)
        contents, path = stage.contents, store.contents(stage.id)
        if not contents or not store.results(stage.id):
            continue
        checksums = read_json(path)
        if checksums.keys() < contents.keys():
            make_folder(path.parent)
            write_json(path, {**contents, **checksums})
