"""Probes of a step: commands that are run and timed before or after it; the seconds are kept in the step's record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from compiler.drivers.command.words import argv
from compiler.drivers.protocol import Context
from compiler.run.failure import StageError, end_of, telling
from compiler.run.supervise import MissingError, environment, supervise
from compiler.store.durable import write_json

BEFORE, AFTER = "before", "after"


def run(setup: Mapping[str, Any], when: str, step: str, context: Context, deadline: float) -> dict[str, float]:
    """Of one step: name -> seconds, in their order."""
    return {probe["name"]: _timed(probe, when, step, context, deadline) for probe in setup.get(when) or ()}


def _timed(probe: Mapping[str, Any], when: str, step: str, context: Context, deadline: float) -> float:
    name, folder = probe["name"], context.folder / "probes" / f"{when}-{probe['name']}"
    folder.mkdir(parents=True)
    command = _argv(probe["command"], name, step, context)
    env = environment({})
    write_json(folder / "command.json", {"argv": list(command), "environment": env})
    try:
        ended = supervise(command, env, folder, deadline, _nothing, _nothing)
    except MissingError as error:
        raise StageError(f"probe {name}: {error}", step) from None
    if ended.exit or ended.overdue:
        why = f"did not end within {deadline:g} s" if ended.overdue else f"ended with exit status {ended.exit}"
        raise _failure(f"probe {name} {why}", step, folder)
    write_json(folder / "probe.json", {"name": name, "when": when, "seconds": ended.seconds, "started": ended.started})
    return ended.seconds


def _argv(words: Sequence[str], name: str, step: str, context: Context) -> tuple[str, ...]:
    try:
        return argv(words, {}, context)
    except LookupError as error:
        raise StageError(f"probe {name}: {error.args[0]}", step) from None


def _failure(message: str, step: str, folder: Path) -> StageError:
    log = telling(folder)
    return StageError(message, step, log, end_of(log))


def _nothing(_pid: int) -> None:
    """The sampler is the step's."""
