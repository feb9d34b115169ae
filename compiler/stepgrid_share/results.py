"""Results as bundles: export with everything that a report is made of, with or without what names the host, and import.

A bundle of results holds the plan, records of builds without their programs, results and, for people, the spec and the
report. Results are immutable: an import adds those that are missing, and nothing merges."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from stepgrid.build.error import BuildError
from stepgrid.collect import parquet
from stepgrid.collect.job import quarantine
from stepgrid.host import cluster_job
from stepgrid.host.facts import ADDRESSES, CLIENT_ALIAS, is_pseudonym, pseudonym
from stepgrid.host.files import read_json, read_record, write_json
from stepgrid.host.locks import locked
from stepgrid.host.noise import unnamed_record
from stepgrid.host.processes.signals import MARK
from stepgrid.language.files import InputRecord
from stepgrid.model import result_schema
from stepgrid.model.plan import Plan, PlannedStage, is_imported
from stepgrid.model.records import CommandRecord, Json, NoiseRecord, convert_record, replace
from stepgrid.model.secret_variables import mask, mask_yaml
from stepgrid.model.status import BrokenRecord
from stepgrid.model.units import size
from stepgrid.plan import plan_file, stage_tree
from stepgrid.plan.plan_file import DAMAGED, PLAN_FILE, is_intact
from stepgrid.plugins.registry import PluginError
from stepgrid.store import plans, stage_requests
from stepgrid.store.attempts import attempt_record
from stepgrid.store.paths import (
    ATTEMPT_FILE,
    BUILD_FILE,
    CATALOGUE_FILE,
    FAILURE_FILE,
    IMPORTED,
    RESULT_FILE,
    SUMMARY_PAGE,
    SUMMARY_TEXT,
    TIME_PATTERN,
    future_fault,
    now,
)
from stepgrid.store.plans import outdate_summaries
from stepgrid.store.results import READINGS, broken_sentence, build_fault, full_fault
from stepgrid.store.store import Store
from stepgrid_share import bundle
from stepgrid_share.bundle import Contents, Manifest

KIND, FORMAT = "results", 3
CONTENT, PLAN, BUILDS, RESULTS, ATTEMPTS = "content", "plan", "builds", "results", "attempts"
SPEC, REPORT = "spec", "report"
BUILD_RECORDS = (BUILD_FILE, CATALOGUE_FILE)

_RESULT = re.compile(rf"s-[0-9a-f]+/(?P<time>{TIME_PATTERN})", re.ASCII)
_PATH = re.compile(
    rf"{PLAN}/{re.escape(PLAN_FILE)}|{BUILDS}/b-[0-9a-f]+/({'|'.join(map(re.escape, BUILD_RECORDS))})"
    rf"|({RESULTS}|{ATTEMPTS})/s-[0-9a-f]+/{TIME_PATTERN}/.+"
    rf"|{SPEC}/.+|{REPORT}/(summary\.txt|index\.html|tables/[a-z0-9_.]+\.parquet)"
)


class ExportOptions(Struct, frozen=True):
    attempts: bool = False  # failed and interrupted attempts, too
    host: bool = False  # the names of hosts and their users' folders, too
    texts: Mapping[str, Path] = {}  # what the plan was compiled from, for people
    only: Collection[str] | None = None  # some of the results, as stage/time, and no report


def export_results(store: Store, plan: Plan, file: Path, options: ExportOptions) -> Manifest:
    """Write the results of a plan to a file, retracted ones with the reason, and return the manifest."""
    bundle.check_name(file)
    plans.publish(store, plan)
    for stage, result in _selected_results(store, plan, options):  # damaged ones: nobody could import them
        broken = BrokenRecord(stage.id, result, full_fault(result, stage) or "")
        if broken.why and not quarantine(store, broken):
            raise BuildError(broken_sentence(result, broken.why))
    if not has_results(store, plan):
        raise BuildError(f"{plan.spec} has no result yet: there is nothing to export")
    times_by_stage = defaultdict[str, list[str]](list)
    for stage, result in _selected_results(store, plan, options):
        times_by_stage[stage.id].append(result.name)
    skipped = list[str]()
    contents = dict(_list_contents(store, plan, options, skipped))
    manifest = Manifest(
        FORMAT, created=now(), kind=KIND, plan=plan.digest, spec=plan.spec, title=plan.title, results=times_by_stage,
        skipped=skipped,
    )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="stepgrid-export-") as folder:
        if not options.host:
            contents = {**contents, **hide_host(contents, Path(folder))}
        contents = {**contents, **hide_secrets(contents, Path(folder), plans.stored_secrets(store, plan))}
        return bundle.write_bundle(file, manifest, CONTENT, contents)


def has_results(store: Store, plan: Plan) -> bool:
    return any(store.all_results(stage.id) for stage in plan.stages)


def _selected_results(store: Store, plan: Plan, options: ExportOptions) -> list[tuple[PlannedStage, Path]]:
    results = [(stage, result) for stage in plan.stages for result in store.all_results(stage.id)]
    return [
        (stage, result)
        for stage, result in results
        if options.only is None or f"{stage.id}/{result.name}" in options.only
    ]


def _list_contents(
    store: Store, plan: Plan, options: ExportOptions, skipped: list[str]
) -> Iterator[tuple[str, tuple[Path, Path]]]:
    """List the files by their names in the bundle.

    `skipped` gets what programs left that is no file: links out of the folder, sockets, pipes. Figures are parsed again
    where they come to; who signed the import is noted there.
    """
    yield f"{PLAN}/{PLAN_FILE}", (store.plan(plan.digest), store.plan(plan.digest) / PLAN_FILE)
    for name, folder in _attempt_folders(store, plan, options):
        for path in bundle.list_files(folder):
            relative = path.relative_to(folder)
            if not bundle.is_movable(folder, path):
                skipped.append(f"{name}/{relative}")
            elif path.parent != folder or not (READINGS.fullmatch(path.name) or path.name == IMPORTED):
                yield f"{name}/{relative}", (folder, path)
    for build in plan.builds:
        folder = store.build_record(build.id)
        names = (name for name in BUILD_RECORDS if (folder / name).is_file())
        yield from ((f"{BUILDS}/{build.id}/{name}", (folder, folder / name)) for name in names)
    if options.only is None:
        folder = store.summary(plan.digest)
        pages = (*folder.glob("tables/*.parquet"), *folder.glob(SUMMARY_TEXT), *folder.glob(SUMMARY_PAGE))
        yield from ((f"{REPORT}/{path.relative_to(folder)}", (folder, path)) for path in sorted(pages))
    yield from ((f"{SPEC}/{name}", (path.parent, path)) for name, path in options.texts.items())


def _attempt_folders(store: Store, plan: Plan, options: ExportOptions) -> Iterator[tuple[str, Path]]:
    for stage, result in _selected_results(store, plan, options):
        yield f"{RESULTS}/{stage.id}/{result.name}", result
    for stage in plan.stages if options.attempts else ():
        for attempt in store.attempts(stage.id):
            if (attempt / FAILURE_FILE).is_file():  # else it is running
                yield f"{ATTEMPTS}/{stage.id}/{attempt.name}", attempt


def spec_texts(inputs: InputRecord, site: str | None) -> dict[str, Path]:
    """List spec, includes, lock file and patches by their paths below the folder that holds them all; no site file."""
    paths = {os.path.abspath(path) for path, digest in inputs.files.items() if digest is not None}  # noqa: PTH100 - a link keeps its name
    paths -= {os.path.abspath(site)} if site else set()  # noqa: PTH100 - likewise
    root = os.path.commonpath([os.path.dirname(path) for path in paths]) if paths else ""  # noqa: PTH120 - likewise
    return {os.path.relpath(path, root): Path(path).resolve() for path in sorted(paths)}


def imported_texts(store: Store, plan: str) -> dict[str, Path]:
    """List the texts that came with results of another checkout."""
    folder = store.texts(plan)
    return {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}


# Host privacy: copies of the records that name the host, without its name.

PRIVATE = frozenset({"HOME", "LOGNAME", "PATH", "SHELL", "TMPDIR", "USER", MARK})
NOISE = "noise"  # of attempt.json: processes of other people among it
VARIABLES = "environment"  # of command.json
HOSTNAME, CLIENT_HOSTNAME = "hostname", "client_hostname"
_NAMES = (HOSTNAME, CLIENT_HOSTNAME, *ADDRESSES, CLIENT_ALIAS)
_PUBLIC = frozenset({"LC_ALL"})  # set by stepgrid for every command
_HOST_RECORD = re.compile(r"attempt\.json|.*command\.json|server/effective\.json")
_PARTS = re.compile(rf"(?P<folder>{REPORT}|(?:{RESULTS}|{ATTEMPTS})/[^/]+/[^/]+)/(?P<file>.+)")


class HostFacts(NamedTuple):
    """Names of the hosts that results were measured on, and of variables in the environment of their commands."""

    names: Sequence[str]
    variables: Sequence[str]


def host_facts(store: Store, plan: Plan) -> HostFacts:
    folders = [result for stage in plan.stages for result in store.all_results(stage.id)]
    hosts = (attempt_record(folder).host for folder in folders)
    names = {str(host[name]) for host in hosts for name in _NAMES if name in host}
    variables = set[str]()
    for path in (path for folder in folders for path in folder.glob("**/command.json")):
        command = read_record(path, CommandRecord)
        variables |= {*command.environment, *command.env}
    return HostFacts(sorted(names), sorted(variables - _PUBLIC))


def hide_host(contents: Contents, folder: Path) -> Contents:
    """Copy the files that name the host into a folder, without its name; checksums are those of the copies."""
    copies = dict[str, bytes]()
    checksums = defaultdict[str, dict[str, Mapping[str, int | str]]](dict)  # by result
    records = {name.removesuffix(f"/{ATTEMPT_FILE}"): path for name, (_, path) in contents.items()}
    addresses = {name: _addresses(path, ADDRESSES) for name, path in records.items()}
    addresses[REPORT] = sorted({*chain.from_iterable(addresses.values())})
    for name in (
        name for name in records if name.startswith(f"{ATTEMPTS}/")
    ):  # an alias may be any word: in messages alone
        aliases = _addresses(records[name], [CLIENT_ALIAS])
        addresses[name] += [*aliases, *(alias.rpartition("@")[2] for alias in aliases)]  # ssh names the host alone
    for name, (_, path) in contents.items():
        if (match := _PARTS.fullmatch(name)) and not path.is_symlink() and path.suffix != ".parquet":
            text = original = path.read_bytes() if (names := addresses.get(match["folder"])) else b""
            if _HOST_RECORD.fullmatch(match["file"]) and (anonymous := _hide_host(record := read_json(path))) != record:
                text = _json_text(anonymous)
            if names and b"\0" not in text:
                text = _hide_addresses(text.decode(errors="surrogateescape"), names).encode(errors="surrogateescape")
            if text != original:
                copies[name] = text
                sums = checksums[match["folder"]]
                sums[match["file"]] = {"bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}
    for result, changed in checksums.items():
        if (name := f"{result}/{RESULT_FILE}") in contents:
            record = read_json(contents[name][1])
            if isinstance(files := record.get("files"), dict):
                record["files"] = {**files, **{name: entry for name, entry in changed.items() if name in files}}
            copies[name] = _json_text(record)
    for name, text in copies.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text)
    tables = [table for table in _HOST_TABLES if table in contents]
    for table in tables:
        _hide_host_of_table(contents[table][1], folder / table, _HOST_TABLES[table], addresses[REPORT])
    return {name: (folder, folder / name) for name in (*copies, *tables)}


def hide_secrets(contents: Contents, folder: Path, secrets: Sequence[tuple[str, str, str]]) -> Contents:
    """Copy the texts that a plan was compiled from into a folder, with digests in place of values of secrets."""
    copies = []
    for name, (_, path) in contents.items():
        if name.startswith(f"{SPEC}/"):
            text = path.read_bytes().decode(errors="surrogateescape")
            masked = mask(text, secrets)
            if (masked := mask_yaml(masked) if path.suffix in (".yaml", ".yml") else masked) != text:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(masked.encode(errors="surrogateescape"))
                copies.append(name)
    return {name: (folder, folder / name) for name in copies}


def _addresses(path: Path, names: Sequence[str]) -> list[str]:
    host = attempt_record(path.parent).host if path.name == ATTEMPT_FILE else {}
    return [str(host[name]) for name in names if name in host]


def _hide_addresses(text: str, addresses: Sequence[str]) -> str:
    """Replace addresses by pseudonyms; not longer ones that hold them."""
    for address in addresses:
        text = re.sub(rf"(?<![\w.]){re.escape(address)}(?!\.?\w)", pseudonym(address), text)
    return text


def _json_text(value: Any) -> bytes:
    return (json.dumps(value, indent=1) + "\n").encode()


def _hide_host(value: Any, name: str = "") -> Any:
    """Return a value of a record without the host's name; `name`: of its field."""
    if name in (HOSTNAME, CLIENT_HOSTNAME, CLIENT_ALIAS, cluster_job.NODE) and isinstance(value, str):
        return pseudonym(value)
    if name == NOISE and isinstance(value, dict):
        return unnamed_record(convert_record(value, NoiseRecord)).to_json()
    if name == VARIABLES and isinstance(value, dict):
        return {variable: text for variable, text in value.items() if variable not in PRIVATE}
    if isinstance(value, dict):
        return {key: _hide_host(item, key) for key, item in value.items()}
    return [_hide_host(item) for item in value] if isinstance(value, list) else value


