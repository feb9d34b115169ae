"""Results that were measured in another checkout join those that are here, once all of them is what was exported."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from stepgrid.build.archive import unpack
from stepgrid.build.error import BuildError
from stepgrid.host.files import remove_tree, write_json
from stepgrid.host.locks import locked
from stepgrid.language.site import current_site
from stepgrid.model.number_format import size
from stepgrid.model.plan import Plan, imported
from stepgrid.plan import plan_file, verification
from stepgrid.plan.plan_file import DAMAGED
from stepgrid.plugins.registry import PluginError
from stepgrid.store import plans, redo_requests
from stepgrid.store.checksums import RECORD
from stepgrid.store.paths import IMPORTED, TIME_PATTERN, future_fault, now
from stepgrid.store.stale_summaries import out_of_date
from stepgrid.store.status.integrity import build_fault, full_fault
from stepgrid.store.store import Store
from stepgrid.transfer import bundle, manifest, signature
from stepgrid.transfer.result_export import (
    ATTEMPTS,
    BUILDS,
    CONTENT,
    FORMAT,
    KIND,
    PLAN,
    RECORDS,
    REPORT,
    RESULTS,
    SPEC,
)

_RESULT = re.compile(rf"s-[0-9a-f]+/(?P<time>{TIME_PATTERN})", re.ASCII)
_PATH = re.compile(
    rf"{PLAN}/[a-z]+\.jsonl?|{BUILDS}/b-[0-9a-f]+/({'|'.join(map(re.escape, RECORDS))})"
    rf"|({RESULTS}|{ATTEMPTS})/s-[0-9a-f]+/{TIME_PATTERN}/.+"
    rf"|{SPEC}/.+|{REPORT}/(summary\.txt|index\.html|tables/[a-z0-9_.]+\.parquet)"
)
_STAGED = "import"  # what an import that was killed leaves is below this name; one of a build may be under way
_MOST_BYTES = 1 << 50  # of a file


@dataclass(slots=True)
class ImportedResults:
    plan: Plan
    results: list[str] = field(default_factory=list)  # stage/time
    known: list[str] = field(default_factory=list)  # that were here already, and stay as they are
    attempts: int = 0
    signed: str | None = None  # by whom, where the site file says whose are taken
    builds: int = 0  # records of builds that are not here


def is_one(said: Mapping[str, Any]) -> bool:
    """By what the manifest says: other bundles have other kinds."""
    return said.get("kind") == KIND


def result_fault(name: object) -> str | None:
    """Say why no result of another checkout can have this name, stage/time."""
    if not isinstance(name, str) or not (match := _RESULT.fullmatch(name)):
        return f"{str(name)[:80]!r} is no name of a result"
    return f"the result {name} {fault}" if (fault := future_fault(match["time"])) else None


def bundle_results(file: Path) -> set[str]:
    """The results in a bundle, by its manifest."""
    files = bundle.head(file, "result").get("files")
    names = files if isinstance(files, Mapping) else ()
    return {match[1] for name in names if (match := re.fullmatch(rf"{RESULTS}/([^/]+/[^/]+)/{RECORD}", name))}


def publish(store: Store, file: Path) -> ImportedResults:
    """A BuildError says why nothing was published."""
    signers = current_site().signers
    signed = signature.signer(file, signers) if signers else None
    said = bundle.head(file, "result")
    largest = _check(store, file, said)
    with locked(store.lock(_STAGED)):
        for left in store.attempts(_STAGED):
            remove_tree(left)
        staged = store.new_attempt(_STAGED)
        try:
            unpack(file, staged / "all", limit=largest)
            taken = ImportedResults(_verified(file, said, staged / "all"), signed=signed)
            _publish(store, taken, staged / "all" / CONTENT)
            return taken
        finally:
            remove_tree(staged)
            store.drop_empty_attempts(_STAGED)


def _check(store: Store, file: Path, said: Mapping[str, Any]) -> int:
    """By what the manifest says, before anything is unpacked; gives the bytes that it may come to."""
    form = said.get("format")
    if is_one(said) and isinstance(form, int) and form > FORMAT:
        raise BuildError(f"{file} is of a newer stepgrid: its format is {form}, this one reads up to {FORMAT}")
    if not is_one(said) or not isinstance(form, int) or not isinstance(said.get("files"), Mapping):
        raise BuildError(f"{file} holds no results that this version can import: its manifest says something else")
    sizes: list[Any] = [entry.get("bytes", 0) for entry in said["files"].values() if isinstance(entry, Mapping)]
    if any(not isinstance(each, int) or not 0 <= each < _MOST_BYTES for each in sizes):
        raise BuildError(f"{file} is not imported: its manifest has a file of no size that a file can have")
    needed = int(sum(sizes))
    free = shutil.disk_usage(next(each for each in (store.root, *store.root.absolute().parents) if each.exists())).free
    if needed > free:
        raise BuildError(f"{file} is not imported: it takes {size(needed)}, and {size(free)} are free at {store.root}")
    return needed + bundle.MOST


def _verified(file: Path, said: Mapping[str, Any], staged: Path) -> Plan:
    """Everything before anything is published: the plan that the results are of."""
    content = staged / CONTENT
    there = [bundle.MANIFEST, CONTENT]
    if sorted(entry.name for entry in staged.iterdir()) != sorted(there):
        raise BuildError(f"{file} is not imported: beside its manifest it holds more than {CONTENT}/, or not that")
    if bundle.record((staged / bundle.MANIFEST).read_bytes(), file, "result") != said:
        raise BuildError(f"{file} changed while it was read, or holds two manifests")
    if wrong := manifest.changed(said["files"], manifest.files(content)):
        raise BuildError(f"{file} is not imported: {wrong}")
    if strange := next((name for name in said["files"] if not _PATH.fullmatch(name)), None):
        raise BuildError(f"{file} is not imported: results have no file {strange}")
    plan = _plan(file, content / PLAN, str(said.get("plan")))
    for wrong in (*_wrong_ids(plan), *_faults(content, plan)):
        raise BuildError(f"{file} is not imported: {wrong}")
    return plan


def _plan(file: Path, folder: Path, digest: str) -> Plan:
    try:
        plan = plan_file.read(folder)
        if plan_file.digest(replace(plan, digest="")) == plan.digest == digest:
            return plan
    except DAMAGED:
        pass
    raise BuildError(f"{file} is not imported: its plan cannot be read, or is not the one that it names")


def _wrong_ids(plan: Plan) -> Iterator[str]:
    """Those of published results are made of the results themselves."""
    if imported(plan.spec):
        yield from (f"the build {each.id} was not published" for each in plan.builds if [*each.source] != ["published"])
        return
    try:
        yield from verification.faults(plan)
    except (PluginError, *DAMAGED) as error:
        yield f"the ids of its stages cannot be verified here: {error}"


def _faults(content: Path, plan: Plan) -> Iterator[str]:
    stages = {stage.id: stage for stage in plan.stages}
    builds = {build.id for build in plan.builds}
    for folder in (*_results(content, RESULTS), *_results(content, ATTEMPTS)):
        name = f"{folder.parent.name}/{folder.name}"
        if fault := result_fault(name):
            yield fault
        elif folder.parent.name not in stages:
            yield f"its plan has no stage {folder.parent.name}"
        elif folder.is_relative_to(content / RESULTS) and (why := full_fault(folder, stages[folder.parent.name])):
            yield f"its result {name} is broken: {why}"
    for folder in _below(content / BUILDS):
        if folder.name not in builds or (why := build_fault(folder)):
            yield f"its plan has no build {folder.name}" if folder.name not in builds else f"{folder.name}: {why}"


def _publish(store: Store, taken: ImportedResults, content: Path) -> None:
    plan = taken.plan
    plans.publish(store, plan)
    for record in _below(content / BUILDS):
        there = store.build_record(record.name)
        taken.builds += not store.has_build(record.name) and store.publish_import(record, there)
    for result in _results(content, RESULTS):
        _take(store, result, taken)
    for attempt in _results(content, ATTEMPTS):
        folder = store.attempts_of(attempt.parent.name) / attempt.name
        taken.attempts += store.publish_import(attempt, folder)
    if (content / SPEC).is_dir():
        store.publish_import(content / SPEC, store.texts(plan.digest))
    out_of_date(store, {name.partition("/")[0] for name in taken.results})


def _take(store: Store, result: Path, taken: ImportedResults) -> None:
    stage, name = result.parent.name, f"{result.parent.name}/{result.name}"
    target = store.results_of(stage) / result.name
    write_json(result / IMPORTED, {"signer": taken.signed, "when": now()})  # whatever a bundle says of itself
    os.utime(result / RECORD)  # its files look as if they changed later than it (collect/job.py)
    with locked(store.lock(stage)):
        if not target.exists():  # else it may be the very one that was asked for here
            redo_requests.note_import(store, stage, result.name)
        new = store.publish_import(result, target)
        (taken.results if new else taken.known).append(name)
        counts = store.result(stage)
        if new and counts and redo_requests.measured(store, stage):
            store.set_mark(stage, counts / "result.json")


def _results(content: Path, kind: str) -> list[Path]:
    return [folder for stage in _below(content / kind) for folder in _below(stage)]


def _below(parent: Path) -> Iterable[Path]:
    return sorted(parent.iterdir()) if parent.is_dir() else ()
