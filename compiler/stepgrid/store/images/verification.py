"""Whether an image is what was saved: sizes at every use, contents after a restart of the host or a change of times."""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stepgrid.errors import StepgridError
from stepgrid.host.files import Tree, modification_times, scan
from stepgrid.plan.actions import NO_IMAGE
from stepgrid.store.images import image_folders
from stepgrid.store.images.checksums import LIMIT, first_wrong, samples_of, sums_of
from stepgrid.store.images.image_folders import DATA
from stepgrid.store.store import Store

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
BOOT, TIMES, SUMS, SAMPLES = "boot", "times", "checksums", "samples"
SAYS = "the image is damaged: {}"


class UnusableError(StepgridError):
    """Why an image cannot be restored."""


class DamagedError(UnusableError):
    """There is one, and it is not what was saved."""


def fingerprint(root: Path, tree: Tree, whole: bool) -> dict[str, Any]:
    """For image.json. `whole`: checksums of all files, however large."""
    sums = sums_of(root, tree, float("inf") if whole else LIMIT)
    return {**_seen(root, tree), SUMS: sums, SAMPLES: samples_of(root, tree.files.keys() - sums.keys())}


def load(store: Store, stage: str) -> Tree:
    """The image's list of files, where they are what was saved; it is noted what was found sound."""
    tree, reason = _look(store, stage)
    if reason.changed or reason.restarted:
        reason.read()
        image_folders.note_verified(store, stage, reason.seen)
    return tree


def damage(store: Store, stage: str) -> str | None:
    """What a look says is wrong: only files whose times changed are read. None where there is no image."""
    try:
        replace(_look(store, stage)[1], restarted=False).read()
    except DamagedError as why:
        return str(why)
    except UnusableError:
        return None
    return None


class ImageVerifier:
    """Looks at images, as `damage` does, one for each time that an image was saved."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, tuple[int, str | None]] = {}

    def damage(self, stage: str) -> str | None:
        """Nothing where there is an image, and it is sound."""
        try:
            saved = (self._store.image(stage) / image_folders.RECORD).stat().st_mtime_ns
        except OSError:
            return NO_IMAGE
        if self._known.get(stage, (0, None))[0] != saved:
            self._known[stage] = saved, damage(self._store, stage)
        return self._known[stage][1]


def doubt(store: Store, stage: str) -> None:
    """It is read before its next use, as after a restart."""
    record = image_folders.record(store.image(stage))
    image_folders.note_verified(store, stage, {TIMES: record.get(TIMES, {}), BOOT: "in doubt"})


@dataclass(frozen=True, slots=True)
class _Reason:
    """Why files of an image are read, where they are."""

    folder: Path
    record: Mapping[str, Any]
    seen: Mapping[str, Any]
    changed: Set[str]
    restarted: bool

    def read(self) -> None:
        """A sample says that a file came through a restart, and nothing of one that somebody wrote to."""
        sums, samples = self.record.get(SUMS, {}), self.record.get(SAMPLES, {})
        if unknown := sorted(self.changed - sums.keys()):
            why = f"{unknown[0]} was written after it was saved, and only samples of it were kept"
            raise DamagedError(SAYS.format(why))
        chosen = sums if self.restarted else {name: sums[name] for name in self.changed}
        if wrong := first_wrong(self.folder / DATA, chosen, samples if self.restarted else {}):
            raise DamagedError(SAYS.format(wrong))


def _look(store: Store, stage: str) -> tuple[Tree, _Reason]:
    folder, tree = store.image(stage), _sized(store, stage)
    record, seen = image_folders.record(folder), _seen(folder / DATA, tree)
    if TIMES not in record:  # an earlier version saved it: sizes are all that is known
        return tree, _Reason(folder, record, seen, frozenset(), restarted=False)
    last = image_folders.verified(folder) or record
    changed = {name for name, when in seen[TIMES].items() if last[TIMES].get(name) != when}
    return tree, _Reason(folder, record, seen, changed, seen[BOOT] != last.get(BOOT))


def _sized(store: Store, stage: str) -> Tree:
    folder = store.image(stage)
    try:
        tree = Tree.from_json(json.loads((folder / image_folders.RECORD).read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise UnusableError("there is no image") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise DamagedError(SAYS.format("its image.json cannot be read")) from None
    if difference := tree.difference(scan(folder / DATA)):
        raise DamagedError(SAYS.format(difference))
    return tree


def _seen(root: Path, tree: Tree) -> dict[str, Any]:
    try:
        boot = BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        boot = ""  # it cannot be told: as if the host never restarted
    return {BOOT: boot, TIMES: modification_times(root, tree)}
