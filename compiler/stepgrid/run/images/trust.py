"""Discard an image whose content is at fault when a stage that started from it fails.

A load may have taken hours: only checksums that differ, or an engine that reports corruption, cost an image."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from stepgrid.host.failure import StageError, is_from_outside, is_of_missing_keys
from stepgrid.host.files import scan
from stepgrid.model.plan import PlannedStage, PlannedStep
from stepgrid.plan import plan_file
from stepgrid.run.attempt import Attempt
from stepgrid.store.images import DamagedError, UnusableError, doubt_image, verify_image
from stepgrid.store.paths import DATA
from stepgrid.store.store import Store

PROVEN = "proven"  # a file of the image: a stage that started from it went well
CORRUPTION = re.compile(
    "corrupt|malformed|not a database|invalid page|page verification failed|checksum (mismatch|verification)", re.I
)
REMOVED = "the image that it started from was removed ({why}): the next attempt makes it again"
EVICT = "`stepgrid images --evict {image}` removes that"
EITHER = f"its options may be why, or the image that it started from: {EVICT}"
SOUND = f"the image that it started from is what was saved; {EVICT}"


@contextmanager
def distrusting(attempt: Attempt, image: str | None, stage: PlannedStage) -> Iterator[None]:
    """Around the steps of a stage that started from an image, if it did."""
    try:
        yield
    except StageError as failure:
        if image is None or not _is_of_the_database(failure, stage) or is_from_outside(failure):
            raise
        if why := _reason_to_discard(attempt.job.store, image, failure):
            attempt.journal("image removed", stage=image, why=why)
            attempt.job.store.discard_image(attempt.job.stage.id, image)
            raise replace(failure, message=f"{failure.message}; {REMOVED.format(why=why)}") from None
        if failure.starting:
            hint = SOUND if _has_served_so(attempt, image, stage) else EITHER
            raise replace(failure, message=f"{failure.message}; {hint.format(image=image)}") from None
        raise
    if image is not None:
        with suppress(OSError):
            (attempt.job.store.image(image) / PROVEN).touch()


def _reason_to_discard(store: Store, image: str, failure: StageError) -> str | None:
    """Corruption beside sound checksums was saved with the image, unless another stage has used it since."""
    try:
        doubt_image(store, image)
        verify_image(store, image)
    except DamagedError as damage:
        return str(damage)
    except (UnusableError, OSError):
        return None
    if failure.exited_well or not CORRUPTION.search(failure.tail) or is_proven(store, image):
        return None
    return "the engine reports corruption"


def _is_of_the_database(failure: StageError, stage: PlannedStage) -> bool:
    return failure.starting or failure.step == stage.steps[0].name or is_of_missing_keys(failure)


def _has_served_so(attempt: Attempt, image: str, stage: PlannedStage) -> bool:
    """Whether the stage that left the image had a server with the same options: else they may be what is wrong."""
    made = plan_file.stage(attempt.job.store.plan(attempt.job.plan), image).steps[0]
    return _given(made) == _given(stage.steps[0])


def _given(step: PlannedStep) -> tuple[object, ...]:
    return {name: option.value for name, option in step.options.items()}, step.setup.get("launch")


def is_proven(store: Store, stage: str) -> bool:
    """Whether a file was written since: a clock that goes back makes it unproven, and costs a replay."""
    folder = store.image(stage)
    try:
        written = max((_modified(folder / DATA / name) for name in scan(folder / DATA).files), default=0.0)
        return (folder / PROVEN).is_file() and written <= _modified(folder / "image.json")
    except OSError:
        return False


def _modified(path: Path) -> float:
    return path.stat().st_mtime
