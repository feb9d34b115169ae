"""Saved databases (images): what they take on the disk, whether they are what was saved, and how large databases grow.

An image is a cache of the database at the end of a stage. None goes while it is restored."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence, Set
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path

from msgspec import Struct

from stepgrid.errors import StepgridError
from stepgrid.host.files import (
    Tree,
    modification_times,
    read_bytes,
    read_record,
    scan,
    write_json,
)
from stepgrid.host.locks import locked
from stepgrid.host.page_cache import resident_bytes
from stepgrid.model.records import DatabaseSizes, ImageRecord, ImageState, parse_names, replace
from stepgrid.plan.actions import NO_IMAGE
from stepgrid.store.paths import DATA, IMAGE_FILE, USED, VERIFIED, Blocks, File, stored_files, subfolders
from stepgrid.store.store import Store, write_note


class Image(Struct, frozen=True):
    stage: str
    folder: Path
    title: str
    used: float  # when it was made, or restored last
    files: Mapping[File, Blocks]

    @property
    def bytes(self) -> int:
        return sum(blocks.bytes for blocks in self.files.values())

    @property
    def unshared(self) -> int:
        """Add up the bytes that go with it: files that nothing else has a link to."""
        return sum(blocks.bytes for blocks in self.files.values() if blocks.links <= blocks.names)


def list_images(store: Store) -> list[Image]:
    """List the images of this checkout, least lately used first."""
    images = []
    for folder in subfolders(store.image("_").parent):
        record = read_image_record(folder)
        title = record.title if record and record.title else folder.name
        images.append(Image(folder.name, folder, title, last_use(folder), stored_files(folder)))
    return sorted(images, key=lambda image: (image.used, image.stage))


def read_image_record(folder: Path) -> ImageRecord | None:
    """Read image.json; None when it cannot be read."""
    try:
        return _load_record(folder)
    except (OSError, ValueError):
        return None


def _load_record(folder: Path) -> ImageRecord:
    return parse_names(read_bytes(folder / IMAGE_FILE), ImageRecord)


def image_bytes(store: Store, stage: str) -> int | None:
    """Read the size of an image from its record."""
    record = read_image_record(store.image(stage))
    return record.bytes if record else None


def last_use(folder: Path) -> float:
    times = [path.stat().st_mtime for name in (USED, IMAGE_FILE) if (path := folder / name).exists()]
    return max(times, default=folder.stat().st_mtime)


def note_use(store: Store, stage: str) -> None:
    """Note that an image is restored; a store that cannot be written loses nothing but the order of eviction."""
    with suppress(OSError):
        (store.image(stage) / USED).touch()


def hold_image(store: Store, stage: str) -> AbstractContextManager[object]:
    """Keep an image from being evicted while it is restored."""
    return locked(_lock(store, stage), shared=True)


def evict_image(store: Store, owner: str, stage: str) -> None:
    """Remove an image; called by the job of stage `owner`. LockBusy when it is being restored."""
    with locked(_lock(store, stage), wait=False):
        store.discard_image(owner, stage)
        _lock(store, stage).unlink(missing_ok=True)


def _lock(store: Store, stage: str) -> Path:
    return store.lock(f"image-{stage}")


# Sizes that databases grew to, by the steps that made them: the next stage of such steps is expected to need as much.
# A cache of what attempts say (`disk` in attempt.json): one that is lost is learnt again.

MOST_SIZES = 8  # of the latest


def note_database_size(store: Store, shape: str, grown: int) -> None:
    path = store.database_sizes(shape)
    with suppress(OSError):
        write_note(path, DatabaseSizes((*database_sizes(store, shape), grown)[-MOST_SIZES:]))


def database_sizes(store: Store, shape: str) -> Sequence[int]:
    """Read the bytes of the latest stages of this shape, oldest first."""
    return read_record(store.database_sizes(shape), DatabaseSizes).bytes


# Verification: sizes are compared at every use, contents after a restart of the host or a change of times.

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
DAMAGED_IMAGE = "the image is damaged: {}"


class UnusableError(StepgridError):
    """An image that cannot be restored."""


class DamagedError(UnusableError):
    """An image that is not what was saved."""


def fingerprint(root: Path, tree: Tree, in_full: bool) -> ImageRecord:
    """Describe the files of an image. `in_full`: checksums of all files, however large."""
    sums = file_checksums(root, tree, float("inf") if in_full else FULL_LIMIT)
    samples = {name: sample_checksum(root / name) for name in tree.files.keys() - sums.keys()}
    state = _file_state(root, tree)
    return ImageRecord(
        bytes=tree.bytes,
        folders=tree.folders,
        files=tree.files,
        links=tree.links,
        boot=state.boot,
        times=state.times,
        checksums=sums,
        samples=samples,
    )


def verify_image(store: Store, stage: str) -> Tree:
    """Return the image's list of files, where they are what was saved, and note that they are sound."""
    check = _look(store, stage)
    if check.changed or check.is_restarted:
        check.read_files()
        _note_verified(store, stage, check.state)
    return check.tree


def image_damage(store: Store, stage: str) -> str | None:
    """Say what is wrong with an image, if there is one; only files whose times changed are read."""
    try:
        replace(_look(store, stage), is_restarted=False).read_files()
    except DamagedError as error:
        return str(error)
    except UnusableError:
        return None
    return None