_HOST_TABLES = {
    f"{REPORT}/tables/environment.parquet": result_schema.ENVIRONMENT,
    f"{REPORT}/tables/history.parquet": result_schema.HISTORY,
}


def _hide_host_of_table(source: Path, target: Path, columns: Mapping[str, str], addresses: Sequence[str]) -> None:
    """Copy a table of the report, which is made of the records."""
    import duckdb

    target.parent.mkdir(parents=True, exist_ok=True)
    names = ", ".join(map(parquet.named, columns))
    with parquet.connect() as connection:
        try:
            values = connection.execute(f"SELECT {names} FROM {parquet.source(source)}").fetchall()
        except duckdb.Error:
            raise BuildError(f"{source} is damaged; remove it, and `stepgrid report` makes it again") from None
        rows = [dict(zip(columns, row, strict=True)) for row in values]
        named = ({name: _hide(value, addresses) for name, value in row.items()} for row in rows)
        parquet.write_rows(connection, target, columns, map(_hide_host_of_row, named))


def _hide(value: Any, addresses: Sequence[str]) -> Any:
    return _hide_addresses(value, addresses) if isinstance(value, str) else value


def _hide_host_of_row(row: dict[str, Json]) -> parquet.Row:
    if row.get("host"):
        return {**row, "host": pseudonym(str(row["host"]))}
    fact = (row.get("scope"), row.get("name"))
    if fact in (("host", HOSTNAME), ("host", CLIENT_HOSTNAME), ("host", CLIENT_ALIAS)):
        return {**row, "value": pseudonym(str(row["value"]))}
    if fact == ("command", VARIABLES):
        environment = _hide_host(json.loads(str(row["value"])), VARIABLES)
        return {**row, "value": json.dumps(environment, ensure_ascii=False, sort_keys=True)}
    return row


