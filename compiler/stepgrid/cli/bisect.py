"""stepgrid bisect SPEC: searches for the commit or release that made a figure worse, or a claim false."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from stepgrid.cli.shared import spec_arguments
from stepgrid.errors import FAILED, FINE, PROBLEMS, USAGE
from stepgrid.workflow import host_plan

if TYPE_CHECKING:
    from stepgrid.bisect.question import Words
    from stepgrid.model.plan import Plan


def arguments(parser: argparse.ArgumentParser) -> None:
    spec_arguments.arguments(parser)
    parser.add_argument("--good", required=True, metavar="REF", help="a version of the build, or a git commit or tag")
    parser.add_argument("--bad", required=True, metavar="REF", help="a later one, which is worse")
    parser.add_argument("--build", metavar="NAME", help="the build whose source is searched, where there are several")
    parser.add_argument("--step", metavar="NAME", help="the measured step, where there are several")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--metric", metavar="NAME", default="qps", help="the figure that became worse (qps)")
    what.add_argument("--claim", metavar="TEXT", help="a claim of the spec that holds at GOOD and fails at BAD")
    parser.add_argument("--by", type=_share, default=0.05, metavar="SHARE", help="by how much it became worse (5%%)")
    parser.add_argument("--retry", action="store_true", help="try again what could not be built or run before")
    parser.add_argument("-n", "--dry-run", action="store_true", help="say what the search would cost, measure nothing")


def run(args: argparse.Namespace) -> int:
    plan = spec_arguments.compiled(args)
    if plan is None:
        return PROBLEMS
    from stepgrid.bisect.measurement import Stopped
    from stepgrid.bisect.request import SearchError

    try:
        return _searched(args, plan)
    except SearchError as wrong:
        print(wrong, file=sys.stderr)
        return USAGE
    except Stopped as stopped:
        print(f"the search is not over: {stopped}. The same command goes on", file=sys.stderr)
        return FAILED


def _searched(args: argparse.Namespace, plan: Plan) -> int:
    from stepgrid.bisect.question import request_of
    from stepgrid.bisect.session import Session

    session = Session(
        host_plan.store(), plan, request_of(_words(args, plan), plan), shlex.join(["stepgrid", *_given()])
    )
    if args.dry_run:
        print(session.forecast())
        return FINE
    text, is_found = session.run(args.retry)
    print(text)
    return FINE if is_found else FAILED


def _given() -> Sequence[str]:
    return sys.argv[1:]


def _words(args: argparse.Namespace, plan: Plan) -> Words:
    from stepgrid.bisect.question import Words

    narrowed = plan.spec, args.scale, args.only, tuple(args.sets)
    return Words(*narrowed, args.good, args.bad, args.build, args.step, args.metric, args.claim, args.by)


def _share(text: str) -> float:
    from stepgrid.model.units import UnitError, quantity

    try:
        share = float(quantity(text, "percent")) / 100
    except UnitError as wrong:
        raise argparse.ArgumentTypeError(str(wrong)) from None
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError(f"expected more than 0% and less than 100%, found {text}")
    return share
