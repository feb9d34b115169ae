"""Make one build: obtain its programs, ask them what they are, record and publish them; clear up after failures."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from stepgrid.build import record
from stepgrid.build.commands import COOKIE, TEMPORARY, Commands
from stepgrid.build.error import BuildError
from stepgrid.build.git import apply_patches
from stepgrid.build.pins import pin
from stepgrid.build.ready_programs import recipe_of
from stepgrid.build.recipe import BuiltPrograms, Material, Order, source_of
from stepgrid.build.record import CheckedBuild, FinishedBuild, absolute
from stepgrid.build.relink import relinked_files
from stepgrid.host import cluster_job
from stepgrid.host.disk import disk_full, is_disk_full
from stepgrid.host.failure import DISK_FULL, end_of_log, first_error
from stepgrid.host.files import write_json
from stepgrid.host.locks import host_lock, locked
from stepgrid.host.processes.signals import Interrupted, kill_marked
from stepgrid.language.site import current_site
from stepgrid.language.sources import source_key, source_parts
from stepgrid.model import units
from stepgrid.model.plan import LINK, PlannedBuild
from stepgrid.model.records import AttemptRecord, FailureRecord, replace
from stepgrid.plugins.engine import IdentityError
from stepgrid.plugins.registry import require_builder
from stepgrid.store.attempts import heartbeat
from stepgrid.store.paths import ATTEMPT_FILE, BUILD_FILE, BUILD_LOG, FAILURE_FILE, now
from stepgrid.store.store import Store

UNTOLD = "unknown"  # neither the binary nor the spec says which version it is

_LASTING = (BUILD_LOG, FAILURE_FILE)  # of a failed attempt
_HISTORY = ".git"
_ANSWER_SECONDS = 60.0


def make(store: Store, build: PlannedBuild) -> int:
    """Make a build unless the store has it; return the exit status."""
    if _mark_built(store, build):
        return 0
    with locked(store.lock(build.id)):
        if _mark_built(store, build):  # another job made it meanwhile
            return 0
        began = time.monotonic()
        with host_lock(shared=True):
            waited = time.monotonic() - began
            sweep(store, build.id)
            return _attempt(store, build, waited)


def _mark_built(store: Store, build: PlannedBuild) -> bool:
    if store.has_build(build.id):
        store.set_mark(build.id, store.build(build.id) / BUILD_FILE)
        return True
    return False


def _attempt(store: Store, build: PlannedBuild, waited: float) -> int:
    attempt = store.new_attempt(build.id)
    try:
        with sign_of_life(attempt):
            summary = produce(build, attempt, waited)
        store.publish_build(build.id, attempt)
    except Interrupted as signal:
        if attempt.exists():  # else it was published just before
            fail(attempt, build.id, "interrupted", f"the build was stopped ({signal})")
        return 128 + signal.number
    except Exception as error:  # whatever it is, the attempt says so, and the user gets a sentence
        _report_failure(attempt, build, error)
        return 1
    print(f"build {build.name}: {summary}", file=sys.stderr, flush=True)
    return 0


def produce(build: PlannedBuild, folder: Path, waited: float = 0.0) -> str:
    """Obtain, check and record a build in its folder; return a line that sums it up. `waited`: for the host."""
    began, folder = time.monotonic(), folder.absolute()  # commands run in several folders
    commands = Commands(folder / BUILD_LOG, folder, int(str(build.recipe.get(LINK, 1))))
    order = Order(build, require_builder(build.engine), folder, commands, current_site())
    source, recipe = source_of(build.source), recipe_of(build, order.engine)
    description = source.describe(build.source)
    if recipe is None:
        raise BuildError(f"there is no recipe that makes {build.engine} from {description}")
    material = apply_patches(order, source.fetch(build.source, folder, order))
    output = recipe.make(order, material)
    remove_history(folder)
    _refuse_replaced_programs(build)
    checked, unchanged = check(order, material, output), _unchanged_link(build, folder)
    if unchanged:
        warnings = (*checked.identity.warnings, unchanged)
        checked = replace(checked, identity=checked.identity._replace(warnings=warnings))
    shutil.rmtree(folder / TEMPORARY, ignore_errors=True)  # several programs may have shared it
    seconds = time.monotonic() - began
    finished = FinishedBuild(source.route, recipe.name, material, output, checked, seconds, waited)
    record.write(folder, build, finished)
    assertions = {True: ", assertions enabled", False: ", no assertions", None: ""}[checked.identity.assertions]
    version = "" if checked.identity.version == UNTOLD else f", version {checked.identity.version}"
    sentences = "".join(f"; {text}" for text in (material.warning, unchanged) if text)
    return f"{description}, built in {units.duration(seconds)}{version}{assertions}{sentences}"


def _unchanged_link(build: PlannedBuild, folder: Path) -> str:
    """Say that a further link of a program is the same as its first."""
    if LINK not in build.recipe or relinked_files(folder / BUILD_LOG):
        return ""
    return "no file of it was linked of several objects of its tree: its links are alike"


def _refuse_replaced_programs(build: PlannedBuild) -> None:
    """Refuse a program of this machine that changed since the spec was compiled: it must not take the old one's id.

    A tree is copied, and its copy was compared with the plan: its owner may go on working.
    """
    names = {source_key(part) for part in source_parts(build.source)} | build.pins.keys()
    for program in sorted(name.removeprefix("system ") for name in names if name.startswith("system ")):
        if pin({"system": program}) != build.pins.get(f"system {program}"):
            raise BuildError(f"{program} changed after the spec was compiled: run the same command again")


def check(order: Order, material: Material, output: BuiltPrograms) -> CheckedBuild:
    """Ask a fresh build what it is, and compare that with what the spec declares."""
    engine, server = order.engine, material.described
    if server is not None:
        _compare_version(order.build, "the server", server.identity.version, material.advice)
        return CheckedBuild(server.identity, server.options)

    def run(program: str, arguments: Sequence[str]) -> tuple[str, str]:
        argv = (*absolute(order.folder, output.programs[program]), *arguments)
        result = order.commands.run(argv, _ANSWER_SECONDS, cwd=order.folder)
        if result.status < 0:
            raise BuildError(f"{program} was killed by signal {-result.status} when it was asked what it is")
        return result.stdout, result.stderr

    identity = engine.identify(run)
    if not identity.version:
        identity = identity._replace(version=order.build.version or UNTOLD)
    _compare_version(order.build, "the binary", identity.version, material.advice)
    catalogue = engine.catalogue(run)
    if catalogue is not None and not catalogue:
        raise BuildError(f"{engine.name} {identity.version} lists no options: nothing could be checked against it")
    return CheckedBuild(identity, catalogue)


def _compare_version(build: PlannedBuild, speaker: str, version: str, advice: str) -> None:
    """Accept 11.8.9 for `11.8`: a suite of packages has another one from month to month."""
    if build.version and not f"{version}.".startswith(f"{build.version}."):
        where = f" ({build.where})" if build.where else ""
        raise BuildError(f"the spec declares version {build.version}{where}, {speaker} says {version}: {advice}")


# Attempts: what a failed one leaves behind, and clearing up after one that was killed.


def fail(attempt: Path, build: str, status: str, message: str) -> str:
    """Keep the log and the reason of a failed attempt, remove all else; return the end of the log."""
    kill_marked(COOKIE, attempt)  # where somebody killed the subreaper too
    log = attempt / BUILD_LOG
    tail, error = end_of_log(log), first_error(log)
    clear(attempt)
    failure = FailureRecord(node=build, attempt=attempt.name, status=status, message=message, tail=tail, log=str(log))
    write_json(attempt / FAILURE_FILE, replace(failure, first_error=error))
    return tail


def sweep(store: Store, build: str) -> None:
    """Clear up attempts that were killed; the caller holds the build's lock.

    The run may have written the failure of one that was killed during it, and left its files.
    """
    for attempt in store.attempts(build):
        if not (attempt / FAILURE_FILE).exists():
            fail(attempt, build, "interrupted", "the build was killed")
        elif any(entry.name not in _LASTING for entry in attempt.iterdir()):
            kill_marked(COOKIE, attempt)
            clear(attempt)


def clear(attempt: Path) -> None:
    for entry in attempt.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, onerror=_remove_protected)
        elif entry.name not in _LASTING:
            entry.unlink(missing_ok=True)


@contextmanager
def sign_of_life(attempt: Path) -> Iterator[None]:
    """On a cluster, record that the build runs and where: other machines cannot see who holds its lock."""
    if not cluster_job.active():
        yield
        return
    node = cluster_job.node()
    job = AttemptRecord(started=now(), pid=os.getpid(), hostname=platform.node(), cluster_node=node)
    write_json(attempt / ATTEMPT_FILE, job, durable=False)
    try:
        with heartbeat(attempt):
            yield
    finally:
        (attempt / ATTEMPT_FILE).unlink(missing_ok=True)  # no part of the build


def remove_history(folder: Path) -> None:
    """Remove the git history of the trees that a build was made of."""
    for parent, folders, files in os.walk(folder):
        if _HISTORY in folders:
            folders.remove(_HISTORY)
            shutil.rmtree(Path(parent, _HISTORY), onerror=_remove_protected)
        if _HISTORY in files:
            Path(parent, _HISTORY).unlink()


def _remove_protected(remove: Callable[[str], object], name: str, _error: object) -> None:
    """Remove an entry of a read-only folder: some programs make theirs so, and only root could empty it."""
    with suppress(OSError):
        Path(name).parent.chmod(0o700)
        if Path(name).is_dir() and not Path(name).is_symlink():
            Path(name).chmod(0o700)
            shutil.rmtree(name, ignore_errors=True)
        else:
            remove(name)


def _report_failure(attempt: Path, build: PlannedBuild, error: Exception) -> None:
    message = str(error)
    if not attempt.exists():  # it was published just before
        print(f"build {build.name}: it is there, but its mark could not be set: {message}", file=sys.stderr)
        return
    message = _explain_full_disk(attempt, error) or message
    tail = fail(attempt, build.id, "failed", message or type(error).__name__)
    if not isinstance(error, BuildError | IdentityError | OSError):  # a fault of ours: for whoever mends it
        with (attempt / BUILD_LOG).open("a", encoding="utf-8") as log:
            log.write(traceback.format_exc())
    lines = [f"  | {line}" for line in tail.splitlines()]
    block = [f"failed: build {build.name}", f"  {message}", *lines, f"  log: {attempt / BUILD_LOG}"]
    print("\n".join(block), file=sys.stderr, flush=True)


def _explain_full_disk(attempt: Path, error: Exception) -> str:
    """Say how much the disk has left, when the system, a client or a compiler complained of it."""
    message = str(error)
    if (isinstance(error, OSError) and is_disk_full(error)) or DISK_FULL in message:
        message = ""
    elif DISK_FULL not in end_of_log(attempt / BUILD_LOG):
        return ""
    return "; ".join(filter(None, (message, disk_full(attempt, hint="free some, or use another disk"))))
