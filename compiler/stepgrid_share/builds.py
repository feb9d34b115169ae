"""stepgrid builds: list builds, make them, compare the options of two, copy one to another machine."""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct, field

from stepgrid.cli.failures import CommandError
from stepgrid.cli.output import WIDTH
from stepgrid.cli.spec_arguments import add_narrowing, quiet_plan, use_site
from stepgrid.errors import FAILED, FINE, PROBLEMS
from stepgrid.host.processes import signals
from stepgrid.host.terminal_output import text_width, wrap
from stepgrid.language.problems import nearest
from stepgrid.language.sources import source_kind
from stepgrid.model.plan import Json, Plan, PlannedBuild
from stepgrid.model.records import BuildRecord, recipe_patches
from stepgrid.model.status import Status
from stepgrid.model.units import counted, duration, size
from stepgrid.model.units import seconds as seconds_text
from stepgrid.package import INTERPRETER, PACKAGE
from stepgrid.plugins.engine import release_numbers
from stepgrid.store import builds, plans
from stepgrid.store.paths import BUILD_LOG, folder_bytes
from stepgrid.store.plans import stored_plans
from stepgrid.store.status import build_status
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan

USAGES = """\
usage: stepgrid builds [SPEC]                   those of a spec, or all that were made here
       stepgrid builds SPEC [NAME ...] --yes    makes those that are not there
       stepgrid builds diff A B [SPEC]          options that differ, with their defaults
       stepgrid builds export NAME FILE [SPEC]  a finished build as one file, .tar.gz or .tar.zst
       stepgrid builds import FILE [SPEC]       publishes it in this checkout, once all of it is verified; it asks
                                                before it runs a program of the file, which --run allows"""
LIST_FORMATS, DIFF_FORMATS = ("text", "json"), ("text", "json", "csv", "markdown")
INDENT = 13
JOB_PAUSE = 0.05  # seconds between two looks at the jobs
RECORDED = ("route", "recipe", "artifacts", "facts", "quality", "warnings", "assertions", "seconds", "made")
Names = Mapping[str, Collection[str]]  # id of a build -> its names, the main one first
_ID = re.compile(r"b-[0-9a-f]*$")


def add_builds_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.usage = USAGES.removeprefix("usage: ")
    parser.add_argument(
        "words", nargs="*", metavar="SPEC", help="a spec file and names of its builds, or diff, export or import"
    )
    add_narrowing(parser)
    parser.add_argument("--yes", action="store_true", help="make the builds that are named (all of the spec)")
    parser.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="number of builds made in parallel (1)")
    parser.add_argument(
        "--run", dest="may_run", action="store_true", help="with import: let the programs of the file run here"
    )
    parser.add_argument(
        "--format",
        choices=DIFF_FORMATS,
        default="text",
        help="for people, as JSON; of diff also as CSV or a Markdown table",
    )


def run_builds(args: argparse.Namespace) -> int:
    words: list[str] = args.words
    if words and words[0] in _VERBS:
        verb, count = _VERBS[words[0]]
        if not 0 <= len(words) - count - 1 <= 1 or args.yes or (args.may_run and words[0] != "import"):
            raise CommandError(USAGES)
        args.spec = next(iter(words[count + 1 :]), None)
        verb(args, *words[1 : count + 1])
        return FINE
    if args.may_run or args.format not in LIST_FORMATS or (len(words) > 1 and not args.yes):
        raise CommandError(USAGES)
    if not args.yes:
        _list_builds(args, words[0] if words else None)
        return FINE
    if not words:
        raise CommandError(f"--yes needs a spec before it\n{USAGES}")
    return _make_builds(args, words[0], words[1:])


# Builds as a person names them: as their spec does, by engine and version, or by id.


def _builds_in_scope(args: argparse.Namespace, store: Store) -> Names:
    """Return the builds of the spec that is named, else those of the store."""
    if args.spec:
        return _names_in_plan(quiet_plan(args))
    names = {}
    for build in builds.build_ids(store):
        if record := builds.build_record(store, build):
            names[build] = list(dict.fromkeys((record.name or build, f"{record.engine}-{record.version}")))
    return names


