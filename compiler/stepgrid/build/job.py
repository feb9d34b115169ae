"""One job: makes a build unless the store has it."""

from __future__ import annotations

import sys
import time
import traceback
from pathlib import Path

from stepgrid.build import record
from stepgrid.build.attempt import LOG, fail, remove_temporary, sign_of_life, sweep, tidy
from stepgrid.build.command_runner import Commands
from stepgrid.build.error import BuildError
from stepgrid.build.fetch import patches
from stepgrid.build.local_pins import pin
from stepgrid.build.programs import RECORD
from stepgrid.build.recipes.registry import recipe_of
from stepgrid.build.sources import source_of
from stepgrid.build.task import Order
from stepgrid.build.verification import check
from stepgrid.host.disk import disk_full, is_disk_full
from stepgrid.host.failure import DISK_FULL, end_of_log
from stepgrid.host.locks import host_lock, locked
from stepgrid.host.processes.signals import Interrupted
from stepgrid.language.site import current_site
from stepgrid.language.sources import source_key, source_parts
from stepgrid.model import number_format
from stepgrid.model.plan import PlannedBuild
from stepgrid.plugins.engine import IdentityError
from stepgrid.plugins.registry import require_builder
from stepgrid.store.store import Store


def make(store: Store, build: PlannedBuild) -> int:
    """The exit status."""
    if _have(store, build):
        return 0
    with locked(store.lock(build.id)):
        if _have(store, build):  # another job made it meanwhile
            return 0
        with host_lock(shared=True):
            sweep(store, build.id)
            return _attempt(store, build)


def _have(store: Store, build: PlannedBuild) -> bool:
    if store.has_build(build.id):
        store.set_mark(build.id, store.build(build.id) / RECORD)
        return True
    return False


def _attempt(store: Store, build: PlannedBuild) -> int:
    attempt = store.new_attempt(build.id)
    try:
        with sign_of_life(attempt):
            said = produce(build, attempt)
        store.publish_build(build.id, attempt)
    except Interrupted as signal:
        if attempt.exists():  # else it was published just before
            fail(attempt, build.id, "interrupted", f"the build was stopped ({signal})")
        return 128 + signal.number
    except Exception as error:  # whatever it is, the attempt says so, and the user gets a sentence
        _fail(attempt, build, error)
        return 1
    _say(build, said)
    return 0


def produce(build: PlannedBuild, folder: Path) -> str:
    """Obtains, checks and records a build in its folder; gives the line for the end."""
    began, folder = time.monotonic(), folder.absolute()  # commands run in several folders
    order = Order(build, require_builder(build.engine), folder, Commands(folder / LOG, folder), current_site())
    source, recipe = source_of(build.source), recipe_of(build, order.engine)
    if recipe is None:
        raise BuildError(f"there is no recipe that makes {build.engine} from {source.describe(build.source)}")
    _say(build, f"{source.describe(build.source)} …")
    material = source.fetch(build.source, folder, order)
    material = patches.apply(order, material)
    made = recipe.make(order, material)
    tidy(folder)
    _refuse_moved(build)
    checked = check(order, material, made)
    remove_temporary(folder)
    seconds = time.monotonic() - began
    record.write(order, record.FinishedBuild(source.route, recipe.name, material, made, checked, seconds))
    assertions = {True: ", assertions enabled", False: ", no assertions", None: ""}[checked.identity.assertions]
    return f"built in {number_format.seconds(seconds)}, {checked.identity.version}{assertions}"


def _refuse_moved(build: PlannedBuild) -> None:
    """A program of this machine that was replaced since the spec was compiled must not take the old one's id.

    A tree is copied, and its copy was held against the plan: who works on it may go on.
    """
    names = {source_key(part) for part in source_parts(build.source)} | build.pins.keys()
    for program in sorted(name.removeprefix("system ") for name in names if name.startswith("system ")):
        if pin({"system": program}) != build.pins.get(f"system {program}"):
            raise BuildError(f"{program} changed after the spec was compiled: run the same command again")


def _fail(attempt: Path, build: PlannedBuild, error: Exception) -> None:
    message = str(error)
    if not attempt.exists():  # it was published just before
        print(f"build {build.name}: it is there, but its mark could not be set: {message}", file=sys.stderr)
        return
    if no_room := _no_room(attempt, error):
        message = no_room
    tail = fail(attempt, build.id, "failed", message or type(error).__name__)
    if not isinstance(error, BuildError | IdentityError | OSError):  # a fault of ours: for whoever mends it
        with (attempt / LOG).open("a", encoding="utf-8") as log:
            log.write(traceback.format_exc())
    lines = [f"  | {line}" for line in tail.splitlines()]
    block = [f"failed: build {build.name}", f"  {message}", *lines, f"  log: {attempt / LOG}"]
    print("\n".join(block), file=sys.stderr, flush=True)


def _no_room(attempt: Path, error: Exception) -> str:
    """What the disk has left, when that is why; said by the system, by a client or by a compiler."""
    said = str(error)
    if (isinstance(error, OSError) and is_disk_full(error)) or DISK_FULL in said:
        said = ""
    elif DISK_FULL not in end_of_log(attempt / LOG):
        return ""
    return "; ".join(filter(None, (said, disk_full(attempt, hint="free some, or use another disk"))))


def _say(build: PlannedBuild, text: str) -> None:
    print(f"build {build.name}: {text}", file=sys.stderr, flush=True)
