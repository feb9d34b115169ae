"""stepgrid claims: the claims of specs judged by figures that somebody published."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stepgrid.cli.failures import CommandError
from stepgrid.cli.output import ROW_FORMATS, format_rows
from stepgrid.cli.spec_arguments import SPEC_HELP, quiet_plan, spec_error
from stepgrid.errors import CLAIM_FAILED, FAILED, FINE
from stepgrid.host.files import write_text
from stepgrid.language import published as published_figures
from stepgrid.language.problems import Problems
from stepgrid.language.published import Published

if TYPE_CHECKING:
    from stepgrid.summarize.published_claims import PublishedClaim

HEADS = ("spec", "result", "points", "claim", "numbers", "source")


def add_claims_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("specs", metavar="SPEC", nargs="+", help=f"{SPEC_HELP}; its figures: published/NAME.yaml there")
    parser.add_argument(
        "--results",
        metavar="FOLDER",
        action="append",
        type=Path,
        default=[],
        help="read the figures again from the published files, which lie below this folder (repeatable)",
    )
    parser.add_argument("--update", action="store_true", help="keep the figures that these files have")
    parser.add_argument("--format", choices=ROW_FORMATS, help="print rows in this format instead of sentences")
    parser.set_defaults(site=None, scale=None, only=None, sets=[])


def run_claims(args: argparse.Namespace) -> int:
    from stepgrid.summarize.published_claims import REFUTED, counts

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
    from stepgrid.summarize.published_claims import OWN_SENTENCE

    source = OWN_SENTENCE if claim.is_by_sentence else ""
    return (Path(spec).stem, claim.result, claim.points, claim.claim.claim, claim.numbers, source)


def _judge(args: argparse.Namespace, spec: str) -> list[PublishedClaim]:
    from stepgrid.summarize.published_claims import check_labels, judge_as_published

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
