"""Databases of stages: the one that a stage starts from, live, and its end state, kept as an image for its children.

An image is a cache, never part of a result. A child starts from its parent's image, or the parent is run again.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from msgspec import Struct

from stepgrid.host.failure import StageError, is_from_outside, is_of_missing_keys
from stepgrid.host.files import FICLONE, Tree, remove_tree, scan, write_json
from stepgrid.host.locks import LockBusy, host_lock, locked
from stepgrid.host.processes.signals import Interrupted
from stepgrid.model.plan import PlannedStage, PlannedStep, runs_already
from stepgrid.model.records import Facts, replace
from stepgrid.model.units import counted
from stepgrid.plugins.registry import engine
from stepgrid.run import options
from stepgrid.run.attempt import Attempt, close_abandoned
from stepgrid.run.bench import StageRun
from stepgrid.store.images import (
    DAMAGED_IMAGE,
    DamagedError,
    UnusableError,
    doubt_image,
    evict_image,
    fingerprint,
    first_difference,
    hold_image,
    note_use,
    read_image_record,
    verify_image,
)
from stepgrid.store.paths import DATA, IMAGE_FILE, now
from stepgrid.store.stage_requests import is_measured
from stepgrid.store.store import Store

EMPTY, REPLAY = "empty", "replay"
EXISTING = "there"  # of a server that ran before: whatever its database holds


class Start(Struct, frozen=True):
    """Origin of the database of a stage."""

    method: str
    bytes: int = 0
    copied: int = 0  # of these; the rest shares its blocks with the image
    replayed: tuple[str, ...] = ()
    image: str | None = None  # the stage whose image it is, as it was restored


def prepare(attempt: Attempt, data: Path) -> Start:
    """Make the database that a stage starts from, and note in attempt.json how."""
    began, chain = time.monotonic(), attempt.job.ancestors()
    start, position = _restore_nearest(attempt, chain, data)
    for index in range(position, len(chain)):
        follower = chain[index + 1] if index + 1 < len(chain) else attempt.job.stage
        start = _replay(attempt, chain[index], follower.id, data, start)
    facts: Facts = {
        "parent": attempt.job.stage.parent,
        "method": start.method,
        "seconds": time.monotonic() - began,
        "bytes": start.bytes,
        "copied": start.copied,
        "replayed": bool(start.replayed),
        "stages_replayed": list(start.replayed),
    }
    attempt.note(image=facts)
    return start


def is_managed(attempt: Attempt) -> bool:
    """Tell whether the database is made and kept here; that of a server that ran before is neither."""
    return not runs_already(attempt.job.build.source)


def immutable_files(attempt: Attempt) -> tuple[str, ...]:
    return engine(attempt.job.build.engine).immutable


def lacks_results(attempt: Attempt, stage: PlannedStage, except_child: str | None = None) -> bool:
    """Tell whether a planned child, except one, is still to run."""
    return any(not is_measured(attempt.job.store, child) for child in stage.children if child != except_child)


def _restore_nearest(attempt: Attempt, chain: list[PlannedStage], data: Path) -> tuple[Start, int]:
    """Restore the nearest ancestor's image; return the position of the first stage that must be replayed, too."""
    for position in range(len(chain), 0, -1) if is_managed(attempt) else ():
        if start := _restore(attempt, chain[position - 1], data):
            return start, position
    data.mkdir()
    return Start(EMPTY if is_managed(attempt) else EXISTING), 0


def _restore(attempt: Attempt, stage: PlannedStage, data: Path) -> Start | None:
    store = attempt.job.store
    try:
        with hold_image(store, stage.id):
            tree = verify_image(store, stage.id)
            note_use(store, stage.id)
            outcome = clone_tree(store.image(stage.id) / DATA, data, tree, immutable_files(attempt))
    except UnusableError as error:
        damaged = isinstance(error, DamagedError)
        attempt.journal("image unusable", stage=stage.id, why=str(error), damaged=damaged)
        if damaged:
            print(f"{stage.title} is run again: {error}", file=sys.stderr, flush=True)
            with suppress(LockBusy, OSError):  # one that cannot be removed now is found damaged again
                evict_image(store, attempt.job.stage.id, stage.id)
        return None
    attempt.journal("image restored", stage=stage.id, method=outcome.method, bytes=outcome.bytes, copied=outcome.copied)
    return Start(outcome.method, outcome.bytes, outcome.copied, image=stage.id)


def _replay(attempt: Attempt, stage: PlannedStage, follower: str, data: Path, start: Start) -> Start:
    """Run an ancestor again; publish nothing of it but the image, where other children wait for one."""
    attempt.journal("replay", stage=stage.id, title=stage.title)
    bench = StageRun(attempt, stage, attempt.folder / "replay" / stage.id, data, replay=True)
    try:
        with distrusting(attempt, start.image, stage):
            bench.run(options.check(attempt.job, stage))
    except StageError as failure:
        failure.message = f"while {stage.title} was run again: {failure.message}"
        raise
    end = Start(REPLAY, replayed=(*start.replayed, stage.id))
    if not (is_managed(attempt) and lacks_results(attempt, stage, except_child=follower)):
        return end
    keep(attempt, stage, data, replayed=True)
    return replace(_restore(attempt, stage, data) or end, replayed=end.replayed)


