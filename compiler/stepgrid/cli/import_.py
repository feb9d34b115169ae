"""stepgrid import FILE: what another checkout exported; its content says what it is. KIND DIR: published results."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from stepgrid.build.error import BuildError
from stepgrid.cli.shared import spec_arguments
from stepgrid.errors import FAILED, FINE, USAGE
from stepgrid.language.problems import SpecError
from stepgrid.model import plan as plan_model
from stepgrid.model.units import counted
from stepgrid.plugins.registry import IMPORTERS
from stepgrid.transfer import build_import, bundle, result_import
from stepgrid.transfer.result_import import publish
from stepgrid.workflow import host_plan

if TYPE_CHECKING:
    from stepgrid.model.plan import Plan
    from stepgrid.store.store import Store
    from stepgrid.transfer.result_import import ImportedResults


def arguments(parser: argparse.ArgumentParser) -> None:
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
    spec_arguments.local(parser)


def run(args: argparse.Namespace) -> int:
    if args.what in IMPORTERS.names() or args.folder is not None or args.legacy is not None or args.skip_unknown:
        from stepgrid.cli import import_published

        return import_published.run(args)

    args.file = Path(args.what)
    if not args.file.is_file():
        hint = f"; published results: stepgrid import KIND {args.file}" if args.file.is_dir() else ""
        print(f"there is no file {args.file}{hint}", file=sys.stderr)
        return USAGE
    try:
        if result_import.is_one(bundle.head(args.file, "result or build")):
            return _results(args)
        build_import.read(args.file)
    except (BuildError, OSError) as error:
        print(error, file=sys.stderr)
        return FAILED
    hint = "it says what would run, and asks"
    print(f"{args.file} holds a build, not results: `stepgrid builds import {args.file}` ({hint})", file=sys.stderr)
    return USAGE


def _results(args: argparse.Namespace) -> int:
    spec_arguments.wrong_site(args)
    store = host_plan.store()
    taken = publish(store, args.file)
    print("\n".join((*_told(taken), _shown(store, taken.plan))))
    return FINE


def _shown(store: Store, plan: Plan) -> str:
    """How to look at them: another spec, lock file or host comes to another plan."""
    if plan_model.imported(plan.spec):
        return f"`stepgrid report {plan.digest}` shows them"
    if _comes_to(plan):
        return f"`stepgrid run {plan.spec}` summarizes them with those of this host"
    there = Path(plan.spec).is_file()
    why = f"{plan.spec} comes to another plan here" if there else f"there is no {plan.spec} here"
    texts = store.texts(plan.digest)
    was = f"; what they were measured by is in {texts}" if texts.is_dir() else ""
    return f"`stepgrid report {plan.digest}` shows them: {why}{was}"


def _comes_to(plan: Plan) -> bool:
    """Whether the spec, as it is here, is about these very results."""
    if not Path(plan.spec).is_file():
        return False
    try:
        own = {stage.id for stage in host_plan.compiled(plan.spec, plan.scale).stages}
        return own.issuperset(stage.id for stage in plan.stages)
    except SpecError:
        return False


def _told(taken: ImportedResults) -> Iterator[str]:
    plan = taken.plan
    yield f"{plan.spec}{f' ({plan.scale})' if plan.scale else ''}: {plan.title}"
    yield f"took {counted(len(taken.results), 'result')}, {counted(taken.attempts, 'attempt')}"
    if taken.signed:
        yield f"signed by {taken.signed}"
    if taken.builds:
        yield f"  with the records of builds that are not here: {taken.builds}"
    if taken.known:
        yield f"left as they are here: {counted(len(taken.known), 'result')}"
