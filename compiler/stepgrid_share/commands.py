"""stepgrid export and import: results to a file, and from one."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from stepgrid.cli.failures import CommandError, ending_with, unless_busy
from stepgrid.cli.output import check_folder
from stepgrid.cli.spec_arguments import SPEC_HELP, add_narrowing, add_site, quiet_plan, use_site
from stepgrid.errors import FAILED, FINE
from stepgrid.host.locks import locked
from stepgrid.language.files import record_inputs
from stepgrid.language.problems import SpecError
from stepgrid.language.site import VARIABLE
from stepgrid.model.plan import Plan, is_imported
from stepgrid.model.units import counted, size
from stepgrid.pipeline import compile_spec
from stepgrid.store.paths import RUN_LOCK
from stepgrid.store.plans import Request
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan
from stepgrid_share import bundle, results

SHOWN_VARIABLES = 8


def add_export_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", help=SPEC_HELP)
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="the file to write: .tar.gz, or .tar.zst where zstd is installed"
    )
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
    parser.add_argument("file", metavar="FILE", type=Path, help="a file that `stepgrid export` wrote")
    parser.add_argument(
        "--as-loads",
        action="store_true",
        help="count its results as further loads, beside those that were measured here",
    )
    add_site(parser)


def run_import(args: argparse.Namespace) -> int:
    file: Path = args.file
    if not file.is_file():
        hint = f"; published results: stepgrid published KIND {file}" if file.is_dir() else ""
        raise CommandError(f"there is no file {file}{hint}")
    with ending_with(FAILED, OSError):
        if not results.holds_results(bundle.read_manifest(file, "result or build")):
            from stepgrid_share.build_bundle import read_build_manifest

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
