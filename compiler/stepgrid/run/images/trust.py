"""An image whose first step fails, or on which no server comes up, is not used again: right in size, it may still be
wrong in content."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from stepgrid.host.failure import StageError, is_from_outside, is_of_missing_keys
from stepgrid.host.file_tree import scan
from stepgrid.model.plan import PlannedStage, PlannedStep
from stepgrid.plan.files import plan_file
from stepgrid.run.attempt import Attempt
from stepgrid.store.images.image_folders import DATA
from stepgrid.store.images.verification import doubt
from stepgrid.store.store import Store

PROVEN = "proven"  # a file of the image: a stage that started from it went well
EITHER = "its options may be why, or the image that it started from: `stepgrid images --evict {image}` removes that"
SAID = "the image that it started from was removed: the next attempt makes it again"


@contextmanager
def distrusting(attempt: Attempt, image: str | None, stage: PlannedStage) -> Iterator[None]:
    """Around the steps of a stage that started from an image, if it did.

    An image that served another stage and that nobody touched since stays: then the fault is the step's own, and
    its siblings need not pay with a load. Its files are read before its next use: a disk may have lost what it held.
    """
    try:
        yield
    except StageError as failure:
        if image is None or not _is_of_the_database(failure, stage) or is_from_outside(failure):
            raise
        if is_proven(attempt.job.store, image):
            doubt(attempt.job.store, image)
            raise
        if failure.starting and not _has_served_so(attempt, image, stage):
            raise replace(failure, message=f"{failure.message}; {EITHER.format(image=image)}") from None
        attempt.journal("image removed", stage=image, why=failure.message)
        attempt.job.store.discard_image(attempt.job.stage.id, image)
        raise replace(failure, message=f"{failure.message}; {SAID}") from None
    if image is not None:
        with suppress(OSError):
            (attempt.job.store.image(image) / PROVEN).touch()


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
