"""The results of a plan as one file, with all that a report is made of: for a checkout on another machine."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.build.error import BuildError
from stepgrid.collect.job import quarantine
from stepgrid.language.files import InputRecord
from stepgrid.model.plan import Plan
from stepgrid.model.status import BrokenRecord
from stepgrid.store import plans
from stepgrid.store.checksums import READINGS
from stepgrid.store.paths import IMPORTED, now
from stepgrid.store.status.integrity import full_fault
from stepgrid.store.status.results import broken_text
from stepgrid.store.store import Store
from stepgrid.transfer import bundle, manifest
from stepgrid.transfer.host_privacy import Contents, without_host

KIND, FORMAT = "results", 2  # 1 had neither spec nor report
CONTENT, PLAN, BUILDS, RESULTS, ATTEMPTS = "content", "plan", "builds", "results", "attempts"
SPEC, REPORT = "spec", "report"
RECORDS = ("build.json", "catalogue.json")  # of a build; its programs stay where they are


def export(
    store: Store,
    plan: Plan,
    file: Path,
    attempts: bool = False,
    texts: Mapping[str, Path] | None = None,
    host: bool = False,
    only: Collection[str] | None = None,
) -> Mapping[str, Any]:
    """Writes it; gives the manifest. Retracted results go along, with why.

    `texts`: what the plan was compiled from. They and the report, where there is one, are for people. `host`: the names
    of hosts and their users' folders go along, too. `only`: some of the results, as stage/time, and no report.
    """
    bundle.check_name(file)
    plans.publish(store, plan)
    _move_damaged(store, plan, only)
    folders = dict(_folders(store, plan, attempts, only))
    if not has_results(store, plan):
        raise BuildError(f"{plan.spec} has no result yet: there is nothing to export")
    skipped = list[str]()
    contents = dict(_plan(store, plan)) | dict(_contents(folders, skipped)) | dict(_records(store, plan))
    contents |= dict(_report(store, plan)) if only is None else {}
    contents |= {f"{SPEC}/{name}": (path.parent, path) for name, path in (texts or {}).items()}
    with tempfile.TemporaryDirectory(prefix="stepgrid-export-") as folder:
        copies = contents if host else without_host(contents, Path(folder))
        return _written(plan, file, {"results": _listed(store, plan, only), "skipped": skipped}, copies)


def _written(plan: Plan, file: Path, lists: Mapping[str, Any], contents: Contents) -> Mapping[str, Any]:
    said = {
        "kind": KIND,
        "format": FORMAT,
        "made": now(),
        "plan": plan.digest,
        "spec": plan.spec,
        "title": plan.title,
        **lists,
        "files": {name: manifest.entry(folder, path) for name, (folder, path) in contents.items()},
    }
    bundle.write(file, said, {f"{CONTENT}/{name}": path for name, (_, path) in contents.items()})
    return said


def _listed(store: Store, plan: Plan, only: Collection[str] | None) -> Mapping[str, Sequence[str]]:
    found = {stage.id: [result.name for result in _chosen(store, stage.id, only)] for stage in plan.stages}
    return found if only is None else {stage: times for stage, times in found.items() if times}


def _chosen(store: Store, stage: str, only: Collection[str] | None) -> list[Path]:
    return [result for result in store.all_results(stage) if only is None or f"{stage}/{result.name}" in only]


def _move_damaged(store: Store, plan: Plan, only: Collection[str] | None) -> None:
    """Nobody could import them; here the next run measures them again."""
    for stage in plan.stages:
        for result in _chosen(store, stage.id, only):
            broken = BrokenRecord(stage.id, result, full_fault(result, stage) or "")
            if broken.why and not quarantine(store, broken):
                raise BuildError(broken_text(result, broken.why))


def has_results(store: Store, plan: Plan) -> bool:
    return any(store.all_results(stage.id) for stage in plan.stages)


def _folders(store: Store, plan: Plan, attempts: bool, only: Collection[str] | None) -> Iterator[tuple[str, Path]]:
    for stage in plan.stages:
        for result in _chosen(store, stage.id, only):
            yield f"{RESULTS}/{stage.id}/{result.name}", result
        for attempt in store.attempts(stage.id) if attempts else ():
            if (attempt / "failure.json").is_file():  # else it is running
                yield f"{ATTEMPTS}/{stage.id}/{attempt.name}", attempt


def _plan(store: Store, plan: Plan) -> Iterator[tuple[str, tuple[Path, Path]]]:
    folder = store.plan(plan.digest)
    return ((f"{PLAN}/{path.name}", (folder, path)) for path in sorted(folder.iterdir()) if path.is_file())


def _contents(folders: Mapping[str, Path], skipped: list[str]) -> Iterator[tuple[str, tuple[Path, Path]]]:
    """Figures are parsed again where they come to; who signed the import is noted there.

    `skipped` gets what a program left there that is no file: links out of the folder, sockets, pipes.
    """
    for name, folder in folders.items():
        for path in manifest.paths(folder):
            if not manifest.is_movable(folder, path):
                skipped.append(f"{name}/{path.relative_to(folder)}")
            elif path.parent != folder or not (READINGS.fullmatch(path.name) or path.name == IMPORTED):
                yield f"{name}/{path.relative_to(folder)}", (folder, path)


def _report(store: Store, plan: Plan) -> Iterator[tuple[str, tuple[Path, Path]]]:
    """Tables and pages, to be read without anything else; where they come to they are made again."""
    folder = store.summary(plan.digest)
    for path in sorted((*folder.glob("tables/*.parquet"), *folder.glob("summary.txt"), *folder.glob("index.html"))):
        yield f"{REPORT}/{path.relative_to(folder)}", (folder, path)


def _records(store: Store, plan: Plan) -> Iterator[tuple[str, tuple[Path, Path]]]:
    for build in plan.builds:
        folder = store.build_record(build.id)
        for name in RECORDS:
            if (folder / name).is_file():
                yield f"{BUILDS}/{build.id}/{name}", (folder, folder / name)


# The texts that a plan was compiled from, for those who have the plan and not the checkout.


def of(seen: InputRecord, site: str | None) -> dict[str, Path]:
    """Spec, includes, lock file, patches: by their paths below the folder that holds them all. Not the site file."""
    paths = {Path(os.path.abspath(path)) for path, digest in seen.files.items() if digest is not None}  # noqa: PTH100 - a link keeps its name
    return _named(paths - {Path(os.path.abspath(site))} if site else paths)  # noqa: PTH100 - likewise


def kept(folder: Path) -> dict[str, Path]:
    """Those that came with results of another checkout."""
    return {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}


def _named(paths: Iterable[Path]) -> dict[str, Path]:
    found = sorted(paths)
    if not found:
        return {}
    root = os.path.commonpath([path.parent for path in found])
    return {str(path.relative_to(root)): path.resolve() for path in found}
