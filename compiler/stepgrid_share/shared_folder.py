"""Results of several stores in one shared folder or bucket: what it lacks is pushed, what a store lacks is pulled.

The folder holds bundles, as `stepgrid export` writes them, named by their checksum, and an entry of its index for each.
The entry comes last: a push that is killed leaves a bundle that nobody knows, and goes on with what has no entry.
Retractions of results, and what undoes them, are files of their own, which nothing replaces. Whoever may write there
may write anything: an entry counts once its names are digests, a bundle once it is what its name says."""

from __future__ import annotations

import argparse
import re
import shutil
import stat
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, Protocol
from urllib.parse import unquote, urlsplit

from msgspec import Struct, field

from stepgrid.build.error import BuildError
from stepgrid.cli.failures import CommandError, ending_with
from stepgrid.cli.spec_arguments import add_narrowing, quiet_plan, spec_error, use_site
from stepgrid.errors import FAILED, FINE
from stepgrid.host import files
from stepgrid.host.files import make_folder, remove_tree, replacing, sync, write_json
from stepgrid.host.locks import LockBusy, locked
from stepgrid.language.site import current_site
from stepgrid.model.plan import Plan
from stepgrid.model.records import Record, Retraction, parse_record
from stepgrid.model.units import counted, size
from stepgrid.plan import plan_file
from stepgrid.plan.plan_file import DAMAGED
from stepgrid.store import plans, stage_requests
from stepgrid.store.paths import RUN_LOCK, now
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan
from stepgrid_share.bundle import SIGNATURE_SUFFIX, check_signature, find_signer, sign
from stepgrid_share.results import (
    ExportOptions,
    bundle_results,
    export_results,
    import_results,
    imported_texts,
    result_fault,
)

BUNDLES, INDEX, RETRACTIONS, UNDONE = "bundles", "index", "retractions", "undone"  # parts of the folder
SUFFIX = ".tar.gz"
MOST_RESULTS, MOST_BYTES = 50, 32 << 20  # of a bundle: the one that reaches them is closed
LARGEST_RECORD = 1 << 20  # bytes
RUN_ACTIVE = "a run is active in this checkout: retractions were not taken; pull again when it has ended"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_STAGED = "transfer"  # name of the lock, and of the folder for what is under way


class Transfer(Struct):
    """Counts of a push or pull, and a sentence for each file that could not be moved."""

    results: int = 0
    bundles: int = 0
    bytes: int = 0
    present: int = 0  # results that were there already
    retractions: int = 0  # retractions, and those that were undone
    faults: list[str] = []


def push(
    store: Store, remote: RemoteFolder, plan: Plan | None, key: Path | None = None, host: bool = False
) -> Transfer:
    """Push the results of a plan, or of all that are stored, and their retractions.

    `key`: of ssh, to sign bundles with. `host`: the names of hosts, too."""
    with _exchange(store, remote) as exchange:
        transfer = exchange.transfer
        results_by_plan = [
            (source, [result for stage in source.stages for result in store.all_results(stage.id)])
            for source in (exchange.read_plans() if plan is None else [plan])
        ]
        results = dict.fromkeys(result for _, results in results_by_plan for result in results)
        remote_names = exchange.find_results({_name(result) for result in results})
        for source, candidates in results_by_plan:
            missing = [result for result in candidates if _name(result) not in remote_names]
            if plan is not None:
                transfer.present = len(candidates) - len(missing)
            for part in _split(missing):
                names = [_name(result) for result in part]
                exchange.push_bundle(source, names, key, host)
                remote_names |= {*names}
        exchange.push_retractions(results, key)
        return transfer