# Import: everything is verified before anything is published.


class ImportedResults(Struct):
    plan: Plan
    signer: str | None  # where the site file says whose are taken
    results: list[str] = []  # stage/time
    present: list[str] = []  # results that were here already, and stay as they are
    attempts: int = 0
    builds: int = 0  # records of builds that are not here
    previous: dict[str, Path | None] = {}  # stage -> what counted here before
    loads: set[tuple[str, int]] = set()  # further ones: host, its number there
    retracted: list[str] = []  # that counted instead of those of this checkout
    incomplete: int = 0  # results of loads that are not whole, or not of one host

    def outdate_summaries(self, store: Store) -> None:
        outdate_summaries(store, {name.partition("/")[0] for name in self.results})


def import_results(store: Store, file: Path, as_loads: bool = False) -> ImportedResults:
    """Add the results of a bundle to those that are here; a BuildError says why nothing was published.

    `as_loads`: they count beside those of the same stages that are here, not instead of them."""
    signer = bundle.check_signature(file)
    manifest = bundle.read_manifest(file, "result")
    limit = _check_manifest(store, file, manifest)
    with bundle.unpacked(store, file, manifest, CONTENT, limit) as content:
        if path := next((name for name in manifest.files if not _PATH.fullmatch(name)), None):
            raise BuildError(f"{file} is not imported: results have no file {path}")
        imports = ImportedResults(_read_plan(file, content / PLAN, manifest.plan), signer)
        for fault in (*_id_faults(imports.plan), *_content_faults(content, imports.plan)):
            raise BuildError(f"{file} is not imported: {fault}")
        if as_loads:
            _publish_loads(store, imports, content, file)
        else:
            _publish(store, imports, content)
        return imports


