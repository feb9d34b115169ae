"""stepgrid export, import and store: results to a file, from a file or published results, and to a shared folder."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from stepgrid.cli.failures import CommandError, ending_with, unless_busy
from stepgrid.cli.output import check_folder
from stepgrid.cli.spec_arguments import add_narrowing, add_site, quiet_plan, spec_error, use_site
from stepgrid.errors import FAILED, FINE, PROBLEMS
from stepgrid.host.locks import locked
from stepgrid.language.files import record_inputs
from stepgrid.language.problems import SpecError
from stepgrid.language.site import VARIABLE
from stepgrid.model.plan import Plan, is_imported
from stepgrid.model.units import counted, size
from stepgrid.pipeline import collect, compile_spec, summarize
from stepgrid.plugins.importer import FolderError
from stepgrid.plugins.registry import IMPORTERS
from stepgrid.store.paths import RUN_LOCK
from stepgrid.store.plans import Request
from stepgrid.store.store import Store, SummaryFiles
from stepgrid.transfer import bundle, published, results, shared_folder
from stepgrid.workflow import host_plan

SHOWN_VARIABLES = 8
SKIP_HINT = "`--skip-unknown` imports the rest, and the report says what was left out"


def add_export_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", help="a spec file, such as specs/quickstart.yaml")
    parser.add_argument("file", type=Path, help="the file to write: .tar.gz, or .tar.zst where zstd is installed")
    parser.add_argument("--attempts", action="store_true", help="also failed and interrupted attempts")
    parser.add_argument("--sign", metavar="KEY", type=Path, help="sign it with a key of ssh, into FILE.sig")
    parser.add_argument("--host", action="store_true", help="also the names of hosts, and HOME, PATH … of commands")
    add_narrowing(parser)


def run_export(args: argparse.Namespace) -> int:
    with record_inputs() as inputs:
        plan = quiet_plan(args)
    for file in (args.file, bundle.signature_file(args.file)) if args.sign else (args.file,):
        if os.path.lexists(file):
            raise CommandError(f"{file} exists: name another file, or remove it")
    check_folder(args.file)
    store = host_plan.store()
    with ending_with(FAILED, OSError):
        bundle.check_name(args.file)
        if results.has_results(store, plan):
            update_report(store, plan)
        texts = results.spec_texts(inputs, os.environ.get(VARIABLE)) or results.imported_texts(store, plan.digest)
        options = results.ExportOptions(args.attempts, args.host, texts)
        manifest = results.export_results(store, plan, args.file, options)
        signed = bundle.sign(args.file, args.sign) if args.sign else None
    times = manifest.results.values()
    stages = f"{counted(sum(map(len, times)), 'result')} of {len(times)} of {counted(len(plan.stages), 'stage')}"
    print(f"{args.file}: {stages}, {counted(len(manifest.files), 'file')}, {size(args.file.stat().st_size)}")
    if skipped := manifest.skipped:
        suffix = f" and {len(skipped) - 1:,} more" if len(skipped) > 1 else ""
        print(f"  left out: {skipped[0]}{suffix} (neither a file nor a link to one beside it)")
    if signed:
        print(f"  signed: {signed} is beside it")
    print("\n".join(_private_facts(results.host_facts(store, plan), args.host)))
    return FINE


def update_report(store: Store, plan: Plan) -> None:
    """Make the exported tables and page agree with the results, unless the store cannot be written."""
    from stepgrid.summarize.report_files import current_report

    with suppress(OSError):
        current_report(store, plan)


def _private_facts(facts: results.HostFacts, is_exported: bool) -> Iterator[str]:
    """Name what whoever publishes the file publishes about hosts, or what was left out."""
    private = [name for name in facts.variables if name in results.PRIVATE]
    variables = facts.variables if is_exported else [name for name in facts.variables if name not in private]
    hosts = f"host{'s' if len(facts.names) > 1 else ''} {', '.join(facts.names)}"
    if facts.names and is_exported:
        yield f"  it names the {hosts}"
    elif facts.names or private:
        names = [f"the name of the {hosts}"] if facts.names else []
        yield f"  left out: {', '.join([*names, *private])}; `--host` exports them"
    if variables:
        suffix = ", …" if len(variables) > SHOWN_VARIABLES else ""
        yield f"  it has variables of the environment of commands: {', '.join(variables[:SHOWN_VARIABLES])}{suffix}"


def add_import_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        metavar="FILE|KIND",
        help="a file that `stepgrid export` wrote; "
        f"or the kind of published results: {', '.join(IMPORTERS.names()) or 'none is installed'}",
    )
    parser.add_argument(
        "folder", metavar="DIR", nargs="?", type=Path, help="with a KIND: folder of the published results"
    )
    parser.add_argument("--legacy", metavar="OUT", type=Path, help="with a KIND: folder for the published summaries")
    parser.add_argument(
        "--skip-unknown",
        action="store_true",
        help="with a KIND: skip unknown lines and files; the report lists them",
    )
    parser.add_argument(
        "--as-loads",
        action="store_true",
        help="with a FILE: count its results as further loads, beside those that were measured here",
    )
    add_site(parser)


def run_import(args: argparse.Namespace) -> int:
    if args.what in IMPORTERS.names() or args.folder is not None or args.legacy is not None or args.skip_unknown:
        if args.as_loads:
            raise CommandError("--as-loads is for a file that `stepgrid export` wrote, not for published results")
        return _import_published(args)
    file = Path(args.what)
    if not file.is_file():
        hint = f"; published results: stepgrid import KIND {file}" if file.is_dir() else ""
        raise CommandError(f"there is no file {file}{hint}")
    with ending_with(FAILED, OSError):
        if not results.holds_results(bundle.read_manifest(file, "result or build")):
            from stepgrid.transfer.builds import read_build_manifest

            read_build_manifest(file)
            hint = f"`stepgrid builds import {file}` (it says what would run, and asks)"
            raise CommandError(f"{file} holds a build, not results: {hint}")
        use_site(args)
        store = host_plan.store()
        if args.as_loads:
            sentence = "a run is active in this checkout (pid {}): nothing was imported; try again later"
            with unless_busy(sentence), locked(store.lock(RUN_LOCK), wait=False):
                imports = results.import_results(store, file, as_loads=True)
            print("\n".join(_load_lines(imports)))
        else:
            imports = results.import_results(store, file)
            print("\n".join(_import_lines(store, imports, file)))
    return FINE


def _load_lines(imports: results.ImportedResults) -> Iterator[str]:
    plan, hosts = imports.plan, {host for host, _ in imports.loads}
    yield f"{plan.spec}{f' ({plan.scale})' if plan.scale else ''}: {plan.title}"
    if imports.loads:
        yield f"{counted(len(imports.loads), 'load')} of {', '.join(sorted(hosts))} beside those of this checkout"
    yield f"imported {counted(len(imports.results), 'result')}"
    if imports.signer:
        yield f"signed by {imports.signer}"
    if imports.present:
        yield f"already here: {counted(len(imports.present), 'result')}"
    if imports.retracted:
        suffix = "it counted instead of what was measured here, which counts again"
        yield f"{counted(len(imports.retracted), 'result')} of an earlier import retracted: {suffix}"
    if imports.incomplete:
        yield f"left out: {counted(imports.incomplete, 'result')} of loads that no host measured as a whole"
    if imports.loads:
        yield "`stepgrid report SPEC` has them among its loads, where SPEC has these stages; nothing is measured for it"


def _import_lines(store: Store, imports: results.ImportedResults, file: Path) -> Iterator[str]:
    plan = imports.plan
    yield f"{plan.spec}{f' ({plan.scale})' if plan.scale else ''}: {plan.title}"
    yield f"imported {counted(len(imports.results), 'result')}, {counted(imports.attempts, 'attempt')}"
    if imports.signer:
        yield f"signed by {imports.signer}"
    if imports.builds:
        yield f"  with the records of builds that are not here: {imports.builds}"
    if imports.present:
        yield f"already here: {counted(len(imports.present), 'result')}"
    rivals = {stage: result for stage, result in imports.previous.items() if result}
    replaced = sum(store.result(stage) != result for stage, result in rivals.items())
    if replaced:
        stages = counted(replaced, "stage")
        yield f"of {stages} the imported result counts now: it is newer than the one that was here, which is kept"
    if older := len(rivals) - replaced:
        yield f"of {counted(older, 'stage')} the result that was here goes on to count: it is newer"
    if rivals and len(rivals) == len(imports.previous) and not is_imported(plan.spec):
        command = f"`stepgrid import {shlex.quote(str(file))} --as-loads`"
        yield f"{command} has both count: yours again, and these as further loads"
    report = f"`stepgrid report {plan.digest}` shows them"
    if is_imported(plan.spec):
        yield report
    elif not Path(plan.spec).is_file():
        yield f"{report}: there is no {plan.spec} here{_texts_note(store, plan)}"
    elif _has_same_stages(plan):
        yield f"`stepgrid run {plan.spec}` summarizes them with those of this host"
    else:  # another spec, lock file or host
        yield f"{report}: {plan.spec} compiles to another plan here{_texts_note(store, plan)}"


def _texts_note(store: Store, plan: Plan) -> str:
    texts = store.texts(plan.digest)
    return f"; the files that they were measured by are in {texts}" if texts.is_dir() else ""


def _has_same_stages(plan: Plan) -> bool:
    """Compile the spec as it is here, and compare."""
    try:
        stages = {stage.id for stage in compile_spec(Request(plan.spec, plan.scale)).stages}
    except SpecError:
        return False
    return stages.issuperset(stage.id for stage in plan.stages)


def _import_published(args: argparse.Namespace) -> int:
    """Import published results as results like our own, make their report, and write their summaries."""
    _check_published(args)
    use_site(args)
    try:
        with ending_with(FAILED, OSError):
            folder = published.read_folder(args.what, args.folder, args.skip_unknown)
            if args.legacy is not None and folder.unsummarized and not args.skip_unknown:
                raise FolderError(folder.unsummarized, unknown=True)
            imports, plan = published.publish(host_plan.store(), folder.planned), folder.planned.plan
            print(plan.title)
            print(f"imported {counted(len(imports.results), 'result')} of {counted(len(plan.builds), 'build')}")
            if imports.present:
                print(f"already here: {counted(len(imports.present), 'result')}")
            print("\n".join(_skipped_lines(folder)))
            if args.legacy is not None:
                published.write_summaries(args.legacy, folder)
                print("\n".join(_legacy_lines(args.legacy, folder)))
            status = _make_report(plan.digest)
    except FolderError as error:
        hint = f"; {SKIP_HINT}" if error.unknown else ""
        raise CommandError(f"{error}\nnothing was imported{hint}", PROBLEMS) from error
    return status or (PROBLEMS if folder.refused else FINE)


def _check_published(args: argparse.Namespace) -> None:
    if args.what not in IMPORTERS.names():
        message, hint, _ = IMPORTERS.unknown(args.what)
        raise CommandError(f"{message}\n   = {hint}")
    if args.folder is None:
        raise CommandError(f"which folder of {args.what} results? stepgrid import {args.what} DIR")
    if not args.folder.is_dir():
        raise CommandError(f"there is no folder {args.folder}")
    if args.legacy is not None and args.legacy.is_dir() and any(args.legacy.iterdir()):
        raise CommandError(f"{args.legacy} is not empty: summary files are written to a folder of their own")
    if args.legacy is not None and args.legacy.exists() and not args.legacy.is_dir():
        raise CommandError(f"{args.legacy} is a file: --legacy names a folder")


def _skipped_lines(folder: published.PublishedFolder) -> Iterator[str]:
    yield from (f"refused: {fault}" for fault in folder.refused)
    yield from (f"left out: {fault}" for fault in folder.skipped)
    if folder.derived:
        files = counted(len(folder.derived), "file")
        yield f"left out: {files} made of other files, or without a result: {published.list_names(folder.derived)}"
    if not (folder.refused or folder.skipped or folder.derived):
        yield "left out: nothing"


def _legacy_lines(target: Path, folder: published.PublishedFolder) -> Iterator[str]:
    yield f"{target}: {counted(len(folder.summaries), 'summary file')} as published"
    if folder.differences:
        reasons = counted(len({figure.why for figure in folder.differences}), "reason")
        figures = counted(len(folder.differences), "figure")
        yield f"{target / published.DIFFERENCES}: {figures} where our rule is another, for {reasons}"
    yield from (f"left out of {target}: {fault}" for fault in folder.unsummarized)


def _make_report(plan: str) -> int:
    """Make the tables and the report, for which no run is needed: nothing is left to measure."""
    if status := collect(plan, is_partial=True) or summarize(plan, is_partial=True):
        return status
    print(f"report: {SummaryFiles.of(host_plan.store(), plan).text}")
    print(f"`stepgrid report {plan}` prints it: the plan has no spec, so its digest names it")
    return FINE


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
        remote, store = shared_folder.remote_folder(args.url), host_plan.store()
        if is_push:
            transfer = shared_folder.push(store, remote, plan, args.sign, args.host)
        else:
            transfer = shared_folder.pull(store, remote, None if plan is None else {stage.id for stage in plan.stages})
    bundles = f"{counted(transfer.results, 'result')} in {counted(transfer.bundles, 'bundle')} ({size(transfer.bytes)})"
    direction = f"pushed {bundles} to" if is_push else f"pulled {bundles} from"
    unchanged = f"; {counted(transfer.present, 'result')} known already" if transfer.present else ""
    retracted = f"; {counted(transfer.retractions, 'retraction')}" if transfer.retractions else ""
    print(f"{direction} {args.url}{unchanged}{retracted}")
    for sentence in transfer.faults:
        print(sentence, file=sys.stderr)
    return FAILED if transfer.faults else FINE
