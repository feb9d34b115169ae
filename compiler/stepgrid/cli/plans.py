"""stepgrid plans [SPEC]: the plans that are stored, and what is measured of each."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from stepgrid.cli.shared import spec_arguments
from stepgrid.cli.shared.row_output import FORMATS, formatted
from stepgrid.model.plan import imported
from stepgrid.plan.files import plan_file
from stepgrid.store import plans
from stepgrid.store.plans import StoredPlan
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan

NAMES = ("plan", "spec", "scale", "made", "cells", "measured", "stages", "last result")
MINUTES = "%Y-%m-%d %H:%M"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", nargs="?", help="only those of this spec")
    parser.add_argument("--format", choices=FORMATS, default="table", help="the output format (table)")
    spec_arguments.local(parser)


def run(args: argparse.Namespace) -> int:
    spec_arguments.wrong_site(args)
    store, spec = host_plan.store(), args.spec and host_plan.named(args.spec)
    listed = sorted(plans.stored(store), key=lambda each: each.made)
    rows = [row for each in listed if spec in (None, each.spec) for row in _rows(store, each)]
    text = formatted(args.format, NAMES, rows)
    print(text if rows or args.format != "table" else f"no plan{f' of {spec}' if spec else ''} is stored\n", end="")
    return 0


def _rows(store: Store, plan: StoredPlan) -> Iterator[tuple[Any, ...]]:
    """None of one that cannot be read."""
    with suppress(OSError, ValueError, KeyError):
        cells = len(plan_file.read_header(plan.folder)["cells"])
        stages = plan_file.ids(plan.folder)
        newest = [found for stage in stages if (found := store.result(stage))]
        last = max((found.name for found in newest), default=None)
        made = datetime.fromtimestamp(plan.made, UTC).strftime(MINUTES)
        spec = plan.spec.removeprefix("import ") if imported(plan.spec) else plan.spec
        yield plan.digest, spec, plan.scale, made, cells, len(newest), len(stages), last and _minutes(last)


def _minutes(name: str) -> str:
    return datetime.strptime(name, "%Y%m%dT%H%M%S.%fZ").replace(tzinfo=UTC).strftime(MINUTES)
