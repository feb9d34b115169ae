"""stepgrid images and gc: saved databases, and results, builds and images that no spec needs any more."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from msgspec import Struct, field

from stepgrid.cli.failures import CommandError, unless_busy
from stepgrid.cli.spec_arguments import add_narrowing, add_site, quiet_plan, spec_error, use_site
from stepgrid.errors import FAILED, FINE, PROBLEMS, USAGE
from stepgrid.host.files import make_folder, remove_tree, sync
from stepgrid.host.locks import LockBusy, locked
from stepgrid.host.terminal_output import cut, text_width
from stepgrid.language.problems import Location, Problem, Problems, SpecError, format_problems
from stepgrid.language.site import current_site
from stepgrid.language.yaml import load
from stepgrid.model.plan import STAGE_PREFIX, Plan, PlannedStage, is_imported
from stepgrid.model.secret_variables import secret_name
from stepgrid.model.units import counted, duration, size
from stepgrid.pipeline import compile_spec
from stepgrid.plan import identity, plan_file
from stepgrid.plan.assembly import scales
from stepgrid.plan.plan_file import DAMAGED
from stepgrid.store import plans
from stepgrid.store.images import Image, evict_image, last_use, list_images, read_image_record
from stepgrid.store.paths import RUN_LOCK, folder_bytes, next_time_name, subfolders
from stepgrid.store.plans import Request, StoredPlan, StoredRequest, outdate_summaries, requests, secret_digests
from stepgrid.store.store import Store
from stepgrid.summarize.formats import aligned
from stepgrid.workflow import host_plan

SPECS = "specs/**/*.yaml"
FILE_KINDS = ("asked", "learnt", "loads", "secrets")  # a small file each
KINDS = ("results", "attempts", "images", "builds", "records", "plans", "summary", *FILE_KINDS)
IMPORTS = ("import", "import-legacy")  # the locks and attempts of imports: the next one sweeps what a killed one left
TRASH = "trash"  # a folder and a lock


def add_images_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="*",
        metavar="SPEC, STAGE",
        help="only images of this spec, or of these stages (all of the checkout)",
    )
    add_narrowing(parser)
    parser.add_argument("--verify", action="store_true", help="verify each image: list of files, sizes and checksums")
    parser.add_argument("--yes", action="store_true", help="remove the listed images: each is made again when needed")


def run_images(args: argparse.Namespace) -> int:
    use_site(args)
    names = [word for word in args.words if word.startswith(STAGE_PREFIX)]
    specs = [word for word in args.words if word not in names]
    if len(specs) > 1:
        raise CommandError(f"expected one spec, found {shlex.join(specs)}")
    args.spec = next(iter(specs), None)
    plan, store = quiet_plan(args) if args.spec else None, host_plan.store()
    stages = None if plan is None else {stage.id for stage in plan.stages}
    listed = [image for image in list_images(store) if stages is None or image.stage in stages]
    for name in names:
        if not any(image.stage.startswith(name) for image in listed):
            raise CommandError(f"there is no image {name}: `stepgrid images` lists them, by their stages")
    listed = [image for image in listed if not names or image.stage.startswith(tuple(names))]
    if args.yes:
        return _remove_images(store, listed)
    if args.verify:
        return _verify_images(store, listed)
    print("\n".join(_image_lines(store, listed)) if listed else "there is no image")
    return FINE


def _image_lines(store: Store, listed: Sequence[Image]) -> Iterator[str]:
    from stepgrid.run.disk_budget import room

    now = time.time()
    rows = [(image.stage, size(image.bytes), f"used {duration(now - image.used)} ago", image.title) for image in listed]
    for image, line in zip(listed, aligned(rows, "", right=[1]), strict=True):
        yield cut(line, text_width(sys.stdout, sys.maxsize))
        record, is_shared = read_image_record(image.folder), image.unshared < image.bytes
        is_replayed = record is not None and record.replayed
        if is_replayed or is_shared:
            shared = f", {size(image.bytes - image.unshared)} shared" if is_shared else ""
            yield f"  {size(image.unshared)} its own{shared}{', replayed' if is_replayed else ''}"
    total = size(folder_bytes(*(image.folder for image in listed)))
    yield f"{counted(len(listed), 'image')}, {total}; {room(store, current_site().disk).sentence}"


def _verify_images(store: Store, listed: Sequence[Image]) -> int:
    from stepgrid.run.images import verify

    damaged = 0
    for image in listed:
        fault, method = verify(store, image.stage)
        damaged += fault is not None
        print(f"{image.stage}  {fault or f'sound: {method}'}  {image.title}", flush=True)
    hint = "`stepgrid images STAGE --yes` removes one, and what starts from it runs the load again"
    print(f"damaged: {damaged}; {hint}" if damaged else "all are sound")
    return FAILED if damaged else FINE


def _remove_images(store: Store, images: Sequence[Image]) -> int:
    status = FINE
    for image in images:
        try:
            with locked(store.lock(image.stage), wait=False):
                evict_image(store, image.stage, image.stage)
            print(f"removed {image.stage}, {size(image.unshared)}: {image.title}")
        except LockBusy:
            status = FAILED
            print(f"left: {image.stage} is in use: {image.title}", file=sys.stderr)
    return status


def add_gc_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "specs",
        nargs="*",
        metavar="SPEC",
        help=f"specs whose results are kept, beside {SPECS} and those of stored plans, with all scales",
    )
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--yes", action="store_true", help="move the listed files to the trash")
    action.add_argument("--restore", action="store_true", help="restore everything from the trash")
    action.add_argument("--empty", action="store_true", help="delete everything in the trash")
    parser.add_argument(
        "--forget",
        metavar="SPEC|PLAN",
        action="append",
        default=[],
        help="a spec or plan whose results are no longer kept; repeatable",
    )
    add_site(parser)


def run_gc(args: argparse.Namespace) -> int:
    if any(problem.severity == "error" for problem in use_site(args)):
        raise CommandError(format_problems(args.site_problems), PROBLEMS)
    store = host_plan.store()
    with unless_busy("this checkout is in use (pid {}): nothing was changed; try again later"):
        if args.restore:
            return _print_restored(store)
        if args.empty:
            number, _ = trash_size(store)
            print(f"deleted {counted(number, 'place')} of the trash, {size(empty_trash(store))}")
        else:
            _collect_garbage(store, args)
    return FINE


def _print_restored(store: Store) -> int:
    with lock_trash(store):
        number, unmoved = restore_trash(store)
    _print_unmoved(unmoved)
    print(f"restored {counted(number, 'place')} from the trash")
    return FAILED if unmoved else FINE


def _print_unmoved(unmoved: Sequence[UnmovedPath]) -> None:
    for path in unmoved:
        print(f"{path.path} stays: {path.why}", file=sys.stderr)


def _collect_garbage(store: Store, args: argparse.Namespace) -> None:
    """List what no spec needs; with `--yes`, move it to the trash."""
    with ExitStack() as lock:
        if args.yes and store.root.is_dir():
            lock.enter_context(lock_trash(store))  # before the first look: a run changes what is needed
        present = list_entries(store)  # before the plans: an import publishes its plan first
        specs = [*args.specs, *(str(path) for path in sorted(Path().glob(SPECS)) if _is_spec(path))]
        needed = references(store, list(map(host_plan.spec_name, specs)), list(map(host_plan.spec_name, args.forget)))
        _check_specs(needed, args)
        unneeded = unreferenced_entries(present, needed)
        print("\n".join(_garbage_lines(store, needed, unneeded, args)), flush=True)
        if args.yes and unneeded:
            unmoved = move_to_trash(store, unneeded)
            _print_unmoved(unmoved)
            hint = "`stepgrid gc --restore` puts them back, `stepgrid gc --empty` deletes them"
            print(f"moved {counted(len(unneeded) - len(unmoved), 'place')} to the trash; {hint}")


def _is_spec(path: Path) -> bool:
    """Tell a spec from a library, which has no builds; a file that cannot be read is compiled to show its errors."""
    nodes: Mapping[str, object] = load(str(path), Problems()) or {}
    return not nodes or "builds" in nodes or "title" in nodes


def _check_specs(needed: References, args: argparse.Namespace) -> None:
    """Refuse specs with errors, and a checkout in which no spec says which results are needed."""
    errors = [
        str(spec_error(spec, needed.wrong_specs[name]))
        for spec in args.specs
        if (name := host_plan.spec_name(spec)) in needed.wrong_specs
    ]
    if errors:
        errors.append("nothing was moved: the results that a spec needs are known when it has no errors")
        raise CommandError("\n".join(errors), PROBLEMS)
    if not (needed.specs or needed.wrong_specs or needed.plans or args.forget):
        raise CommandError(f"no spec at {SPECS} and no stored plan: name the specs that count", USAGE)


def _garbage_lines(
    store: Store, needed: References, unneeded: Sequence[TrashEntry], args: argparse.Namespace
) -> Iterator[str]:
    yield from needed.notes
    specs = needed.specs[0] if len(needed.specs) == 1 else counted(len(needed.specs), "spec")
    if not unneeded:
        yield f"no unreferenced results under {store.root}/ ({specs}, at all scales)"
    else:
        sizes = {entry.path: entry.bytes for entry in unneeded}
        yield f"unreferenced by {specs}, at all scales:"
        for kind in KINDS:
            paths = [entry.path for entry in unneeded if entry.kind == kind]
            if paths:
                yield f"  {kind}: {len(paths):,}, {size(sum(sizes[path] for path in paths))}"
                rows = [(str(path), size(sizes[path]), "") for path in paths]
                if kind == "images":
                    now = time.time()
                    rows = [(*row[:2], f"used {duration(now - last_use(Path(row[0])))} ago") for row in rows]
                yield from aligned(rows, "    ", right=[1])
        yield f"{size(sum(sizes.values()))} in {counted(len(unneeded), 'place')}{_hint(args)}"
    number, total = trash_size(store)
    if total:
        yield f"the trash holds {counted(number, 'place')}, {size(total)}: `stepgrid gc --empty` deletes them"


def _hint(args: argparse.Namespace) -> str:
    """Offer the same command with `--yes`."""
    if args.yes:
        return ""
    site = ["--site", args.site] if args.site else []
    words = ["stepgrid", "gc", *args.specs, *(word for name in args.forget for word in ("--forget", name)), *site]
    return f"; `{shlex.join([*words, '--yes'])}` moves them to the trash"


# The results that are needed: by the named specs, and by the specs of stored plans, wherever these lie.


# Entries of the store that no spec needs, and the trash: they come back by rename, until the trash is emptied.


class NeededNames(Struct):
    """Names of what specs need."""

    plans: set[str] = set()
    builds: set[str] = set()
    stages: set[str] = set()
    shapes: set[str] = set()  # of stages: sizes of databases are named by them
    secrets: set[str] = set()  # names of files with values of variables

    def has(self, kind: str, name: str) -> bool:
        if kind in ("plans", "summary"):
            return name in self.plans
        if kind == "secrets":
            return name in self.secrets
        if kind == "learnt":
            return name in self.shapes
        return name in self.builds or name in self.stages


class TrashEntry(Struct, frozen=True):
    """A folder or file of the store."""

    kind: str
    path: Path
    root: Path  # that it must be inside of: outputs/, or the data folder

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def bytes(self) -> int:
        return folder_bytes(self.path) if self.path.is_dir() else self.path.lstat().st_blocks * 512

    @property
    def is_inside(self) -> bool:
        """Tell whether it is no link, and not below one: what lies elsewhere is somebody else's."""
        is_there = self.path.is_file() if self.kind in FILE_KINDS else self.path.is_dir()
        return is_there and not self.path.is_symlink() and self.path.resolve().is_relative_to(self.root.resolve())