def _names_in_plan(plan: Plan) -> dict[str, list[str]]:
    """Return all names that cells have for each build."""
    names: dict[str, dict[str, None]] = {build.id: {build.name: None} for build in plan.builds}
    for cell in plan.cells:
        names[cell.build][cell.labels["build"]] = None
    return {build: list(labels) for build, labels in names.items()}


def find_build(name: str, names: Names, store: Store) -> str:
    """Return the id of the build of this name; a main name goes before other names, these before the start of an id."""
    by_main_name = [build for build, labels in names.items() if next(iter(labels)) == name]
    by_name = [build for build, labels in names.items() if name in labels]
    by_prefix = [build for build in names if build.startswith(name)]
    matches = [name] if name in names else by_main_name or by_name or by_prefix
    if len(matches) == 1:
        return matches[0]
    if not matches:
        choices = list(names if _ID.match(name) else dict.fromkeys(chain(*names.values())))
        hint = nearest(name, choices) if choices else "none was made here"
        raise CommandError(f"there is no build `{name}`: {hint}")
    lines = [f"{len(matches)} builds are called {name}; give an id:"]
    for build in matches:
        record = builds.build_record(store, build)
        origin = f"{record.name} {record.version} ({source_text(record.source)})" if record else "not built"
        lines.append(f"  {build}  {origin}")
    raise CommandError("\n".join(lines))


def source_text(source: Mapping[str, Json]) -> str:
    """git: https://…, ref: v9.9.3"""
    kind = source_kind(source)
    return ", ".join(f"{name}: {_value_text(source[name])}" for name in sorted(source, key=lambda name: name != kind))


def _value_text(value: Json) -> str:
    if isinstance(value, Mapping):
        return f"({source_text(value)})"
    return " ".join(map(_value_text, value)) if isinstance(value, list | tuple) else str(value)


# stepgrid builds [SPEC]


class StoredBuild(Struct, frozen=True):
    id: str
    status: Status
    record: BuildRecord = field(default_factory=BuildRecord)
    bytes: int | None = None
    why: str = ""  # there is none
    log: Path | None = None


class _Entry(Struct, frozen=True):
    names: Sequence[str]
    engine: str
    version: str  # as the binary says, else as the spec does
    source: Mapping[str, Json]
    recipe: Mapping[str, Json]  # flags, patches, extensions
    build: StoredBuild
    specs: Sequence[str]


def _list_builds(args: argparse.Namespace, spec: str | None) -> None:
    store = host_plan.store()
    if spec is None:
        use_site(args)
        entries, title = _entries_of_store(store), str(store.build("_").parent)
    else:
        plan = quiet_plan(args, spec)
        entries, title = _entries_of_plan(store, plan), plan.spec
    entries.sort(key=lambda entry: (entry.engine, release_numbers(entry.version), entry.names[0], entry.build.id))
    if args.format == "json":
        from stepgrid.summarize import formats

        print(formats.json_text([_entry_json(entry) for entry in entries]))
    else:
        print("\n".join(_list_lines(entries, title)))


def _entries_of_plan(store: Store, plan: Plan) -> list[_Entry]:
    names, planned = _names_in_plan(plan), planned_uses(store)
    entries = []
    for build in plan.builds:
        stored = read_build(store, build.id)
        version = stored.record.version or build.version
        specs = sorted(planned.get(build.id, PlannedUse()).specs - {plan.spec})
        entries.append(_Entry(names[build.id], build.engine, version, build.source, build.recipe, stored, specs))
    return entries


