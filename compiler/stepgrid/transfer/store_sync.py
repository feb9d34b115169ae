"""Results of several stores in one shared folder: what it lacks is pushed, what a store lacks is pulled.

The folder holds bundles, as `stepgrid export` writes them, named by their checksum, and an entry of its index for each.
The entry comes last: a push that is killed leaves a bundle that nobody knows, and goes on with what has no entry."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stepgrid.build.error import BuildError
from stepgrid.host import file_reader
from stepgrid.host.durable_writes import make_folder, remove_tree, write_json
from stepgrid.host.locks import locked
from stepgrid.language.site.site_file import of_environment
from stepgrid.model.plan import Plan
from stepgrid.plan.files import plan_file
from stepgrid.plan.files.integrity import DAMAGED
from stepgrid.store import plans
from stepgrid.store.store import Store
from stepgrid.store.timestamps import now
from stepgrid.transfer import result_export, retraction_sync, signature
from stepgrid.transfer.remote_folder import RemoteFolder
from stepgrid.transfer.result_import import publish

BUNDLES, INDEX, FORMAT = "bundles", "index", 1
SUFFIX = ".tar.gz"
MOST, LARGEST = 50, 32 << 20  # results of a bundle, and bytes of them after which it is closed
_NAME = "transfer"  # of the lock, and of the folder for what is under way


@dataclass(slots=True)
class Moved:
    """What a push or pull came to."""

    results: int = 0
    bundles: int = 0
    bytes: int = 0
    known: int = 0  # results that were there already
    retracted: int = 0  # retractions, and those that were undone
    wrong: list[str] = field(default_factory=list)  # sentences: what could not be moved


@dataclass(frozen=True, slots=True)
class PushOptions:
    key: Path | None = None  # of ssh, to sign bundles with
    host: bool = False  # the names of hosts go along


def push(
    store: Store, remote: RemoteFolder, only: Sequence[Plan] | None = None, options: PushOptions | None = None
) -> Moved:
    """Of some plans, or of all that are stored."""
    moved, there = Moved(), {result for entry in _entries(remote) for result in entry["results"]}
    plans_of = [*_stored(store, moved)] if only is None else only
    options = options or PushOptions()
    with _staging(store) as folder:
        for plan in plans_of:
            own = [name for name in _results(store, plan) if name not in there]
            moved.known += sum(name in there for name in _results(store, plan)) if only is not None else 0
            for part in _parts(store, own):
                there |= {*part}
                _push(store, remote, plan, part, folder, options, moved)
        results = dict.fromkeys(each for plan in plans_of for each in _folders(store, plan))
        moved.retracted = retraction_sync.push(remote, results, folder, options.key)
    return moved


def pull(store: Store, remote: RemoteFolder, stages: Collection[str] | None = None) -> Moved:
    """All, or the results of some stages with what came in one bundle with them."""
    moved = Moved()
    with _staging(store) as folder:
        for entry in sorted(_entries(remote), key=lambda entry: str(entry.get("made"))):
            wanted = [name for name in entry["results"] if stages is None or name.partition("/")[0] in stages]
            lacking = [name for name in wanted if not _is_here(store, name)]
            moved.known += len(wanted) - len(lacking)
            if lacking:
                _pull(store, remote, entry, folder, moved)
        taken = retraction_sync.pull(store, remote, folder, stages)
    moved.retracted = taken.retracted + taken.undone
    moved.wrong += taken.wrong
    return moved


def _push(
    store: Store,
    remote: RemoteFolder,
    plan: Plan,
    part: Sequence[str],
    folder: Path,
    options: PushOptions,
    moved: Moved,
) -> None:
    file = folder / f"bundle{SUFFIX}"
    file.unlink(missing_ok=True)
    texts = result_export.kept(store.texts(plan.digest))
    said = result_export.export(store, plan, file, texts=texts, host=options.host, only={*part})
    names = [f"{stage}/{time}" for stage, times in said["results"].items() for time in times]
    digest = file_reader.sha256(file)
    remote.put(file, f"{BUNDLES}/{digest}{SUFFIX}")
    if options.key is not None:
        remote.put(signature.sign(file, options.key), f"{BUNDLES}/{digest}{SUFFIX}{signature.SUFFIX}")
    entry = {
        "format": FORMAT,
        "bundle": digest,
        "bytes": file.stat().st_size,
        "signed": options.key is not None,
        "made": now(),
    }
    write_json(folder / "entry.json", {**entry, "plan": plan.digest, "title": plan.title, "results": names})
    remote.put(folder / "entry.json", f"{INDEX}/{digest}.json")
    moved.results += len(names)
    moved.bundles += 1
    moved.bytes += file.stat().st_size


def _pull(store: Store, remote: RemoteFolder, entry: Mapping[str, Any], folder: Path, moved: Moved) -> None:
    """One that is damaged is left, and said: the others are taken all the same."""
    digest = str(entry["bundle"])
    file = folder / f"{digest}{SUFFIX}"
    try:
        remote.get(f"{BUNDLES}/{digest}{SUFFIX}", file)
        if file_reader.sha256(file) != digest:
            raise BuildError(f"the bundle {digest} is damaged: its checksum differs")
        if entry.get("signed") and of_environment().signers:
            remote.get(f"{BUNDLES}/{digest}{SUFFIX}{signature.SUFFIX}", Path(f"{file}{signature.SUFFIX}"))
        taken = publish(store, file)
    except FileNotFoundError:
        moved.wrong.append(f"the bundle {digest} is missing")
    except BuildError as wrong:
        moved.wrong.append(str(wrong))
    else:
        moved.results += len(taken.results)
        moved.bundles += 1
        moved.bytes += file.stat().st_size
    file.unlink(missing_ok=True)


def _entries(remote: RemoteFolder) -> Iterator[dict[str, Any]]:
    """Of the index; one that cannot be read is of a push that was killed."""
    for name in remote.names(INDEX):
        try:
            found = json.loads(remote.read(name))
        except (OSError, ValueError):
            continue
        if isinstance(found, dict) and isinstance(found.get("results"), list) and found.get("format") == FORMAT:
            yield found


@contextmanager
def _staging(store: Store) -> Iterator[Path]:
    """What one that was killed left goes."""
    folder = store.cache(_NAME)
    with locked(store.lock(_NAME)):
        remove_tree(folder)
        make_folder(folder)
        try:
            yield folder
        finally:
            remove_tree(folder)


def _stored(store: Store, moved: Moved) -> Iterator[Plan]:
    for each in plans.stored(store):
        try:
            yield plan_file.read(each.folder)
        except DAMAGED:
            moved.wrong.append(f"the plan {each.digest} is damaged: its results were not pushed")


def _results(store: Store, plan: Plan) -> list[str]:
    """`stage/time`, of all results, also those that were retracted."""
    return [f"{result.parent.name}/{result.name}" for result in _folders(store, plan)]


def _folders(store: Store, plan: Plan) -> Iterator[Path]:
    return (result for stage in plan.stages for result in store.all_results(stage.id))


def _parts(store: Store, names: Iterable[str]) -> Iterator[list[str]]:
    part, size = list[str](), 0
    for name in names:
        stage, _, time = name.partition("/")
        part.append(name)
        size += sum(path.stat().st_size for path in (store.results_of(stage) / time).rglob("*") if path.is_file())
        if len(part) == MOST or size > LARGEST:
            yield part
            part, size = [], 0
    if part:
        yield part


def _is_here(store: Store, name: str) -> bool:
    stage, _, time = name.partition("/")
    return (store.results_of(stage) / time).exists()