def list_entries(store: Store) -> list[TrashEntry]:
    entries = []
    for kind in KINDS:
        parents = [store.records()] if kind == "records" else store.folders(kind)
        for parent in parents:
            root = store.root if kind == "records" else parent.parent
            for path in sorted(parent.iterdir()) if parent.is_dir() else ():
                entry = TrashEntry(kind, path, root)
                if not path.name.startswith(".") and path.name not in IMPORTS and entry.is_inside:
                    entries.append(entry)
    return entries


def unreferenced_entries(entries: Collection[TrashEntry], needed: NeededNames) -> list[TrashEntry]:
    return [entry for entry in entries if not needed.has(entry.kind, entry.name)]


class UnmovedPath(Struct, frozen=True):
    path: Path
    why: str


@contextmanager
def lock_trash(store: Store) -> Iterator[None]:
    """Hold the locks of runs, imports and the trash. LockBusy: one of them goes on in this checkout."""
    with ExitStack() as locks:
        for name in (RUN_LOCK, *IMPORTS, TRASH):
            locks.enter_context(locked(store.lock(name), wait=False))
        yield


def move_to_trash(store: Store, entries: Iterable[TrashEntry]) -> list[UnmovedPath]:
    """Move entries to the trash, each by one rename: a kill in between loses nothing. Return what stays."""
    listed = list(entries)
    batch = next_time_name(folder.name for root in _roots(store) for folder in subfolders(root / TRASH))
    outdate_summaries(store, {entry.name for entry in listed if entry.kind == "results"})
    faults = [_change(store, entry.name, entry.path, partial(_move_entry, store, entry, batch)) for entry in listed]
    return [fault for fault in faults if fault]