def pull(store: Store, remote: RemoteFolder, stages: Collection[str] | None = None) -> Transfer:
    """Pull all results, or those of some stages with what came in one bundle with them, and retractions."""
    failures = list[tuple[IndexEntry, str]]()
    with _exchange(store, remote) as exchange:
        transfer = exchange.transfer
        for entry in sorted(exchange.read_index(transfer.faults), key=lambda entry: entry.time):
            selected = [name for name in entry.results if stages is None or name.partition("/")[0] in stages]
            missing = [name for name in selected if not _has_result(store, name)]
            transfer.present += len(selected) - len(missing)
            if missing and (fault := exchange.pull_bundle(entry)):
                failures.append((entry, fault))
        for entry, fault in failures:  # another bundle may have had the same results: a push mends what was lost
            if not all(_has_result(store, name) for name in entry.results):
                transfer.faults.append(fault)
        exchange.pull_retractions(stages)
        return transfer


# The command


def add_store_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("verb", choices=("push", "pull"), help="push what URL lacks, or pull what is not here")
    parser.add_argument("url", metavar="URL", help="a folder, or an address such as s3://bucket/folder")
    parser.add_argument("spec", nargs="?", metavar="SPEC", help="only the results of this spec (default: all results)")
    parser.add_argument("--sign", metavar="KEY", type=Path, help="with push: sign what is pushed with a key of ssh")
    parser.add_argument("--host", action="store_true", help="with push: also the names of hosts, and HOME, PATH …")
    add_narrowing(parser)


def run_store(args: argparse.Namespace) -> int:
    is_push = args.verb == "push"
    if (args.sign or args.host) and not is_push:
        raise CommandError("--sign and --host need push")
    plan = quiet_plan(args) if args.spec else None
    if plan is None and (problems := use_site(args)):
        raise spec_error(problems[0].where.file, problems)
    with ending_with(FAILED, OSError):
        remote, store = remote_folder(args.url), host_plan.store()
        if is_push:
            transfer = push(store, remote, plan, args.sign, args.host)
        else:
            transfer = pull(store, remote, None if plan is None else {stage.id for stage in plan.stages})
    bundles = f"{counted(transfer.results, 'result')} in {counted(transfer.bundles, 'bundle')} ({size(transfer.bytes)})"
    direction = f"pushed {bundles} to" if is_push else f"pulled {bundles} from"
    unchanged = f"; {counted(transfer.present, 'result')} known already" if transfer.present else ""
    retracted = f"; {counted(transfer.retractions, 'retraction')}" if transfer.retractions else ""
    print(f"{direction} {args.url}{unchanged}{retracted}")
    for sentence in transfer.faults:
        print(sentence, file=sys.stderr)
    return FAILED if transfer.faults else FINE


# What is pushed, and what is pulled


@contextmanager
def _exchange(store: Store, remote: RemoteFolder) -> Iterator[_Exchange]:
    """Begin a push or pull, in a folder from which whatever a killed one left is removed."""
    folder = store.cache(_STAGED)
    with locked(store.lock(_STAGED)):
        remove_tree(folder)
        make_folder(folder)
        try:
            yield _Exchange(store, remote, folder)
        finally:
            remove_tree(folder)


def _split(results: Iterable[Path]) -> Iterator[list[Path]]:
    """Split results into the parts that become bundles."""
    part, size = list[Path](), 0
    for result in results:
        part.append(result)
        size += sum(path.stat().st_size for path in result.rglob("*") if path.is_file())
        if len(part) == MOST_RESULTS or size > MOST_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


def _name(result: Path) -> str:
    return f"{result.parent.name}/{result.name}"


def _has_result(store: Store, name: str) -> bool:
    stage, _, time = name.partition("/")
    return (store.results_of(stage) / time).exists()


class IndexEntry(Record, frozen=True, kw_only=True):
    """An entry of the index: a bundle."""

    format: Literal[1]
    bundle: str = ""  # a digest
    time: str = field(name="made", default="")  # of its push
    results: tuple[str, ...] = ()  # stage/time


class SharedRetraction(Record, frozen=True, kw_only=True):
    """A retraction of a result, or what undoes one: `retraction` is its digest."""

    sparse = frozenset({"why", "who", "when", "retraction"})

    format: Literal[1]
    result: str
    why: str = ""
    author: str = field(name="who", default="")
    when: str = ""
    retraction: str = ""