def read_export(store: Store, file: Path) -> Plan:
    """Import a bundle into a store of its own, for a comparison."""
    if not holds_results(bundle.read_manifest(file, "result")):
        raise BuildError(f"{file} holds a build, not results")
    return import_results(store, file).plan


def holds_results(manifest: Manifest) -> bool:
    return manifest.kind == KIND


def result_fault(name: str) -> str | None:
    """Describe why no result of another checkout can have this name, stage/time."""
    if not (match := _RESULT.fullmatch(name)):
        return f"{name[:80]!r} is no name of a result"
    return f"the result {name} {fault}" if (fault := future_fault(match["time"])) else None


def bundle_results(file: Path) -> set[str]:
    """List the results in a bundle, by its manifest."""
    names = bundle.read_manifest(file, "result").files
    return {match[1] for name in names if (match := re.fullmatch(rf"{RESULTS}/([^/]+/[^/]+)/{RESULT_FILE}", name))}


def _check_manifest(store: Store, file: Path, manifest: Manifest) -> int:
    """Check what the manifest says, before anything is unpacked; return the bytes that it may come to."""
    if holds_results(manifest) and manifest.format > FORMAT:
        raise BuildError(f"{file} is of a newer stepgrid: its format is {manifest.format}, this one reads {FORMAT}")
    if not holds_results(manifest) or manifest.format != FORMAT:
        raise BuildError(f"{file} holds no results that this version can import: its manifest says something else")
    needed = sum(entry.bytes or 0 for entry in manifest.files.values())
    folder = next(path for path in (store.root, *store.root.absolute().parents) if path.exists())
    if needed > (free := shutil.disk_usage(folder).free):
        raise BuildError(f"{file} is not imported: it takes {size(needed)}, and {size(free)} are free at {store.root}")
    return needed + bundle.LARGEST_MANIFEST


