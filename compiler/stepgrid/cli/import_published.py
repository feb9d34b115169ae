"""stepgrid import KIND DIR: what published scripts measured, as results like our own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stepgrid.cli.shared import spec_arguments
from stepgrid.errors import FAILED, FINE, PROBLEMS, USAGE
from stepgrid.model.units import counted
from stepgrid.plugins.importer import FolderError
from stepgrid.plugins.registry import IMPORTERS
from stepgrid.transfer import published_folder
from stepgrid.transfer.published_folder import BESIDE, named, read
from stepgrid.transfer.published_results import publish
from stepgrid.workflow import host_plan

if TYPE_CHECKING:
    from stepgrid.plugins.importer import PublishedFigure
    from stepgrid.transfer.published_folder import PublishedFolder
    from stepgrid.transfer.published_plan import PublishedPlan
    from stepgrid.transfer.published_results import ImportedPlan

HINT = "`--skip-unknown` imports the rest, and the report says what was left out"


def wrong_use(args: argparse.Namespace) -> str | None:
    """Of a KIND and a DIR."""
    if args.what not in IMPORTERS.names():
        message, hint, _ = IMPORTERS.unknown(args.what)
        return f"{message}\n   = {hint}"
    if args.folder is None:
        return f"which folder of {args.what} results? stepgrid import {args.what} DIR"
    if not args.folder.is_dir():
        return f"there is no folder {args.folder}"
    if args.legacy is not None and args.legacy.is_dir() and any(args.legacy.iterdir()):
        return f"{args.legacy} is not empty: summary files are written to a folder of their own"
    if args.legacy is not None and args.legacy.exists() and not args.legacy.is_dir():
        return f"{args.legacy} is a file: --legacy names a folder"
    return None


def run(args: argparse.Namespace) -> int:
    if wrong := wrong_use(args):
        print(wrong, file=sys.stderr)
        return USAGE
    spec_arguments.wrong_site(args)
    try:
        return _imported(args)
    except FolderError as found:
        print(f"{found}\nnothing was imported{f'; {HINT}' if found.unknown else ''}", file=sys.stderr)
        return PROBLEMS
    except OSError as error:
        print(error, file=sys.stderr)
        return FAILED


def _imported(args: argparse.Namespace) -> int:
    found = read(args.what, args.folder, args.skip_unknown)
    if args.legacy is not None and found.unsummarized and not args.skip_unknown:
        raise FolderError(found.unsummarized, unknown=True)
    taken = publish(host_plan.store(), found.planned)
    print("\n".join((*_told(found.planned, taken), *_not_read(found))))
    if args.legacy is not None:
        published_folder.write(args.legacy, found.legacy, found.beside)
        print("\n".join(_legacy(args.legacy, found.legacy, found.beside)))
        print("".join(f"left out of {args.legacy}: {each}\n" for each in found.unsummarized), end="")
    status = _reported(found.planned.plan.digest)
    return status or (PROBLEMS if found.refused else FINE)


def _told(planned: PublishedPlan, taken: ImportedPlan) -> Iterator[str]:
    plan = planned.plan
    yield plan.title
    yield f"took {counted(len(taken.results), 'result')} of {counted(len(plan.builds), 'build')}"
    if taken.known:
        yield f"left as they are here: {counted(len(taken.known), 'result')}"


def _not_read(found: PublishedFolder) -> Iterator[str]:
    yield from (f"refused: {each}" for each in found.refused)
    yield from (f"left out: {each}" for each in found.left_out)
    if found.aside:
        files = counted(len(found.aside), "file")
        yield f"left out: {files} made of other files, or without a result: {named(found.aside)}"
    if not (found.refused or found.left_out or found.aside):
        yield "left out: nothing"


def _legacy(folder: Path, files: Mapping[str, str], beside: Sequence[PublishedFigure]) -> Iterator[str]:
    yield f"{folder}: {counted(len(files), 'summary file')} as published"
    if beside:
        reasons = counted(len({each.why for each in beside}), "reason")
        yield f"{folder / BESIDE}: {counted(len(beside), 'figure')} where our rule is another, for {reasons}"


def _reported(plan: str) -> int:
    """The tables and the report: there is nothing left to measure that a run would be needed for."""
    from stepgrid.collect.__main__ import main as collect
    from stepgrid.summarize.job import main as summarize
    from stepgrid.summarize.page import summary_text

    if status := collect([plan, "--partial"]) or summarize([plan, "--partial"]):
        return status
    print(f"report: {summary_text.path(host_plan.store(), plan)}")
    print(f"`stepgrid report {plan}` prints it: the plan's digest stands for a spec that there is not")
    return FINE