# Images: saved with checksums, verified, listed


def keep(attempt: Attempt, stage: PlannedStage, data: Path, replayed: bool = False) -> None:
    """Keep the end state of the attempt's stage, or of one that it replays, as an image that says whose it is."""
    job = attempt.job
    record = {"title": stage.title, "attempt": attempt.folder.name, "replayed": replayed}
    rules = SavingRules(immutable_files(attempt), job.site.image_checksums)
    save(job.store, job.stage.id, stage.id, data, rules, **record)


class SavingRules(NamedTuple):
    immutable: tuple[str, ...] = ()  # patterns of files that the engine never overwrites
    checksums: bool = False  # of all files, however large


def save(store: Store, owner: str, stage: str, data: Path, rules: SavingRules, **record: Any) -> None:
    """Make the live database the image of `stage`, by the job of `owner`: nothing is left at `data`."""
    staged = store.new_image(owner)
    try:
        tree = scan(data)
        try:
            os.rename(data, staged / DATA)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            clone_tree(data, staged / DATA, tree, rules.immutable)  # live databases may have a file system of their own
            remove_tree(data)
        files = fingerprint(staged / DATA, tree, rules.checksums)
        write_json(staged / IMAGE_FILE, replace(files, stage=stage, made_at=now(), **record))
        store.publish_image(stage, staged)
    except OSError:
        store.drop_image(staged)
        raise


def verify(store: Store, stage: str) -> tuple[str | None, str]:
    """Compare an image with all that was recorded of it; return what is wrong, and what was compared."""
    try:
        verify_image(store, stage)
    except UnusableError as error:
        return str(error), ""
    folder = store.image(stage)
    record = read_image_record(folder)
    sums, samples = (record.checksums, record.samples) if record else ({}, {})
    damaged, method = first_difference(folder / DATA, sums, samples), "files, sizes and checksums"
    if samples:
        total = counted(len(sums) + len(samples), "file")
        method = f"{method} ({len(sums)} of {total} in full, samples of the rest)"
    return (DAMAGED_IMAGE.format(damaged) if damaged else None), method


def list_files(store: Store, stage: str) -> Tree | None:
    """Read an image's list of files as it was saved; verify nothing."""
    record = read_image_record(store.image(stage))
    return Tree(record.folders, record.files, record.links) if record else None


# Trust in an image: a stage that started from it and fails may have met damage.
# A load may have taken hours: only checksums that differ, or an engine that reports corruption, cost an image.

PROVEN = "proven"  # a file of the image: a stage that started from it went well
CORRUPTION = re.compile(
    "corrupt|malformed|not a database|invalid page|page verification failed|checksum (mismatch|verification)", re.I
)
REMOVED = "the image that it started from was removed ({why}): the next attempt makes it again"
EVICT = "`stepgrid images {image} --yes` removes that"
EITHER = f"its options may be why, or the image that it started from: {EVICT}"
SOUND = f"the image that it started from is what was saved; {EVICT}"


@contextmanager
def distrusting(attempt: Attempt, image: str | None, stage: PlannedStage) -> Iterator[None]:
    """Discard the image that a stage started from, if the stage fails and the image's content is at fault."""
    store = attempt.job.store
    try:
        yield
    except StageError as failure:
        meets_database = failure.starting or failure.step == stage.steps[0].name or is_of_missing_keys(failure)
        if image is None or not meets_database or is_from_outside(failure):
            raise
        if reason := _reason_to_discard(store, image, failure):
            attempt.journal("image removed", stage=image, why=reason)
            store.discard_image(attempt.job.stage.id, image)
            failure.message += f"; {REMOVED.format(why=reason)}"
        elif failure.starting:
            # a server with the same options left the image: else they may be what is wrong
            maker = attempt.job.stages[image].steps[0]
            hint = SOUND if _server_options(maker) == _server_options(stage.steps[0]) else EITHER
            failure.message += f"; {hint.format(image=image)}"
        raise
    if image is not None:
        with suppress(OSError):
            (store.image(image) / PROVEN).touch()


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


def _server_options(step: PlannedStep) -> tuple[object, ...]:
    return {name: option.value for name, option in step.options.items()}, step.setup.launch


def is_proven(store: Store, stage: str) -> bool:
    """Check that no file was written since. A clock that goes back makes it unproven, and costs a replay."""
    folder = store.image(stage)
    try:
        files = [folder / DATA / name for name in scan(folder / DATA).files]
        written = max((path.stat().st_mtime for path in files), default=0.0)
        return (folder / PROVEN).is_file() and written <= (folder / IMAGE_FILE).stat().st_mtime
    except OSError:
        return False


