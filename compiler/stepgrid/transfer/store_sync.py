"""Results of several stores in one shared folder: what it lacks is pushed, what a store lacks is pulled.

The folder holds bundles, as `stepgrid export` writes them, named by their checksum, and an entry of its index for each.
The entry comes last: a push that is killed leaves a bundle that nobody knows, and goes on with what has no entry.
Whoever may write there may write anything: an entry counts once its names are digests, a bundle once it is what its
name says."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stepgrid.build.error import BuildError
from stepgrid.host import files
from stepgrid.host.files import make_folder, remove_tree, write_json
from stepgrid.host.locks import locked
from stepgrid.language.site import current_site
from stepgrid.model.plan import Plan
from stepgrid.plan import plan_file
from stepgrid.plan.plan_file import DAMAGED
from stepgrid.store import plans
from stepgrid.store.paths import now
from stepgrid.store.store import Store
from stepgrid.transfer import result_export, retraction_sync, signature
from stepgrid.transfer.remote_folder import RemoteFolder
from stepgrid.transfer.result_import import bundle_results, publish, result_fault

BUNDLES, INDEX, FORMAT = "bundles", "index", 1
SUFFIX = ".tar.gz"
MOST, LARGEST = 50, 32 << 20  # results of a bundle, and bytes of them after which it is closed
_DIGEST = re.compile(r"[0-9a-f]{64}")
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


@dataclass(frozen=True, slots=True)
class _IndexEntry:
    """An entry of the index, of which every name has been checked."""

    bundle: str  # a digest
    results: tuple[str, ...]  # stage/time
    made: str


def push(
    store: Store, remote: RemoteFolder, only: Sequence[Plan] | None = None, options: PushOptions | None = None
) -> Moved:
    """Of some plans, or of all that are stored."""
    moved = Moved()
    selected_plans = [*_stored(store, moved)] if only is None else only
    options = options or PushOptions()
    with _staging(store) as folder:
        local = {name for plan in selected_plans for name in _results(store, plan)}
        remote_results = _whole_results(remote, local, folder)
        for plan in selected_plans:
            names = _results(store, plan)
            moved.known += sum(name in remote_results for name in names) if only is not None else 0
            for part in _parts(store, [name for name in names if name not in remote_results]):
                remote_results |= {*part}
                _push(store, remote, plan, part, folder, options, moved)
        results = dict.fromkeys(result for plan in selected_plans for result in _folders(store, plan))
        moved.retracted = retraction_sync.push(remote, results, folder, options.key)
    return moved


def pull(store: Store, remote: RemoteFolder, stages: Collection[str] | None = None) -> Moved:
    """All, or the results of some stages with what came in one bundle with them."""
    moved, failures = Moved(), list[tuple[_IndexEntry, str]]()
    with _staging(store) as folder:
        for entry in sorted(_entries(remote, moved.wrong), key=lambda entry: entry.made):
            wanted = [name for name in entry.results if stages is None or name.partition("/")[0] in stages]
            lacking = [name for name in wanted if not _is_here(store, name)]
            moved.known += len(wanted) - len(lacking)
            if lacking and (fault := _pull(store, remote, entry, folder, moved)):
                failures.append((entry, fault))
        # another bundle may have had the same results: a push mends what was lost
        moved.wrong += [fault for entry, fault in failures if not all(_is_here(store, name) for name in entry.results)]
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
    exported = result_export.export(store, plan, file, texts=texts, host=options.host, only={*part})
    names = [f"{stage}/{time}" for stage, times in exported["results"].items() for time in times]
    digest = files.sha256(file)
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


def _pull(store: Store, remote: RemoteFolder, entry: _IndexEntry, folder: Path, moved: Moved) -> str | None:
    """Take one bundle, or say why it is left: the others are taken all the same."""
    file = folder / f"{entry.bundle}{SUFFIX}"
    try:
        if signers := current_site().signers:
            _fetch_signature(remote, file, signers)
        _fetch(remote, entry, file)
        imported = publish(store, file)
        moved.results += len(imported.results)
        moved.bundles += 1
        moved.bytes += file.stat().st_size
    except (BuildError, OSError) as error:
        return str(error)
    finally:
        file.unlink(missing_ok=True)
    missing = {*entry.results} - {*imported.results, *imported.known}
    return f"the bundle {entry.bundle} lacks {min(missing)}, which its entry names" if missing else None


def _fetch(remote: RemoteFolder, entry: _IndexEntry, file: Path) -> None:
    """A BuildError where the bundle is missing, or is not what its name says."""
    try:
        remote.get(f"{BUNDLES}/{file.name}", file)
    except FileNotFoundError:
        raise BuildError(f"the bundle {entry.bundle} is missing") from None
    if files.sha256(file) != entry.bundle:
        raise BuildError(f"the bundle {entry.bundle} is damaged: its checksum differs")


def _fetch_signature(remote: RemoteFolder, file: Path, signers: str) -> None:
    """Before anything else of a bundle: one that no signer has signed is not fetched."""
    name = f"{file.name}{signature.SUFFIX}"
    with suppress(BuildError, OSError):  # `principal` says that there is none
        remote.get(f"{BUNDLES}/{name}", file.with_name(name))
    signature.principal(file, signers)


def _whole_results(remote: RemoteFolder, names: Collection[str], folder: Path) -> set[str]:
    """Find those of these results that the shared folder has. An entry alone is no evidence: its bundle is read."""
    whole = set[str]()
    for entry in _entries(remote, []):
        if not ({*entry.results} & {*names}) - whole:
            continue
        file = folder / f"{entry.bundle}{SUFFIX}"
        with suppress(BuildError, OSError):
            _fetch(remote, entry, file)
            whole |= {*entry.results} & bundle_results(file)
        file.unlink(missing_ok=True)
    return whole


def _entries(remote: RemoteFolder, faults: list[str]) -> Iterator[_IndexEntry]:
    """Read the index; a file that is no entry is skipped, and `faults` gets a sentence about it."""
    for name in remote.names(INDEX):
        try:
            yield _entry(name, files.parse_json(remote.read(name)))
        except (BuildError, OSError, ValueError) as error:
            faults.append(f"{name} is skipped: it is no entry of an index ({error})")


def _entry(name: str, record: Any) -> _IndexEntry:
    """Every name that is looked up or written later is checked here; a ValueError says which one is none."""
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise ValueError(f"an object of format {FORMAT} was expected")
    digest, results = record.get("bundle"), record.get("results")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest) or name != f"{INDEX}/{digest}.json":
        raise ValueError("its `bundle` is not the digest that the file is named by")
    if not isinstance(results, list) or not results:
        raise ValueError("it names no `results`")
    if fault := next((fault for result in results if (fault := result_fault(result))), None):
        raise ValueError(fault)
    return _IndexEntry(digest, tuple(results), str(record.get("made")))


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