def _move_entry(store: Store, entry: TrashEntry, batch: str) -> str:
    trash = entry.root / TRASH
    if trash.is_symlink() or not entry.is_inside:
        return f"{trash if trash.is_symlink() else entry.path} is a link"
    if entry.kind in ("results", "builds"):
        store.drop_mark(entry.name)
    _rename(entry.path, trash / batch / entry.path.relative_to(entry.root))
    return ""


def restore_trash(store: Store) -> tuple[int, list[UnmovedPath]]:
    """Move everything back, the newest first: count what came back, and list what stays in the trash."""
    listed = list(_contents(store))
    outdate_summaries(store, {home.name for _, home in listed if home.parent.name == "results"})
    faults = [_change(store, home.stem, path, partial(_restore_path, path, home)) for path, home in listed]
    unmoved = [fault for fault in faults if fault]
    for root in _roots(store):
        _remove_empty_folders(root / TRASH)
    return len(listed) - len(unmoved), unmoved


def _restore_path(path: Path, home: Path) -> str:
    """Restore a path, never over what was made since. Attempts and results of one stage join those that were."""
    if not home.exists():
        _rename(path, home)
        return ""
    if home.parent.name in ("results", "attempts"):
        for child in path.iterdir():
            if not (home / child.name).exists():
                _rename(child, home / child.name)
        _remove_empty_folders(path)
    return f"{home} is there already" if path.exists() else ""