def _entries_of_store(store: Store) -> list[_Entry]:
    planned, entries = planned_uses(store), []
    for build in builds.build_ids(store):
        stored, use = read_build(store, build), planned.get(build, PlannedUse())
        record, specs = stored.record, sorted(use.specs)
        planned_build = use.build or PlannedBuild(build, "", "", "", {})
        recipe = (record.declared.recipe if record.declared else {}) or planned_build.recipe
        names = [record.name or planned_build.name or build]
        engine, version = record.engine or planned_build.engine, record.version or planned_build.version
        entries.append(_Entry(names, engine, version, record.source or planned_build.source, recipe, stored, specs))
    return entries


def _entry_json(entry: _Entry) -> dict[str, Json]:
    build = entry.build
    recorded = build.record.to_json() if build.status is Status.DONE else {}
    return {
        "id": build.id,
        "names": list(entry.names),
        "state": build.status,
        "engine": entry.engine,
        "version": entry.version,
        "source": dict(entry.source),
        "declared": dict(entry.recipe),
        "bytes": build.bytes,
        **{name: recorded.get(name) for name in RECORDED},
        "why": build.why or None,
        "log": None if build.log is None else str(build.log),
        "specs": list(entry.specs),
    }


def _list_lines(entries: Sequence[_Entry], title: str) -> Iterator[str]:
    counts = Counter(entry.build.status for entry in entries)
    statuses = ", ".join(f"{counts[status]:,} {status}" for status in Status if counts[status])
    space = sum(entry.build.bytes or 0 for entry in entries)
    disk = f"; {size(space)}" if space else ""
    yield f"{title}: {counted(len(entries), 'build')}{f': {statuses}' if entries else ''}{disk}"
    for entry in entries:
        yield ""
        yield from _entry_lines(entry)


def _entry_lines(entry: _Entry) -> Iterator[str]:
    from stepgrid.summarize.comparisons.builds import quality_rows, version_text

    build, record = entry.build, entry.build.record
    version = version_text(entry.version, record.route or None)
    disk = "" if build.bytes is None else size(build.bytes)
    status = ", ".join(part for part in (build.status, f"{entry.engine} {version}".strip(), disk) if part)
    width = text_width(sys.stdout, WIDTH)
    yield from wrap(status, f"{', '.join(entry.names)}: ", " " * 4, width)
    rows = {
        "id": build.id,
        "from": source_text(entry.source),
        "with": _recipe_text(entry.recipe),
        "obtained": _record_text(record) if build.status is Status.DONE else "",
        "quality": "; ".join(f"{name} {value}" for name, value in quality_rows(record.quality or {})),
        "warning": "; ".join(record.warnings),
        "why": build.why,
        "log": str(build.log) if build.log and build.status is not Status.DONE else "",
        "specs": ", ".join(entry.specs),
    }
    for name, text in rows.items():
        if text:
            yield from wrap(text, f"  {name:{INDENT - 2}}", " " * INDENT, width)


def _recipe_text(recipe: Mapping[str, Json]) -> str:
    """patches: slower.patch; flags: system: make, march: haswell"""
    patches: Json = [Path(patch.path).name for patch in recipe_patches(recipe)]
    parts: Mapping[str, Json] = {**recipe, "patches": patches}
    return "; ".join(f"{name}: {_value_text(part).strip('()')}" for name, part in parts.items() if part)


def _record_text(record: BuildRecord) -> str:
    """Say of which artifacts a build was made, how, in how many seconds and when; its own program comes first."""
    parts = [f"{first.name} {first.version}".strip() for first in record.artifacts[:1]]
    if record.commit:
        parts.append(f"commit {record.commit[:12]}")
    if len(record.artifacts) > 1:
        parts.append(counted(len(record.artifacts) - 1, "further artifact"))
    took = None if record.seconds is None else seconds_text(record.seconds)
    making = (record.recipe or record.route, took, record.made_at[:10])
    parts.append(", ".join(part for part in making if part))
    return "; ".join(part for part in parts if part)


# stepgrid builds SPEC --yes: builds without steps, by the same jobs as a run.


