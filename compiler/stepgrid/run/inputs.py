"""The files that a stage's commands read, as they were planned: figures of other contents would lie under its name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

from stepgrid.host.failure import StageError
from stepgrid.language.files import checksum, holds_data, reuse_checksums
from stepgrid.model.plan import FILES, INPUTS, PlannedStage, PlannedStep, input_paths
from stepgrid.plugins.registry import input_files
from stepgrid.store.store import Store

BEFORE, MEANWHILE = "after this run was planned", "while the stage ran"
SHOWN_FILES = 3  # names of a sentence
SYSTEM = tuple(
    f"/{name}/"
    for name in ("bin", "dev", "etc", "lib", "lib32", "lib64", "proc", "run", "sbin", "sys", "usr", "var/cache")
)
_ADVICE = {
    BEFORE: "start the run again, which plans it anew",
    MEANWHILE: "have programs write to `{folder}`, leave what they read alone, and start the run again",
}


def paths(step: PlannedStep) -> dict[str, str]:
    """By the names that the spec gives them, absolute: a command runs in a folder of its own."""
    inputs = cast(Mapping[str, str], step.setup.get(INPUTS) or {})
    return {name: str(Path(path).absolute()) for name, path in inputs.items()}


def refuse_changed(store: Store, stage: PlannedStage, when: str) -> None:
    """Before the first step and after the last."""
    if not stage.contents:
        return
    with reuse_checksums(store.checksums()):
        for step in stage.steps:
            planned = cast(Mapping[str, str], step.setup.get(FILES) or {})
            for name, path in input_paths(step.setup).items():
                if wrong := _changed(path, planned[name]):
                    raise StageError(f"`{name}` {wrong} {when}: {_ADVICE[when]}", step.name)


def unnamed(paths: Iterable[str], step: PlannedStep, known_paths: Iterable[str]) -> str | None:
    """A sentence about files that a step had open and that are no part of its identity."""
    named = [Path(path) for path in (*input_paths(step.setup).values(), *known_paths)]
    roots = [os.path.realpath(path) for path in named]  # with what is below a folder
    files = sorted(
        path
        for path in paths
        if not path.startswith(SYSTEM)
        and not any(path == root or path.startswith(f"{root.rstrip('/')}/") for root in roots)
        and holds_data(path)
    )
    if not files:
        return None
    names = (
        f"{', '.join(files[:SHOWN_FILES])}{f' and {len(files) - SHOWN_FILES} more' if len(files) > SHOWN_FILES else ''}"
    )
    hint = "; list them under `files:`" if input_files(step.kind) else ""
    return f"it had files open that nothing names, whose changes go unnoticed: {names}{hint}"


def _changed(path: str, planned: str) -> str | None:
    try:
        return None if checksum(path) == planned else "changed"
    except OSError as error:
        return f"could not be read ({error.strerror})"