def trash_size(store: Store) -> tuple[int, int]:
    """Count folders and files, and the bytes of them and of what an interrupted `empty` left."""
    return len(list(_contents(store))), sum(folder_bytes(root / TRASH) for root in _roots(store))


def empty_trash(store: Store) -> int:
    """Delete the trash and return its bytes. Hide it first: what is deleted in part cannot be restored."""
    freed = 0
    with locked(store.lock(TRASH), wait=False):
        for root in _roots(store):
            for batch in subfolders(root / TRASH):
                os.rename(batch, batch.with_name(f".{batch.name}"))
            sync(root / TRASH)
            freed += folder_bytes(root / TRASH)
            remove_tree(root / TRASH)
    return freed


def _contents(store: Store) -> Iterator[tuple[Path, Path]]:
    """List folders and files of the trash, each with its path in the store."""
    for root in _roots(store):
        for batch in reversed(subfolders(root / TRASH)):
            for kind in subfolders(batch):
                for path in sorted(kind.iterdir()):
                    paths = sorted(path.iterdir()) if path.name == store.records().name else [path]
                    yield from ((entry, root / entry.relative_to(batch)) for entry in paths)


def _roots(store: Store) -> list[Path]:
    """List folders with a trash: what is renamed stays on its file system. A link leads to somebody else's folder."""
    roots = dict.fromkeys((store.root, store.data))
    return [root for root in roots if (root / TRASH).is_dir() and not (root / TRASH).is_symlink()]