class _Exchange(Struct, frozen=True):
    store: Store
    remote: RemoteFolder
    folder: Path  # for files on their way
    transfer: Transfer = field(default_factory=Transfer)

    def read_plans(self) -> Iterator[Plan]:
        for stored in plans.stored_plans(self.store):
            try:
                yield plan_file.read(stored.folder)
            except DAMAGED:
                self.transfer.faults.append(f"the plan {stored.digest} is damaged: its results were not pushed")

    def read_index(self, faults: list[str]) -> Iterator[IndexEntry]:
        """Read all entries; a file that is none is skipped, and `faults` gets a sentence about it."""
        for name in self.remote.names(INDEX):
            try:
                entry = parse_record(self.remote.read(name), IndexEntry)
                _check_entry(name, entry)
                yield entry
            except (BuildError, OSError, ValueError) as error:
                faults.append(f"{name} is skipped: it is no entry of an index ({error})")

    def find_results(self, names: set[str]) -> set[str]:
        """Find those of these results that the shared folder has. An entry is no evidence: its bundle is read."""
        results = set[str]()
        for entry in self.read_index([]):
            if {*entry.results} & names - results:
                file = self.folder / f"{entry.bundle}{SUFFIX}"
                with suppress(BuildError, OSError):
                    self._fetch_bundle(entry, file)
                    results |= {*entry.results} & bundle_results(file)
                file.unlink(missing_ok=True)
        return results

    def push_bundle(self, plan: Plan, names: Sequence[str], key: Path | None, host: bool) -> None:
        file = self.folder / f"bundle{SUFFIX}"
        file.unlink(missing_ok=True)
        texts = imported_texts(self.store, plan.digest)
        chosen = ExportOptions(host=host, texts=texts, only={*names})
        manifest = export_results(self.store, plan, file, chosen)
        results = tuple([f"{stage}/{time}" for stage, times in manifest.results.items() for time in times])
        digest, size = files.sha256(file), file.stat().st_size
        name = f"{BUNDLES}/{digest}{SUFFIX}"
        self.remote.put(file, name)
        if key is not None:
            self.remote.put(sign(file, key), f"{name}{SIGNATURE_SUFFIX}")
        write_json(self.folder / "entry.json", IndexEntry(format=1, bundle=digest, time=now(), results=results))
        self.remote.put(self.folder / "entry.json", f"{INDEX}/{digest}.json")
        self._count(len(results), size)

    def pull_bundle(self, entry: IndexEntry) -> str | None:
        """Import a bundle, or return why it is skipped: the others are pulled all the same."""
        file = self.folder / f"{entry.bundle}{SUFFIX}"
        try:
            self._fetch_signature(f"{BUNDLES}/{file.name}", file)
            if signers := current_site().signers:  # a bundle that no signer has signed is not fetched
                find_signer(file, signers)
            self._fetch_bundle(entry, file)
            imports = import_results(self.store, file)
            self._count(len(imports.results), file.stat().st_size)
        except (BuildError, OSError) as error:
            return str(error)
        finally:
            file.unlink(missing_ok=True)
        missing = {*entry.results} - {*imports.results, *imports.present}
        return f"the bundle {entry.bundle} lacks {min(missing)}, which its entry names" if missing else None

    def _fetch_bundle(self, entry: IndexEntry, file: Path) -> None:
        try:
            self.remote.get(f"{BUNDLES}/{file.name}", file)
        except FileNotFoundError:
            raise BuildError(f"the bundle {entry.bundle} is missing") from None
        if files.sha256(file) != entry.bundle:
            raise BuildError(f"the bundle {entry.bundle} is damaged: its checksum differs")

    def _fetch_signature(self, name: str, file: Path) -> None:
        """Fetch the signature of a file, where the site file names signers; checks report a missing one."""
        if current_site().signers:
            with suppress(BuildError, OSError):
                self.remote.get(f"{name}{SIGNATURE_SUFFIX}", file.with_name(f"{file.name}{SIGNATURE_SUFFIX}"))

    def _count(self, results: int, size: int) -> None:
        self.transfer.results += results
        self.transfer.bundles += 1
        self.transfer.bytes += size

    # A retraction has an identity, and so has its undoing: whatever was undone stays undone, whatever clock or order
    # stores push in.

    def push_retractions(self, results: Iterable[Path], key: Path | None) -> None:
        """Push retractions that the shared folder does not have."""
        present = {*self.remote.names(RETRACTIONS), *self.remote.names(UNDONE)}
        for result in results:
            for name, retraction in _retraction_records(result):
                if name not in present:
                    file = self.folder / name.partition("/")[2]
                    write_json(file, retraction)
                    if key is not None:
                        self.remote.put(sign(file, key), f"{name}{SIGNATURE_SUFFIX}")
                    self.remote.put(file, name)
                    self.transfer.retractions += 1

    def pull_retractions(self, stages: Collection[str] | None) -> None:
        """Retract results that are here. A run that goes on may wait for one of them: then nothing is done."""
        undone = dict(self._read_retractions(UNDONE))
        standing = {digest: record for digest, record in self._read_retractions(RETRACTIONS) if digest not in undone}
        parts = {UNDONE: undone, RETRACTIONS: standing}  # one may stand of a result whose other one was undone
        if not any(_retraction_changes(self.store, part, records, stages) for part, records in parts.items()):
            return
        try:
            with locked(self.store.lock(RUN_LOCK), wait=False):
                for part, records in parts.items():
                    for result, note in _retraction_changes(self.store, part, records, stages):
                        if note is None:
                            stage_requests.undo_retraction(self.store, result)
                        else:
                            stage_requests.write_retraction(self.store, result, note)
                        self.transfer.retractions += 1
        except LockBusy:
            self.transfer.faults.append(RUN_ACTIVE)

    def _read_retractions(self, part: str) -> Iterator[tuple[str, SharedRetraction]]:
        """Read records that are what the digest that names them says, and signed where the site file names signers."""
        for name in self.remote.names(part):
            digest, _, suffix = name.partition("/")[2].partition(".")
            if suffix != "json":
                continue
            file = self.folder / f"{digest}.json"
            try:
                file.write_bytes(self.remote.read(name))
                self._fetch_signature(name, file)
                check_signature(file)
                record = parse_record(file.read_bytes(), SharedRetraction)
            except BuildError as fault:
                self.transfer.faults.append(str(fault))
            except (OSError, ValueError):  # of a push that was killed
                continue
            else:
                if _retraction_digest(record, part) == digest:
                    yield digest, record