def _read_plan(file: Path, folder: Path, digest: str) -> Plan:
    try:
        if is_intact(folder, digest):
            return replace(plan_file.read(folder), digest=digest)
    except DAMAGED:
        pass
    raise BuildError(f"{file} is not imported: its plan cannot be read, or is not the one that it names")


def _id_faults(plan: Plan) -> Iterator[str]:
    if is_imported(plan.spec):  # ids of published results are made of the results themselves
        builds = [build for build in plan.builds if [*build.source] != ["published"]]
        yield from (f"the build {build.id} was not published" for build in builds)
        return
    origins = {stage.origin for stage in plan.stages if stage.origin}
    forged = [origin for origin in sorted(origins) if not is_pseudonym(origin)]
    yield from (f"it has a host {origin!r:.80}, and an export gives hosts other names" for origin in forged)
    try:
        yield from stage_tree.id_faults(plan)
    except (PluginError, *DAMAGED) as error:
        yield f"the ids of its stages cannot be verified here: {error}"


def _content_faults(content: Path, plan: Plan) -> Iterator[str]:
    stages = {stage.id: stage for stage in plan.stages}
    builds = {build.id for build in plan.builds}
    for folder in (*sorted(content.glob(f"{RESULTS}/*/*")), *sorted(content.glob(f"{ATTEMPTS}/*/*"))):
        stage, name = folder.parent.name, f"{folder.parent.name}/{folder.name}"
        if fault := result_fault(name):
            yield fault
        elif stage not in stages:
            yield f"its plan has no stage {stage}"
        elif folder.is_relative_to(content / RESULTS) and (fault := full_fault(folder, stages[stage])):
            yield f"its result {name} is broken: {fault}"
    for folder in sorted(content.glob(f"{BUILDS}/*")):
        if folder.name not in builds:
            yield f"its plan has no build {folder.name}"
        elif fault := build_fault(folder / BUILD_FILE):
            yield f"{folder.name}: {fault}"