def _change(store: Store, name: str, path: Path, change: Callable[[], str]) -> UnmovedPath | None:
    """Change something under the lock of a stage or build; `change` says why it changed nothing."""
    lock = store.lock(name)
    try:
        with locked(lock, wait=False):
            why = change()
            lock.unlink(missing_ok=True)
    except LockBusy:  # a job that outlived its run
        why = "it is in use"
    except OSError as error:
        why = error.strerror or str(error)
    return UnmovedPath(path, why) if why else None


def _rename(path: Path, target: Path) -> None:
    make_folder(target.parent)
    os.rename(path, target)
    sync(target.parent)
    sync(path.parent)


def _remove_empty_folders(folder: Path) -> None:
    for parent, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):
            Path(parent).rmdir()


class References(NeededNames):
    """Names that specs and plans need; `notes` say which results stay though no spec is known to need them."""

    specs: list[str] = field(default_factory=list)  # that could be compiled
    wrong_specs: dict[str, Sequence[Problem]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, plan: Plan) -> None:
        from stepgrid.run.disk_budget import shapes

        self.plans.add(plan.digest)
        self.secrets.update(secret_name(digest) for _, digest in secret_digests(plan))
        self.builds.update(build.id for build in plan.builds)
        self.stages.update(stage.id for stage in plan.stages)
        self.shapes.update(shapes(plan))

    def add_stored(self, plan: StoredPlan) -> None:
        """Add all that a stored plan names, whatever its spec says by now."""
        try:
            self.add(plan_file.read(plan.folder))
        except DAMAGED:
            raise _unreadable(plan) from None

    def add_spec(self, spec: str, plans_of_spec: Sequence[StoredPlan], narrowed: Iterable[StoredRequest]) -> list[Plan]:
        """Add what a spec needs at all of its scales and narrowed; if it has errors, all that its stored plans need.

        Return the plans that it has now."""
        names, compiled = (None, *(scales(spec) if Path(spec).is_file() else ())), list[Plan]()
        unnarrowed = (StoredRequest("", "", Request(spec, scale)) for scale in names)
        for item in (*unnarrowed, *(item for item in narrowed if item.request.scale in names)):
            try:
                compiled.append(_compile(item.request))
            except SpecError as error:
                self.wrong_specs[spec] = error.problems
                for stored_plan in plans_of_spec:
                    self.add_stored(stored_plan)
                self.notes.append(_wrong_spec_note(item, error.problems, len(plans_of_spec)))
                return []
        for plan in compiled:
            self.add(plan)
        self.specs.append(spec)
        return compiled

    def add_other_machines(self, spec: str, plans_of_spec: Sequence[StoredPlan], present: Collection[str]) -> None:
        """Add what other machines measured: compiled there, the spec needs it."""
        for plan in plans_of_spec:
            machines = (name for name, facts in plan.head.machines.items() if not facts.get("declared"))
            absent = sorted(name for name in machines if name not in present)
            stages = [stage.id for stage in _stages(plan) if stage.hardware in absent] if absent else []
            if not self.stages.issuperset(stages):
                self.add_stored(plan)
                sentence = f"{plan.folder} of {spec} is about another machine ({', '.join(absent)})"
                self.notes.append(f"{sentence}; all its results stay")


