"""stepgrid store push|pull URL [SPEC]: results of several stores in one folder or bucket, without a server."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stepgrid.build.error import BuildError
from stepgrid.cli.shared import spec_arguments
from stepgrid.errors import FAILED, FINE, PROBLEMS, USAGE
from stepgrid.model.number_format import size
from stepgrid.model.units import counted
from stepgrid.workflow import host_plan

if TYPE_CHECKING:
    from stepgrid.model.plan import Plan
    from stepgrid.transfer.store_sync import Moved

DONE = {"push": "pushed", "pull": "pulled"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("verb", choices=("push", "pull"), help="push what URL lacks, or pull what is not here")
    parser.add_argument("url", metavar="URL", help="a folder, or an address such as s3://bucket/folder")
    parser.add_argument("spec", nargs="?", metavar="SPEC", help="only the results of this spec (default: all results)")
    parser.add_argument("--sign", metavar="KEY", type=Path, help="with push: sign what is pushed with a key of ssh")
    parser.add_argument("--host", action="store_true", help="with push: also the names of hosts, and HOME, PATH …")
    spec_arguments.narrowing(parser)


def run(args: argparse.Namespace) -> int:
    if (args.sign or args.host) and args.verb != "push":
        print("--sign and --host: only of push", file=sys.stderr)
        return USAGE
    plan = None
    if args.spec and (plan := spec_arguments.quietly(args, args.spec)) is None:
        return PROBLEMS
    if not args.spec and (problems := spec_arguments.wrong_site(args)):
        spec_arguments.tell(problems[0].where.file, None, problems)
        return PROBLEMS
    try:
        moved = _moved(args, plan)
    except (BuildError, OSError) as error:
        print(error, file=sys.stderr)
        return FAILED
    return _tell(args, moved)


def _moved(args: argparse.Namespace, plan: Plan | None) -> Moved:
    from stepgrid.transfer import store_sync
    from stepgrid.transfer.remote_folder import remote_folder

    remote, store = remote_folder(args.url), host_plan.store()
    if args.verb == "push":
        options = store_sync.PushOptions(args.sign, args.host)
        return store_sync.push(store, remote, None if plan is None else [plan], options)
    return store_sync.pull(store, remote, None if plan is None else {stage.id for stage in plan.stages})


def _tell(args: argparse.Namespace, moved: Moved) -> int:
    word, where = DONE[args.verb], "to" if args.verb == "push" else "from"
    here = f"; {counted(moved.known, 'result')} known already" if moved.known else ""
    what = f"{counted(moved.results, 'result')} in {counted(moved.bundles, 'bundle')}"
    notes = f"; {counted(moved.retracted, 'retraction')}" if moved.retracted else ""
    print(f"{word} {what} ({size(moved.bytes)}) {where} {args.url}{here}{notes}")
    for sentence in moved.wrong:
        print(sentence, file=sys.stderr)
    return FAILED if moved.wrong else FINE
