"""stepgrid claims and published: claims judged by figures that others published, and their results imported."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stepgrid.cli.failures import CommandError, ending_with
from stepgrid.cli.output import ROW_FORMATS, format_rows
from stepgrid.cli.spec_arguments import SPEC_HELP, add_site, quiet_plan, spec_error, use_site
from stepgrid.errors import CLAIM_FAILED, FAILED, FINE, PROBLEMS
from stepgrid.host.files import write_text
from stepgrid.language.problems import Problems
from stepgrid.model.units import counted
from stepgrid.pipeline import collect_and_summarize
from stepgrid.store.store import SummaryFiles
from stepgrid.workflow import host_plan
from stepgrid_published import figures as published_figures
from stepgrid_published import results
from stepgrid_published.figures import Published
from stepgrid_published.importer import IMPORTERS, FolderError

if TYPE_CHECKING:
    from stepgrid_published.claims import PublishedClaim

SKIP_HINT = "`--skip-unknown` imports the rest, and the report says what was left out"
HEADS = ("spec", "result", "points", "claim", "numbers", "source")


def add_claims_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("specs", metavar="SPEC", nargs="+", help=f"{SPEC_HELP}; its figures: published/NAME.yaml there")
    parser.add_argument(
        "--results",
        metavar="FOLDER",
        action="append",
        type=Path,
        default=[],
        help="read the figures again from the published files, which lie below this folder; repeatable",
    )
    parser.add_argument("--update", action="store_true", help="keep the figures that these files have")
    parser.add_argument("--format", choices=ROW_FORMATS, help="print rows in this format instead of sentences")
    parser.set_defaults(site=None, scale=None, only=None, sets=[])


def run_claims(args: argparse.Namespace) -> int:
    from stepgrid_published.claims import REFUTED, counts

    judged = [(spec, claims) for spec in args.specs for claims in [_judge(args, spec)]]
    everything = [claim for _, claims in judged for claim in claims]
    if args.format:
        print(
            format_rows(args.format, HEADS, [_row(spec, claim) for spec, claims in judged for claim in claims]), end=""
        )
    else:
        for spec, claims in judged:
            print("\n".join([f"{spec}: {counts(claims)}", *(f"  {claim.line}" for claim in claims)]))
        if len(judged) > 1:
            print(f"all {len(judged)} specs: {counts(everything)}")
    return CLAIM_FAILED if any(claim.result == REFUTED for claim in everything) else FINE


def _row(spec: str, claim: PublishedClaim) -> Sequence[str]:
    from stepgrid_published.claims import OWN_SENTENCE

    source = OWN_SENTENCE if claim.is_by_sentence else ""
    return (Path(spec).stem, claim.result, claim.points, claim.claim.claim, claim.numbers, source)


def _judge(args: argparse.Namespace, spec: str) -> list[PublishedClaim]:
    from stepgrid_published.claims import check_labels, judge_as_published

    plan, problems = quiet_plan(args, spec), Problems()
    published = published_figures.read(spec, problems)
    if published is not None:
        check_labels(plan, published, problems)
    if published is None or problems.errors:
        raise spec_error(str(published_figures.path(spec)), problems.items)
    if args.results:
        published = _read_again(published, args.results)
        if args.update:
            file = published_figures.path(spec)
            if file.is_symlink():
                raise CommandError(f"{file}: is a link, and nothing is written through it", FAILED)
            write_text(file, published_figures.with_figures(file.read_text("utf-8"), published))
    return judge_as_published(plan, published)


def _read_again(published: Published, folders: Sequence[Path]) -> Published:
    """Take the figures of the published files, and say which are kept otherwise."""
    tables = []
    for table in published.tables:
        if table.file is None:
            tables.append(table)
            continue
        files = ((folder.resolve(), (folder / table.file).resolve()) for folder in folders)  # not by .. or a link
        file = next((path for folder, path in files if path.is_relative_to(folder) and path.is_file()), None)
        if file is None:
            raise CommandError(f"{table.file}: there is no such file below {', '.join(map(str, folders))}", FAILED)
        try:
            again = published_figures.read_again(table, published.names, file)
        except OSError as error:
            raise CommandError(f"{file}: {error.strerror or error}", FAILED) from error
        tables.append(again)
        for row in (row for row, values in again.figures.items() if values != table.figures[row]):
            print(f"{table.file}: {row}: {again.figures[row]} there, {table.figures[row]} kept", file=sys.stderr)
    return published.model_copy(update={"tables": tuple(tables)})


def add_published_arguments(parser: argparse.ArgumentParser) -> None:
    kinds = ", ".join(IMPORTERS.names()) or "none is installed"
    parser.add_argument("kind", metavar="KIND", help=f"the kind of published results: {kinds}")
    parser.add_argument("folder", metavar="DIR", type=Path, help="folder of the published results")
    parser.add_argument(
        "--legacy",
        metavar="OUT",
        type=Path,
        help="also write the summaries in the form of the scripts, into this folder",
    )
    parser.add_argument(
        "--skip-unknown", action="store_true", help="skip unknown lines and files; the report lists them"
    )
    add_site(parser)


def run_published(args: argparse.Namespace) -> int:
    """Import published results as results like our own, make their report, and write their summaries."""
    _check_published(args)
    use_site(args)
    try:
        with ending_with(FAILED, OSError):
            folder = results.read_folder(args.kind, args.folder, args.skip_unknown)
            if args.legacy is not None and folder.unsummarized and not args.skip_unknown:
                raise FolderError(folder.unsummarized, unknown=True)
            (new, present), plan = results.publish(host_plan.store(), folder.planned), folder.planned.plan
            print(plan.title)
            print(f"imported {counted(new, 'result')} of {counted(len(plan.builds), 'build')}")
            if present:
                print(f"already here: {counted(present, 'result')}")
            print("\n".join(_skipped_lines(folder)))
            if args.legacy is not None:
                results.write_summaries(args.legacy, folder)
                print("\n".join(_legacy_lines(args.legacy, folder)))
            status = _make_report(plan.digest)
    except FolderError as error:
        hint = f"; {SKIP_HINT}" if error.unknown else ""
        raise CommandError(f"{error}\nnothing was imported{hint}", PROBLEMS) from error
    return status or (PROBLEMS if folder.refused else FINE)


def _check_published(args: argparse.Namespace) -> None:
    if args.kind not in IMPORTERS.names():
        message, hint, _ = IMPORTERS.unknown(args.kind)
        raise CommandError(f"{message}\n   = {hint}")
    if not args.folder.is_dir():
        raise CommandError(f"there is no folder {args.folder}")
    if args.legacy is not None and args.legacy.is_dir() and any(args.legacy.iterdir()):
        raise CommandError(f"{args.legacy} is not empty: summary files are written to a folder of their own")
    if args.legacy is not None and args.legacy.exists() and not args.legacy.is_dir():
        raise CommandError(f"{args.legacy} is a file: --legacy names a folder")


def _skipped_lines(folder: results.PublishedFolder) -> Iterator[str]:
    yield from (f"refused: {fault}" for fault in folder.refused)
    yield from (f"left out: {fault}" for fault in folder.skipped)
    if folder.derived:
        files = counted(len(folder.derived), "file")
        yield f"left out: {files} made of other files, or without a result: {results.list_names(folder.derived)}"
    if not (folder.refused or folder.skipped or folder.derived):
        yield "left out: nothing"


def _legacy_lines(target: Path, folder: results.PublishedFolder) -> Iterator[str]:
    yield f"{target}: {counted(len(folder.summaries), 'summary file')} as published"
    if folder.differences:
        reasons = counted(len({figure.why for figure in folder.differences}), "reason")
        figures = counted(len(folder.differences), "figure")
        yield f"{target / results.DIFFERENCES}: {figures} where our rule is another, for {reasons}"
    yield from (f"left out of {target}: {fault}" for fault in folder.unsummarized)


def _make_report(plan: str) -> int:
    """Make the tables and the report, for which no run is needed: nothing is left to measure."""
    if status := collect_and_summarize(plan, is_partial=True):
        return status
    print(f"report: {SummaryFiles.of(host_plan.store(), plan).text}")
    print(f"`stepgrid report {plan}` prints it: the plan has no spec, so its digest names it")
    return FINE
