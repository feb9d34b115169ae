"""Stages that are to be measured again beside the results that they have, until a new one is there.

What is asked for stands in a file per stage. It is done when the stage has a result that it had not then, so that
nothing needs to be struck off, and a kill at any moment loses nothing."""

from __future__ import annotations

import getpass
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from stepgrid.host.files import make_folder, write_json
from stepgrid.store.store import Store


@dataclass(frozen=True, slots=True)
class RedoRequest:
    stage: str
    who: str
    when: str
    why: str
    beside: tuple[str, ...]  # the results that there were, retracted ones too

    @property
    def said(self) -> str:
        return f"asked for by {self.who}, {self.when[:16].replace('T', ' ')} UTC{f': {self.why}' if self.why else ''}"


def ask(store: Store, stage: str, why: str, by: str | None = None) -> RedoRequest:
    """The mark stays until a run begins: one that goes on may wait for it."""
    beside = tuple(result.name for result in store.all_results(stage))
    made = RedoRequest(stage, by or who(), datetime.now(UTC).isoformat(timespec="seconds"), why, beside)
    make_folder(store.redo_request(stage).parent)
    write_json(store.redo_request(stage), asdict(made))
    return made


def withdraw(store: Store, stage: str) -> None:
    store.redo_request(stage).unlink(missing_ok=True)


def note_import(store: Store, stage: str, result: str) -> None:
    """A result that comes from elsewhere is not the one that was asked for here."""
    if found := record(store, stage):
        write_json(store.redo_request(stage), asdict(found) | {"beside": [*found.beside, result]})


def record(store: Store, stage: str) -> RedoRequest | None:
    """What was asked for last, done or not."""
    try:
        raw: dict[str, Any] = json.loads(store.redo_request(stage).read_text(encoding="utf-8"))
        return RedoRequest(stage, str(raw["who"]), str(raw["when"]), str(raw["why"]), tuple(map(str, raw["beside"])))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def pending(store: Store, stage: str) -> RedoRequest | None:
    """What is asked for and not done: all results are those that there were then. Without any it runs anyway."""
    found = record(store, stage)
    if found is None or store.result(stage) is None:
        return None
    return found if {result.name for result in store.all_results(stage)} <= {*found.beside} else None


def all_pending(store: Store, stages: Iterable[str] | None = None) -> dict[str, RedoRequest]:
    """Of these stages, or of all."""
    there = _stages(store) if stages is None else _stages(store) & set(stages)
    found = {stage: pending(store, stage) for stage in sorted(there)}
    return {stage: asked for stage, asked in found.items() if asked}


def measured(store: Store, stage: str) -> bool:
    """It has a result, and no other is asked for."""
    return store.result(stage) is not None and pending(store, stage) is None


def who() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a user without a name, as in some containers
        return str(os.getuid())


def name_user() -> None:
    """Name a user without a passwd entry, as in some containers, by its id: Snakemake asks for the name."""
    try:
        getpass.getuser()
    except (OSError, KeyError):
        os.environ["LOGNAME"] = str(os.getuid())


def _stages(store: Store) -> set[str]:
    try:
        names = os.listdir(store.redo_request("_").parent)  # noqa: PTH208 - looked at by every command that finds nothing to do
    except FileNotFoundError:
        return set()
    return {name.removesuffix(".json") for name in names if name.endswith(".json") and not name.startswith(".")}