def _publish(store: Store, imports: ImportedResults, content: Path) -> None:
    plan = imports.plan
    store.publish_plan(plan.digest, lambda folder: shutil.copytree(content / PLAN, folder), is_intact)
    _publish_builds(store, imports, content)
    for result in sorted(content.glob(f"{RESULTS}/*/*")):
        _publish_result(store, imports, result)
    for attempt in sorted(content.glob(f"{ATTEMPTS}/*/*")):
        folder = store.attempts_of(attempt.parent.name) / attempt.name
        imports.attempts += store.publish_import(attempt, folder)
    if (content / SPEC).is_dir():
        store.publish_import(content / SPEC, store.texts(plan.digest))
    imports.outdate_summaries(store)


def _publish_builds(store: Store, imports: ImportedResults, content: Path) -> None:
    for record in sorted(content.glob(f"{BUILDS}/*")):
        folder = store.build_record(record.name)
        imports.builds += not store.has_build(record.name) and store.publish_import(record, folder)


def _publish_result(store: Store, imports: ImportedResults, result: Path, further_stage: str = "") -> None:
    stage = further_stage or result.parent.name
    target = store.results_of(stage) / result.name
    note = {"signer": imports.signer, "when": now()}
    if stage != result.parent.name:
        note["stage"] = result.parent.name
        write_json(result / RESULT_FILE, {**read_json(result / RESULT_FILE), "stage": stage})
    write_json(result / IMPORTED, note)  # whatever a bundle says of itself
    os.utime(result / RESULT_FILE)  # its files look as if they changed later than it (collect/job.py)
    with locked(store.lock(stage)):
        if not target.exists():  # else it may be the very one that was asked for here
            stage_requests.note_import(store, stage, result.name)
        previous = store.result(stage)
        is_new = store.publish_import(result, target)
        (imports.results if is_new else imports.present).append(f"{stage}/{result.name}")
        counting = store.result(stage)
        if is_new:
            imports.previous.setdefault(stage, previous)
        if is_new and counting and stage_requests.is_measured(store, stage):
            store.set_mark(stage, counting / RESULT_FILE)


# Further loads: what a host measured of the stages that are here counts as loads beside those of this checkout. Its
# stages have ids with the host, so that neither result stands for the other.


class _FurtherLoad(NamedTuple):
    cell: str  # the last stage of its first load
    origin: str  # the host
    load: int  # its number there
    stages: Mapping[Path, str]  # result -> the stage for which it counts beside those of others
    earlier: Sequence[Path]  # the same results where they count instead of others
    is_own: bool  # it was measured here, or there is nothing beside which it would count


