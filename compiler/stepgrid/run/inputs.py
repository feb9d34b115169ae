"""The files that a stage's commands read, as they were planned: figures of other contents would lie under its name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from stepgrid.host.failure import StageError
from stepgrid.language.file_checksum import checksum, knowing
from stepgrid.model.plan import FILES, INPUTS, PlannedStage, PlannedStep, paths_of
from stepgrid.store.store import Store

BEFORE, MEANWHILE = "after this run was planned", "while the stage ran"
_ADVICE = {
    BEFORE: "start the run again, which plans it anew",
    MEANWHILE: "have programs write to `{folder}`, leave what they read alone, and start the run again",
}


def paths(step: PlannedStep) -> dict[str, str]:
    """By the names that the spec gives them, absolute: a command runs in a folder of its own."""
    found = cast(Mapping[str, str], step.setup.get(INPUTS) or {})
    return {name: str(Path(path).absolute()) for name, path in found.items()}


def refuse_changed(store: Store, stage: PlannedStage, when: str) -> None:
    """Before the first step and after the last."""
    if not stage.contents:
        return
    with knowing(store.checksums()):
        for step in stage.steps:
            planned = cast(Mapping[str, str], step.setup.get(FILES) or {})
            for name, path in paths_of(step.setup).items():
                if wrong := _changed(path, planned[name]):
                    raise StageError(f"`{name}` {wrong} {when}: {_ADVICE[when]}", step.name)


def _changed(path: str, planned: str) -> str | None:
    try:
        return None if checksum(path) == planned else "changed"
    except OSError as error:
        return f"could not be read ({error.strerror})"