# Live databases: one folder per running stage, removed with it; those of dead owners are swept at the start

PATIENCE = 0.5  # seconds that a person who pressed Ctrl-C may wait for a large database to go


@contextmanager
def live_database(store: Store, stage: str) -> Iterator[Path]:
    """Provide the path of the live database, absolute. Call it with the host's lock held.

    Removing large files is work for a disk: not while somebody measures. What cannot be removed now is swept later.
    """
    sweep(store, stage)
    folder = store.new_live(stage)
    until = None
    try:
        yield folder / DATA
    except Interrupted:
        until = time.monotonic() + PATIENCE
        raise
    finally:
        with suppress(OSError):
            remove_tree(folder, until)


def sweep(store: Store, stage: str) -> None:
    """End and remove what dead runners left. Call it with the stage's lock held: an owner holds its stage's lock."""
    for owner, folder in store.leftovers():
        with suppress(LockBusy, OSError):
            if owner == stage:
                remove_tree(folder)
                continue
            with locked(store.lock(owner), wait=False):
                close_abandoned(store, owner)
                remove_tree(folder)


def clear_up(store: Store) -> None:
    """Sweep for all stages, unless somebody measures now. A runner that was killed between its result and the removal
    of its database leaves one that no stage of this plan will come to sweep."""
    with suppress(LockBusy, OSError), host_lock(shared=True, wait=False):
        sweep(store, "")


# Copies of a database's folder: immutable files share their blocks, everything else is copied in full.
# A reflinked page costs some engines at its first overwrite and not others, so only files that nobody overwrites share.

CHUNK = 1 << 26
REFLINK, HARDLINK, COPY, MIXED = "reflink", "hardlink", "copy", "mixed"


class CloneOutcome(Struct, frozen=True):
    method: str  # of the immutable files; "copy" when there are none
    bytes: int  # of everything
    copied: int  # bytes that were written


def clone_tree(source: Path, target: Path, tree: Tree, immutable: Iterable[str]) -> CloneOutcome:
    target.mkdir(parents=True, exist_ok=True)
    for folder in tree.folders:
        (target / folder).mkdir(exist_ok=True)
        (target / folder).chmod((source / folder).stat().st_mode & 0o7777)
    for name, text in tree.links.items():
        (target / name).symlink_to(text)
    methods = {name: _share(source / name, target / name) for name in _matching(tree.files, immutable)}
    for name in tree.files.keys() - methods.keys():
        _copy(source / name, target / name)
    copied = sum(size for name, size in tree.files.items() if methods.get(name, COPY) == COPY)
    used = set(methods.values())
    return CloneOutcome(MIXED if len(used) > 1 else next(iter(used), COPY), tree.bytes, copied)


def copied_bytes(tree: Tree, immutable: Iterable[str], shares: bool) -> int:
    """Count the bytes that a clone writes."""
    shared = set(_matching(tree.files, immutable) if shares else ())
    return sum(size for name, size in tree.files.items() if name not in shared)


def unshared_bytes(tree: Tree, source: Tree, immutable: Iterable[str]) -> int:
    """Count bytes of files of a former clone that are not those of its source any more, by name and size."""
    same = {name for name in _matching(tree.files, immutable) if source.files.get(name) == tree.files[name]}
    return sum(size for name, size in tree.files.items() if name not in same)


def can_share(source: Path, tree: Tree, immutable: Iterable[str], folder: Path) -> bool:
    """Try with one file whether immutable files can share their blocks with a folder."""
    name = next(iter(_matching(tree.files, immutable)), None)
    if name is None:
        return False
    probe = folder / ".probe"
    try:
        if not _reflink(source / name, probe):
            os.link(source / name, probe)
    except OSError:
        return False
    probe.unlink()
    return True


def _matching(names: Iterable[str], patterns: Iterable[str]) -> list[str]:
    globs = tuple(patterns)
    return [name for name in names if any(PurePath(name).match(glob) for glob in globs)]


def _share(source: Path, target: Path) -> str:
    if _reflink(source, target):
        return REFLINK
    with suppress(OSError):  # another file system, too many links, a file system without them
        os.link(source, target)
        return HARDLINK
    _copy(source, target)
    return COPY


def _reflink(source: Path, target: Path) -> bool:
    with source.open("rb") as old, target.open("xb") as new:
        try:
            fcntl.ioctl(new.fileno(), FICLONE, old.fileno())
        except OSError:
            target.unlink()
            return False
        os.fchmod(new.fileno(), os.fstat(old.fileno()).st_mode & 0o7777)
    return True


def _copy(source: Path, target: Path) -> None:
    # sendfile, not copy_file_range: that one may share blocks behind our back
    with source.open("rb") as old, target.open("xb") as new:
        while os.sendfile(new.fileno(), old.fileno(), None, CHUNK):
            pass
        os.fchmod(new.fileno(), os.fstat(old.fileno()).st_mode & 0o7777)