def _publish_loads(store: Store, imports: ImportedResults, content: Path, file: Path) -> None:
    if is_imported(imports.plan.spec) or not any(_own_results(store, stage.id) for stage in imports.plan.stages):
        why = "of its stages nothing was measured here that its loads would stand beside"
        raise BuildError(f"{file} is not imported: {why}; without `--as-loads` its results count as they are")
    own_loads, further = list[_FurtherLoad](), list[_FurtherLoad]()
    for load in _loads_by_host(store, imports.plan, content):
        (own_loads if load.is_own else further).append(load)
    stages = {result: stage for load in further for result, stage in load.stages.items()}
    present = {result for load in own_loads for result in load.stages} - stages.keys()
    imports.present += [f"{result.parent.name}/{result.name}" for result in sorted(present)]
    imports.incomplete = len({*content.glob(f"{RESULTS}/*/*")} - stages.keys() - present)
    _publish_builds(store, imports, content)
    for result, stage in sorted(stages.items()):
        _publish_result(store, imports, result, stage)
    for load in further:
        host_loads = {*stage_requests.other_loads(store, load.cell), (load.origin, load.load)}
        stage_requests.note_other_loads(store, load.cell, host_loads)
        imports.loads.add((load.origin, load.load))
    for result in sorted({result for load in further for result in load.earlier}):
        if not stage_requests.read_retraction(result):
            stage_requests.retract(store, result, "it counts as a load of its own")
            imports.retracted.append(f"{result.parent.name}/{result.name}")
    imports.outdate_summaries(store)


def _loads_by_host(store: Store, plan: Plan, content: Path) -> Iterator[_FurtherLoad]:
    """Yield the loads of each cell that one host measured as a whole."""
    stages = {stage.id: stage for stage in plan.stages}
    by_stage = {stage.id: _results_by_host(content, stage) for stage in plan.stages}
    positions = stage_tree.stage_places(plan)
    for cell in plan.cells:
        first = cell.repeats[0].stages[-1]
        for repeat in cell.repeats:
            chain = [stages[stage] for stage in repeat.stages]
            for host in sorted(set.intersection(*(set(by_stage[stage.id]) for stage in chain))):
                results = [result for stage in chain for result in by_stage[stage.id][host]]
                earlier_names = [
                    name for name, load in stage_requests.other_loads(store, first) if load == chain[0].load
                ]
                copies = dict[str, list[Path]]()
                for origin in ("", *earlier_names, host):  # a host may have come here under another name before
                    ids = _ids_by_origin(chain, positions, origin)
                    copies[origin] = [store.results_of(ids[result.parent.name]) / result.name for result in results]
                origin = next((name for name in earlier_names if any(copy.exists() for copy in copies[name])), host)
                earlier = [copy for copy in copies[""] if copy.exists()]
                replacing = [copy for copy in earlier if (copy / IMPORTED).exists()]
                is_own = len(replacing) < len(earlier) or not all(
                    _own_results(store, copy.parent.name) for copy in earlier
                )
                new_stages = {result: copy.parent.name for result, copy in zip(results, copies[origin], strict=True)}
                yield _FurtherLoad(first, origin, chain[0].load, new_stages, earlier, is_own)


def _ids_by_origin(
    chain: Sequence[PlannedStage], positions: Mapping[str, tuple[int, str]], origin: str
) -> Mapping[str, str]:
    ids: dict[str, str] = {}
    for stage in chain:
        parent = None if stage.parent is None else ids[stage.parent]
        ids[stage.id] = stage_tree.id_by_origin(stage, positions[stage.id], origin, parent)
    return ids


def _results_by_host(content: Path, stage: PlannedStage) -> Mapping[str, Sequence[Path]]:
    """Group the results of a stage by the pseudonym of the host that measured them."""
    results = defaultdict[str, list[Path]](list)
    for result in sorted(content.glob(f"{RESULTS}/{stage.id}/*")):
        name = attempt_record(result).host.get(HOSTNAME)
        if stage.origin or name:
            results[stage.origin or pseudonym(str(name))].append(result)
    return results


def _own_results(store: Store, stage: str) -> Sequence[Path]:
    return [result for result in store.results(stage) if not (result / IMPORTED).exists()]