def _check_entry(name: str, entry: IndexEntry) -> None:
    """Check every name that is looked up or written later; a ValueError says which one is none."""
    if not _DIGEST.fullmatch(entry.bundle) or name != f"{INDEX}/{entry.bundle}.json":
        raise ValueError("its `bundle` is not the digest that the file is named by")
    if not entry.results:
        raise ValueError("it names no `results`")
    if fault := next((fault for result in entry.results if (fault := result_fault(result))), None):
        raise ValueError(fault)


def _retraction_records(result: Path) -> Iterator[tuple[str, SharedRetraction]]:
    name = _name(result)
    if (note := stage_requests.read_retraction(result)) and note.when:  # one that could be read
        retraction = SharedRetraction(format=1, result=name, why=note.why, author=note.author, when=note.when)
        yield f"{RETRACTIONS}/{stage_requests.retraction_id(result, note)}.json", retraction
    for digest in stage_requests.undone_retractions(result):
        if _DIGEST.fullmatch(digest):  # a bundle may have brought any text
            yield f"{UNDONE}/{digest}.json", SharedRetraction(format=1, result=name, retraction=digest)


def _retraction_digest(record: SharedRetraction, part: str) -> str | None:
    """Return the digest that a record must be named by; None where it names no result."""
    if result_fault(record.result):
        return None
    texts = (record.result, record.why, record.author, record.when)
    return stage_requests.retraction_digest(*texts) if part == RETRACTIONS else record.retraction