def references(store: Store, specs: Sequence[str], forgotten: Collection[str] = ()) -> References:
    """Collect what these specs and all stored plans need, without the forgotten specs and plans."""
    needed, machine = References(), identity.hardware_id(host_plan.host_facts(store))
    stored = [plan for plan in plans.stored_plans(store) if not {plan.spec, plan.digest} & {*forgotten}]
    records = [record for record in requests(store) if not {record.plan, record.request.spec} & {*forgotten}]
    standalone = _standalone_plans(store, stored)
    for plan in standalone:
        needed.add_stored(plan)
    of_specs = [plan for plan in stored if plan not in standalone]
    requested = [record.request.spec for record in records]
    for spec in dict.fromkeys([*specs, *(plan.spec for plan in of_specs), *requested]):
        plans_of_spec = [plan for plan in of_specs if plan.spec == spec]
        of_spec = (record for record in records if record.request.spec == spec)
        narrowed = (record for record in of_spec if record.request.only or record.request.sets)
        if compiled := needed.add_spec(spec, plans_of_spec, narrowed):
            machines = {machine, *(name for plan in compiled for name in plan.machines)}
            needed.add_other_machines(spec, plans_of_spec, machines)
    # the last plan of each spec and scale: the next search must find the spec by it
    needed.plans.update({(plan.spec, plan.scale): plan.digest for plan in stored}.values())
    needed.plans.update(record.plan for record in records)
    return needed


def _standalone_plans(store: Store, stored: Sequence[StoredPlan]) -> list[StoredPlan]:
    """Select plans that no spec here stands for: of imported results, or damaged."""
    return [plan for plan in stored if not plan.spec or is_imported(plan.spec) or store.texts(plan.digest).is_dir()]


def _compile(request: Request) -> Plan:
    path = Path(request.spec)
    if path.exists() and not path.is_file() and not path.is_dir():  # a pipe, which would wait for its writer
        raise SpecError([Problem("file-not-found", Location(request.spec, 1, 1), f"`{request.spec}` is not a file")])
    return compile_spec(request, Problems())


def _stages(plan: StoredPlan) -> Sequence[PlannedStage]:
    try:
        return plan_file.read(plan.folder).stages
    except DAMAGED:
        raise _unreadable(plan) from None


def _unreadable(plan: StoredPlan) -> CommandError:
    sentence = f"{plan.folder} cannot be read, so the results that it needs are unknown: nothing was moved"
    return CommandError(f"{sentence}; `stepgrid gc --forget {plan.digest}` goes on without it", PROBLEMS)


def _wrong_spec_note(stored: StoredRequest, problems: Sequence[Problem], plan_count: int) -> str:
    """my.yaml with --only 'x == 1' cannot be compiled: … (2 more errors); all results of its stored plan stay; …"""
    errors = [problem for problem in problems if problem.severity == "error"]
    request = stored.request
    options = request._replace(scale=None).words()[1:]
    name = " ".join([request.spec, *(["with", shlex.join(options)] if options else [])])
    suffix = f" ({counted(len(errors) - 1, 'more error')})" if len(errors) > 1 else ""
    sentence = f"{name} cannot be compiled: {errors[0].message}{suffix}"
    if not plan_count:
        return f"{sentence}; no plan of it is stored"
    number = counted(plan_count, "stored plan") if plan_count > 1 else "stored plan"
    hint = f"`stepgrid gc --forget {shlex.quote(stored.plan or request.spec)}` goes on without it"
    return f"{sentence}; all results of its {number} stay; {hint}"