def _make_builds(args: argparse.Namespace, spec: str, build_names: Sequence[str]) -> int:
    from stepgrid.workflow.run_request import unsupported_recipes

    if args.jobs < 1:
        raise CommandError("-j takes the number of builds that are made at once: 1 or more")
    plan, store = quiet_plan(args, spec), host_plan.store()
    names = _names_in_plan(plan)
    chosen = {find_build(name, names, store) for name in build_names}
    selected = [build for build in plan.builds if build.id in chosen or not build_names]
    missing = [build for build in selected if not store.has_build(build.id)]
    if refusals := unsupported_recipes(missing):
        raise CommandError("\n".join(refusals), PROBLEMS)
    if missing:
        plans.publish(store, plan)
    began = time.monotonic()
    failed = _run_jobs(plan, missing, args.jobs)
    took = f" in {duration(time.monotonic() - began)}" if missing else ""
    parts = [
        f"{len(missing) - len(failed)} built{took}",
        f"{len(selected) - len(missing)} there already",
        f"{len(failed)} failed",
    ]
    suffix = f": {', '.join(failed)}" if failed else ""
    print(f"{plan.spec}: {counted(len(selected), 'build')}: {', '.join(parts)}{suffix}")
    return FAILED if failed else FINE


def _run_jobs(plan: Plan, missing: Sequence[PlannedBuild], most: int) -> list[str]:
    """Make builds, at most so many at once, and return the names of those that failed."""
    jobs: dict[str, subprocess.Popen[bytes]] = {}
    failed: list[str] = []
    signals.interrupt_on_signals()
    try:
        for number, (build, status) in enumerate(_finished_jobs(plan, missing, most, jobs), 1):
            if status:
                failed.append(build.name)
            # A job that is killed, as when memory is short, prints nothing itself.
            killed = f"failed, killed by {signal.Signals(-status).name}" if status < 0 else ""
            outcome = killed or ("failed" if status else "built")
            print(f"[{number}/{len(missing)}] {build.name}: {outcome}", flush=True)
    except signals.Interrupted as interruption:
        for job in jobs.values():  # each clears up, and keeps its work as an interrupted attempt
            job.terminate()
        for job in jobs.values():
            job.wait()
        raise CommandError(f"stopped by {interruption}; the same command goes on", FAILED) from None
    return failed


def _finished_jobs(
    plan: Plan, missing: Sequence[PlannedBuild], most: int, jobs: dict[str, subprocess.Popen[bytes]]
) -> Iterator[tuple[PlannedBuild, int]]:
    """Yield builds with their exit statuses, as they end; a failure stops no other build."""
    by_id, waiting = {build.id: build for build in missing}, list(missing)[::-1]
    while waiting or jobs:
        while waiting and len(jobs) < most:
            build = waiting.pop()
            jobs[build.id] = _start_job(plan, build)
        ended = [name for name, job in jobs.items() if job.poll() is not None]
        for name in ended:
            yield by_id[name], jobs.pop(name).returncode
        if not ended:
            time.sleep(JOB_PAUSE)


def _start_job(plan: Plan, build: PlannedBuild) -> subprocess.Popen[bytes]:
    """Start a job as Snakemake's rule does, from the package of this process, wherever that was started."""
    folders = [str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]
    path = os.pathsep.join(filter(None, folders))
    environment = {**os.environ, signals.PARENT: str(os.getpid()), "PYTHONPATH": path}
    argv = [*INTERPRETER, "stepgrid.pipeline", "build", plan.digest, build.id]
    return subprocess.Popen(argv, env=environment, process_group=0)  # Ctrl-C is for this process, which ends the jobs


# stepgrid builds diff, export and import


def _compare_builds(args: argparse.Namespace, first: str, second: str) -> None:
    from stepgrid_share.builds_diff import ComparedBuild, diff_lines

    use_site(args)
    store = host_plan.store()
    names = _builds_in_scope(args, store)
    sides = []
    for name in (first, second):
        build = find_build(name, names, store)
        record, catalogue = builds.build_record(store, build), builds.build_catalogue(store, build)
        if not record:
            raise _not_built(name, build)
        if catalogue is None:
            raise CommandError(f"{name} ({build}) has no catalogue of its options")
        sides.append(ComparedBuild(build, record, catalogue))
    print("\n".join(diff_lines(args.format, *sides)))