def _retraction_changes(
    store: Store, part: str, records: Mapping[str, SharedRetraction], stages: Collection[str] | None
) -> list[tuple[Path, Retraction | None]]:
    """List results that are here and differ from the records: each with its note, or None where that was undone."""
    changes = list[tuple[Path, Retraction | None]]()
    for digest, record in records.items():
        stage, _, time = record.result.partition("/")
        result = next((result for result in store.all_results(stage) if result.name == time), None)
        if result is None or (stages is not None and stage not in stages):
            continue
        note = stage_requests.read_retraction(result)
        if part == UNDONE:
            if note is not None and stage_requests.retraction_id(result, note) == digest:
                changes.append((result, None))
        elif note is None and digest not in stage_requests.undone_retractions(result):
            changes.append((result, Retraction(why=record.why, author=record.author, when=record.when)))
    return changes


# Places that stores share: a disk that all of them see, or whatever fsspec reaches, such as an S3 bucket.


class RemoteFolder(Protocol):
    """A folder of files that are named `part/name`."""

    def names(self, part: str) -> list[str]: ...
    def read(self, name: str) -> bytes:
        """Read at most LARGEST_RECORD bytes."""
        ...

    def get(self, name: str, file: Path) -> None: ...
    def put(self, file: Path, name: str) -> None: ...


def remote_folder(url: str) -> RemoteFolder:
    """Find the folder of a path, a `file:` URL or any URL that fsspec has a package for."""
    parts = urlsplit(url)
    if len(parts.scheme) < 2:  # a path, also one that begins with a drive
        return LocalFolder(Path(url).expanduser())
    return LocalFolder(Path(unquote(parts.path))) if parts.scheme == "file" else FsspecFolder(url)


class LocalFolder(Struct, frozen=True):
    path: Path

    def names(self, part: str) -> list[str]:
        with suppress(FileNotFoundError):
            names = (path.name for path in (self.path / part).iterdir())
            return sorted(f"{part}/{name}" for name in names if not name.startswith("."))
        return []

    def read(self, name: str) -> bytes:
        return files.read_bytes(self.path / name, LARGEST_RECORD)

    def get(self, name: str, file: Path) -> None:
        source = self.path / name
        if not stat.S_ISREG(source.stat().st_mode):  # a device may have no end
            raise BuildError(f"{source} is no regular file")
        shutil.copyfile(source, file)

    def put(self, file: Path, name: str) -> None:
        target = self.path / name
        make_folder(target.parent)
        with replacing(target) as new:
            shutil.copyfile(file, new)
        sync(target.parent)


class FsspecFolder:
    """A folder behind fsspec, whose packages find credentials: of S3 in the environment, ~/.aws or the host's role."""

    def __init__(self, url: str) -> None:
        self._url = url
        try:
            import fsspec
        except ImportError:
            raise BuildError(f"{url}: that needs fsspec and a package for it: pip install 'stepgrid[s3]'") from None
        with self._build_errors():
            self._system, path = fsspec.url_to_fs(url, use_listings_cache=False)
            self._path = str(path).rstrip("/")

    def names(self, part: str) -> list[str]:
        with self._build_errors():
            try:
                names: list[str] = self._system.ls(f"{self._path}/{part}", detail=False)
            except FileNotFoundError:
                return []
            return sorted(f"{part}/{name.rpartition('/')[2]}" for name in names if not name.endswith("/"))

    def read(self, name: str) -> bytes:
        with self._build_errors():
            return bytes(self._system.cat_file(f"{self._path}/{name}", start=0, end=LARGEST_RECORD))

    def get(self, name: str, file: Path) -> None:
        with self._build_errors():
            self._system.get_file(f"{self._path}/{name}", str(file))

    def put(self, file: Path, name: str) -> None:
        with self._build_errors():
            self._system.makedirs(f"{self._path}/{name}".rpartition("/")[0], exist_ok=True)
            self._system.put_file(str(file), f"{self._path}/{name}")

    @contextmanager
    def _build_errors(self) -> Iterator[None]:
        """Turn the errors of all packages into a BuildError."""
        try:
            yield
        except Exception as error:
            raise BuildError(f"{self._url}: {type(error).__name__}: {error}") from None
