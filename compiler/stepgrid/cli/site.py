"""stepgrid site DIR [RESULTS …]: a static site of what is measured: index, pages, tables and a feed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from stepgrid.cli.shared import spec_arguments
from stepgrid.cli.shared.result_arguments import MEANT
from stepgrid.errors import FAILED, FINE, PROBLEMS, USAGE
from stepgrid.model.units import counted
from stepgrid.store import plans
from stepgrid.store.plans import StoredPlan
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan

if TYPE_CHECKING:
    from stepgrid.cli.shared.result_sets import Located


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", type=Path, help="the site: new, empty, or one that was made before")
    parser.add_argument("results", metavar="RESULTS", nargs="*", help=f"{MEANT} (the newest plan of each spec)")
    parser.add_argument("--title", default="Experiments", help="what the site is called (Experiments)")
    parser.add_argument("--url", help="where it will be, for the links of its feed")
    spec_arguments.narrowing(parser)


def run(args: argparse.Namespace) -> int:
    from stepgrid.cli.shared.result_sets import UnknownResults, located
    from stepgrid.summarize.site import static_site

    spec_arguments.wrong_site(args)
    wanted = args.results or [plan.digest for plan in _newest(host_plan.store())]
    try:
        static_site.claim(args.folder)
        with ExitStack() as kept:
            found = [located(args, name, kept) for name in wanted]
            known = [each for each in found if each is not None]
            if len(known) < len(found):
                return PROBLEMS
            return _written(args, known)
    except UnknownResults as why:
        print(why, file=sys.stderr)
        return USAGE
    except (static_site.NotASite, OSError) as why:
        print(why, file=sys.stderr)
        return FAILED


def _written(args: argparse.Namespace, found: Sequence[Located]) -> int:
    from stepgrid.summarize import job
    from stepgrid.summarize.site import static_site
    from stepgrid.summarize.site.experiment import Experiment, folders

    reports = [job.read(each.store, each.plan.digest) for each in found]
    named = zip(folders(reports), reports, found, strict=True)
    experiments = [Experiment(name, report, each.store.tables(each.plan.digest)) for name, report, each in named]
    static_site.write(args.folder, args.title, args.url, experiments)
    print(f"{counted(len(experiments), 'experiment')}: {args.folder / static_site.INDEX}")
    return FINE


def _newest(store: Store) -> Iterator[StoredPlan]:
    """Of each spec and scale, as far as something of it is measured."""
    last = {(each.spec, each.scale): each for each in sorted(plans.stored(store), key=lambda each: each.made)}
    yield from (each for each in last.values() if any(store.result(stage) for stage in plans.stages(each)))
