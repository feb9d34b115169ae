"""Plans in a store: published as a whole, compared with earlier ones, and the ids under which their results lie."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from stepgrid.host.files import find_record, make_folder, read_bytes
from stepgrid.language.files import InputRecord, digest, record_file
from stepgrid.model.plan import Json, Plan, is_imported
from stepgrid.model.records import Record
from stepgrid.model.secret_variables import Secret, is_digest, mask_settings, secret_name
from stepgrid.plan import plan_file
from stepgrid.plan.plan_file import DAMAGED, Head, is_intact
from stepgrid.store.paths import TIME_FORMAT, subfolders
from stepgrid.store.store import Store


def publish(store: Store, plan: Plan) -> None:
    for secret in secrets(plan):
        store.keep_secret(secret_name(secret), secret.value)
    store.publish_plan(plan.digest, lambda folder: write(plan, folder), is_intact)


def secrets(plan: Plan) -> list[Secret]:
    """List the secrets of a plan that was just compiled; a plan that was read has their digests alone."""
    return [digest for _, digest in secret_digests(plan) if isinstance(digest, Secret)]


def secret_digests(plan: Plan) -> list[tuple[str, str]]:
    """List the variables of a plan that are secrets, with their digests."""
    setups = (step.setup for stage in plan.stages for step in stage.steps)
    variables = (variable for setup in setups for variable in setup.variables)
    return sorted({(name, text) for name, text in variables if is_digest(text)})


def stored_secrets(store: Store, plan: Plan) -> list[tuple[str, str, str]]:
    """List variable, digest and value of the secrets of a plan, as far as their values are here."""
    secrets_here = []
    for name, text in secret_digests(plan):
        with suppress(LookupError):
            secrets_here.append((name, text, store.read_secret(secret_name(text))))
    return secrets_here


def write(plan: Plan, folder: Path) -> None:
    """Write the file of a plan; a folder that is there already has the same plan."""
    if not folder.is_dir():
        make_folder(folder)
        (folder / plan_file.PLAN_FILE).write_text(plan_file.text(plan), encoding="utf-8")


class StoredPlan(NamedTuple):
    folder: Path
    head: Head
    time: float  # when it was stored, unix time

    @property
    def digest(self) -> str:
        return self.folder.name

    @property
    def spec(self) -> str:
        """Name its spec; a damaged plan has none."""
        return self.head.spec

    @property
    def scale(self) -> str | None:
        return self.head.scale

    @property
    def time_name(self) -> str:
        """Name the time as results are named."""
        return datetime.fromtimestamp(self.time, UTC).strftime(TIME_FORMAT)


def stored_plans(store: Store) -> list[StoredPlan]:
    """List all plans, oldest first."""
    plans = []
    for folder in subfolders(store.plan("_").parent):
        head = Head()
        with suppress(*DAMAGED):
            head = plan_file.read_head(folder)
        plans.append(StoredPlan(folder, head, folder.stat().st_mtime))
    return sorted(plans, key=lambda plan: (plan.time, plan.digest))


def imported_plan(store: Store, digest: str) -> Plan | None:
    """Return a plan of published results, or one that came with results of another checkout: its spec is not needed."""
    folder = store.plan(digest)
    try:
        if is_intact(folder) and (store.texts(digest).is_dir() or is_imported(plan_file.read_head(folder).spec)):
            return plan_file.read(folder)
    except DAMAGED:
        pass
    return None


def stage_ids(folder: Path) -> frozenset[str]:
    """List the stages of a plan; none where it cannot be read."""
    try:
        return frozenset(stage.id for stage in plan_file.read(folder).stages)
    except DAMAGED:
        return frozenset()


def outdate_summaries(store: Store, stages: set[str]) -> None:
    """Have the summaries of all plans that have one of these stages made again; nothing is measured for that.

    A new result is newer than a summary, and shows; one that is taken out, or comes in with its old time, is not."""
    for folder in subfolders(store.summary("_").parent):
        if not stages.isdisjoint(stage_ids(store.plan(folder.name))):
            store.drop_stamps(folder.name)


# Earlier plans: what this spec asked for before, and what others ask for now.

MOST_PLANS = 40  # that are looked at, newest first


def earlier_plans(store: Store, plan: Plan, with_others: bool = True) -> Iterator[Plan]:
    """Read the other plans of a spec, and the newest of each other one, the newest first, each when it is its turn.

    Damaged ones are skipped."""
    other_specs = set[tuple[str, str | None]]()
    for stored in stored_plans(store)[: -MOST_PLANS - 1 : -1]:
        spec = stored.spec, stored.scale
        is_wanted = spec == (plan.spec, plan.scale) or (with_others and spec not in other_specs)
        if is_wanted and stored.digest != plan.digest and is_intact(stored.folder):
            with suppress(*DAMAGED):
                yield plan_file.read(stored.folder)
                other_specs.add(spec)


def is_of_spec(earlier: Plan, plan: Plan) -> bool:
    return (earlier.spec, earlier.scale) == (plan.spec, plan.scale)


# How far the loads of a cell lie apart, from figures that are stored in their results.


def read_input(path: Path) -> bytes | None:
    """Read a note that a plan depends on: one that was compiled before holds while this stays as it is."""
    try:
        text = read_bytes(path)
    except OSError:
        text = None
    record_file(str(path), text)
    return text


# Requests: the words that a plan was made for


class Request(NamedTuple):
    spec: str
    scale: str | None = None
    only: str | None = None
    sets: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return digest(json.dumps(self).encode())[:20]

    def words(self, site: str | None = None) -> list[str]:
        """Return the words of a command line for the same spec, scale, cells and values."""
        options = {"--scale": self.scale, "--only": self.only, "--site": site}
        words = [word for name, value in options.items() if value is not None for word in (name, value)]
        return [self.spec, *words, *(word for text in self.sets for word in ("--set", text))]


class CachedPlan(NamedTuple):
    plan: str  # the digest
    warnings: str  # of the compilation, as text
    secrets: tuple[str, ...] = ()  # names of files that a job needs


class RequestRecord(Record, frozen=True, kw_only=True):
    """A request with its plan, and all that its compilation read."""

    request: Request
    around: list[Json]  # what a plan depends on beside files
    read: InputRecord
    plan: CachedPlan


class StoredRequest(NamedTuple):
    key: str
    plan: str  # the digest
    request: Request


def requests(store: Store) -> Iterator[StoredRequest]:
    """List all requests that were ever run here."""
    for path in sorted(store.request_note("_").parent.glob("[!.]*.json")):
        if record := find_record(path, RequestRecord):
            yield StoredRequest(path.stem, record.plan.plan, record.request)


def newest_request(store: Store, plan: Plan) -> Request | None:
    """Return the last request that came to a plan, its secrets hidden; None for plans that came here with results."""
    notes = [stored for stored in requests(store) if stored.plan == plan.digest]
    newest = max(notes, key=lambda stored: _modification_time(store.request_note(stored.key)), default=None)
    return newest.request._replace(sets=mask_settings(newest.request.sets)) if newest else None


def _modification_time(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # removed in the meantime
        return 0.0
