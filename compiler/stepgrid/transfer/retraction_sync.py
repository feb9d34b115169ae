"""Retractions in the shared folder of store push and pull: which results count no more, and which count again.

A retraction has an identity, and so has its undoing: what someone undid stays undone, whatever clock or order stores
push in. Both are files of their own beside the bundles, which nothing replaces."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stepgrid.build.error import BuildError
from stepgrid.host import files
from stepgrid.host.files import write_json
from stepgrid.host.locks import LockBusy, locked
from stepgrid.language.site import current_site
from stepgrid.store import retractions
from stepgrid.store.paths import RUN_LOCK
from stepgrid.store.retractions import Retraction
from stepgrid.store.store import Store
from stepgrid.transfer import signature
from stepgrid.transfer.remote_folder import RemoteFolder
from stepgrid.transfer.result_import import result_fault

PART, UNDONE, FORMAT = "retractions", "undone", 1
_FIELDS = {PART: ("result", "why", "who", "when"), UNDONE: ("result", "retraction")}
BUSY = "a run is active in this checkout: retractions were not taken; pull again when it has ended"


@dataclass(slots=True)
class Taken:
    """What a pull of retractions came to: results that count no more, and results that count again."""

    retracted: int = 0
    undone: int = 0
    wrong: list[str] = field(default_factory=list)


def push(remote: RemoteFolder, results: Iterable[Path], folder: Path, key: Path | None) -> int:
    """Those of results that the shared folder does not know; how many. `folder`: for what is under way."""
    there, pushed = {*remote.names(PART), *remote.names(UNDONE)}, 0
    for result in results:
        for part, digest, said in _notes(result):
            name = f"{part}/{digest}.json"
            if name not in there:
                write_json(folder / f"{digest}.json", {"format": FORMAT, "result": _name(result), **said})
                if key is not None:
                    remote.put(signature.sign(folder / f"{digest}.json", key), f"{name}{signature.SUFFIX}")
                remote.put(folder / f"{digest}.json", name)
                pushed += 1
    return pushed


def _notes(result: Path) -> Iterator[tuple[str, str, Mapping[str, str]]]:
    if (note := retractions.of(result)) and note.when:  # one that could be read
        yield PART, retractions.identity(result, note), {"why": note.why, "who": note.who, "when": note.when}
    for digest in retractions.undone(result):
        yield UNDONE, digest, {"retraction": digest}


def pull(store: Store, remote: RemoteFolder, folder: Path, stages: Collection[str] | None = None) -> Taken:
    """Of results that are here. A run that goes on may wait for one of them: it is left alone."""
    taken = Taken()
    undone = dict(_read(remote, UNDONE, folder, taken))
    standing = {digest: said for digest, said in _read(remote, PART, folder, taken) if digest not in undone}
    parts = ((undone, True), (standing, False))
    if any(True for said, undo in parts for _ in _changes(store, said, stages, undo)):
        try:
            with locked(store.lock(RUN_LOCK), wait=False):
                for said, undo in parts:  # one may stand of a result whose other one was undone
                    for result, note in _changes(store, said, stages, undo):
                        _take(store, result, note, taken)
        except LockBusy:
            taken.wrong.append(BUSY)
    return taken


def _changes(
    store: Store, said: Mapping[str, Mapping[str, str]], stages: Collection[str] | None, undo: bool
) -> Iterator[tuple[Path, Retraction | None]]:
    """Results that are otherwise than the shared folder says, each with its note, or without where that was undone."""
    for digest, entry in said.items():
        stage, _, time = entry["result"].partition("/")
        found = [each for each in store.all_results(stage) if each.name == time]
        if not found or (stages is not None and stage not in stages):
            continue
        here = retractions.of(found[0])
        if undo and here is not None and retractions.identity(found[0], here) == digest:
            yield found[0], None
        elif not undo and here is None and digest not in retractions.undone(found[0]):
            yield found[0], Retraction(entry["why"], entry["who"], entry["when"])


def _take(store: Store, result: Path, note: Retraction | None, taken: Taken) -> None:
    if note is None:
        retractions.undo(store, result)
        taken.undone += 1
    else:
        retractions.write(store, result, note)
        taken.retracted += 1


def _read(remote: RemoteFolder, part: str, folder: Path, taken: Taken) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Each with the digest that names it. What cannot be read, or is not what its name says, is left."""
    for name in remote.names(part):
        digest, _, suffix = name.partition("/")[2].partition(".")
        if suffix != "json":
            continue
        try:
            said = files.parse_json(_fetched(remote, name, folder).read_bytes())
        except BuildError as wrong:
            taken.wrong.append(str(wrong))
        except (OSError, ValueError):  # of a push that was killed
            continue
        else:
            if isinstance(said, dict) and said.get("format") == FORMAT and _digest(said, part) == digest:
                yield digest, said


def _fetched(remote: RemoteFolder, name: str, folder: Path) -> Path:
    """Where the site file names signers, one of them has signed it."""
    file = folder / name.partition("/")[2]
    remote.get(name, file)
    if signers := current_site().signers:
        with suppress(OSError, BuildError):  # there is none: `signer` says so
            remote.get(f"{name}{signature.SUFFIX}", file.with_name(f"{file.name}{signature.SUFFIX}"))
        signature.signer(file, signers)
    return file


def _digest(said: Mapping[str, Any], part: str) -> str | None:
    """Nothing where it lacks something, or names what can be no result."""
    found = [text for name in _FIELDS[part] if isinstance(text := said.get(name), str)]
    if len(found) < len(_FIELDS[part]) or result_fault(found[0]):
        return None
    return retractions.digest(*found) if part == PART else found[1]


def _name(result: Path) -> str:
    return f"{result.parent.name}/{result.name}"