class ImageVerifier:
    """Verifier that looks at an image once for each time that it was saved."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._damages: dict[str, tuple[int, str | None]] = {}  # by stage, with the time of image.json

    def damage(self, stage: str) -> str | None:
        """Say why there is no sound image."""
        try:
            saved = (self._store.image(stage) / IMAGE_FILE).stat().st_mtime_ns
        except OSError:
            return NO_IMAGE
        if self._damages.get(stage, (0, None))[0] != saved:
            self._damages[stage] = saved, image_damage(self._store, stage)
        return self._damages[stage][1]


def doubt_image(store: Store, stage: str) -> None:
    """Have an image read before its next use, as after a restart."""
    record = read_image_record(store.image(stage))
    _note_verified(store, stage, ImageState(boot="in doubt", times=record.times if record else {}))


def _note_verified(store: Store, stage: str, state: ImageState) -> None:
    """Note the state of sound files; a store that cannot be written forgets it, and the files are read again."""
    with suppress(OSError):
        write_json(store.image(stage) / VERIFIED, state, durable=False)


class _ImageCheck(Struct, frozen=True):
    """A look at the files of an image."""

    tree: Tree
    folder: Path
    record: ImageRecord
    state: ImageState
    changed: Set[str]  # since the image was verified last
    is_restarted: bool  # the host, since then

    def read_files(self) -> None:
        """Compare contents. A sample says that a file came through a restart, not that nobody wrote to it."""
        sums, samples = self.record.checksums, self.record.samples
        if unsummed := sorted(self.changed - sums.keys()):
            sentence = f"{unsummed[0]} was written after it was saved, and only samples of it were kept"
            raise DamagedError(DAMAGED_IMAGE.format(sentence))
        chosen = sums if self.is_restarted else {name: sums[name] for name in self.changed}
        if difference := first_difference(self.folder / DATA, chosen, samples if self.is_restarted else {}):
            raise DamagedError(DAMAGED_IMAGE.format(difference))


def _look(store: Store, stage: str) -> _ImageCheck:
    folder = store.image(stage)
    try:
        record = _load_record(folder)
    except FileNotFoundError:
        raise UnusableError("there is no image") from None
    except (OSError, ValueError):
        raise DamagedError(DAMAGED_IMAGE.format("its image.json cannot be read")) from None
    tree = Tree(record.folders, record.files, record.links)
    if difference := tree.difference(scan(folder / DATA)):
        raise DamagedError(DAMAGED_IMAGE.format(difference))
    state = _file_state(folder / DATA, tree)
    last = _last_state(folder) or ImageState(boot=record.boot, times=record.times)
    changed = {name for name, when in state.times.items() if last.times.get(name) != when}
    return _ImageCheck(tree, folder, record, state, changed, state.boot != last.boot)


def _last_state(folder: Path) -> ImageState | None:
    try:
        return parse_names(read_bytes(folder / VERIFIED), ImageState)
    except (OSError, ValueError):
        return None


def _file_state(root: Path, tree: Tree) -> ImageState:
    try:
        boot = BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        boot = ""  # as if the host never restarted
    return ImageState(boot=boot, times=modification_times(root, tree))


# Checksums: small files in full, samples of the rest, as reading a large database takes long.

DIGEST = partial(hashlib.blake2b, digest_size=20)
FULL_LIMIT = 1 << 30  # bytes of an image that are read in full, where nobody asks for more
SAMPLE_BYTES, SAMPLE_COUNT = 1 << 14, 4  # of a file, from its start to its end


def file_checksums(root: Path, tree: Tree, limit: float = float("inf")) -> dict[str, str]:
    """Sum files by name, the smallest first, while no more than `limit` bytes are read."""
    sums: dict[str, str] = {}
    for name, size in sorted(tree.files.items(), key=lambda entry: (entry[1], entry[0])):
        limit -= size
        if limit < 0:
            break
        sums[name] = file_checksum(root / name)
    return sums


def file_checksum(path: Path) -> str:
    """Sum a file; the page cache stays as it was where it held nothing of it: steps are measured with it."""
    cached = resident_bytes(path)
    with path.open("rb") as file:
        checksum = hashlib.file_digest(file, DIGEST).hexdigest()
        if cached == 0:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return checksum


def sample_checksum(path: Path) -> str:
    digest, last = DIGEST(), max(path.stat().st_size - SAMPLE_BYTES, 0)
    with path.open("rb") as file:
        for number in range(SAMPLE_COUNT):
            digest.update(os.pread(file.fileno(), SAMPLE_BYTES, last * number // (SAMPLE_COUNT - 1)))
    return digest.hexdigest()


def first_difference(root: Path, sums: Mapping[str, str], samples: Mapping[str, str]) -> str | None:
    """Say which file is the first that is not what it was."""
    for name, expected in sorted({**samples, **sums}.items()):
        try:
            read = file_checksum if name in sums else sample_checksum
            if read(root / name) != expected:
                return f"{name} is not what was saved: its checksum differs"
        except OSError as error:
            return f"{name} cannot be read: {error.strerror}"
    return None