def _not_built(name: str, build: str) -> CommandError:
    return CommandError(f"{name} ({build}) is not built yet: `stepgrid builds SPEC --yes` makes it")


def _export_build(args: argparse.Namespace, name: str, target: str) -> None:
    from stepgrid_share.build_bundle import export_build

    file = Path(target)
    use_site(args)
    store = host_plan.store()
    build = find_build(name, _builds_in_scope(args, store), store)
    if not store.has_build(build):
        raise _not_built(name, build)
    if os.path.lexists(file):
        raise CommandError(f"{file} exists: name another file, or remove it")
    try:
        manifest = export_build(store.build(build), file)
    except OSError as error:
        raise _file_error(error) from error
    print(f"{file}: {build}, {counted(len(manifest.files), 'file')}, {size(file.stat().st_size)}")


def _import_build(args: argparse.Namespace, source: str) -> None:
    from stepgrid_share import bundle
    from stepgrid_share.build_bundle import import_build, read_build_manifest

    file = Path(source)
    if not file.is_file():
        raise CommandError(f"there is no file {file}")
    use_site(args)
    store = host_plan.store()
    try:
        if args.spec:
            names = _builds_in_scope(args, store)
            if (build := read_build_manifest(file).id) not in names:
                listed = f"its builds are: {', '.join(names)}"
                raise CommandError(f"{file} holds {build}, which is not a build of {args.spec}; {listed}")
        if signer := bundle.check_signature(file):
            print(f"signed by {signer}")
        record = import_build(store, file, partial(_may_run, file, args.may_run))
    except OSError as error:
        raise _file_error(error) from error
    print(f"{store.build(record.id)}: {record.name}, {record.engine} {record.version}")


def _may_run(file: Path, is_allowed: bool, record: BuildRecord) -> bool:
    """Ask at a terminal, unless `--run` allows it, whether somebody else's programs may run."""
    from stepgrid.store.stage_requests import user_name

    if is_allowed:
        return True
    user, names = user_name(), ", ".join(sorted(record.programs))
    print(f"{file} has programs ({names}): importing it runs one as {user} to ask for its version", file=sys.stderr)
    return sys.stdin.isatty() and input("run it? [y/N] ").strip().lower() in ("y", "yes")


def _file_error(error: OSError) -> CommandError:
    return CommandError(f"{error.filename}: {error.strerror}" if error.filename else str(error), FAILED)


# verb, number of its words
_VERBS: Mapping[str, tuple[Callable[..., None], int]] = MappingProxyType(
    {"diff": (_compare_builds, 2), "export": (_export_build, 2), "import": (_import_build, 1)}
)


# Builds of a store, and what plans say of them


class PlannedUse(Struct, frozen=True):
    """A build in plans: as the newest has it, and the specs that need it."""

    build: PlannedBuild | None = None
    specs: frozenset[str] = frozenset()


def planned_uses(store: Store) -> dict[str, PlannedUse]:
    """Map builds to what stored plans say of them."""
    uses: dict[str, PlannedUse] = {}
    for plan in stored_plans(store):
        for build in plan.head.builds:
            specs = uses[build.id].specs if build.id in uses else frozenset()
            uses[build.id] = PlannedUse(build, specs | {plan.spec})
    return uses


def read_build(store: Store, build: str) -> StoredBuild:
    node, folder = build_status(store, build), store.build(build)
    if node.status is Status.DONE:
        record = builds.read_build_record(folder) or BuildRecord()
        return StoredBuild(build, node.status, record, folder_bytes(folder), log=_log(folder))
    attempts = store.attempts(build)
    return StoredBuild(build, node.status, why=node.reason, log=_log(attempts[-1]) if attempts else None)


def _log(folder: Path) -> Path | None:
    return folder / BUILD_LOG if (folder / BUILD_LOG).is_file() else None
