"""stepgrid images [SPEC]: databases that are kept for what starts from them; their verification and removal."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from stepgrid.cli.shared import spec_arguments
from stepgrid.errors import FAILED, FINE, PROBLEMS, USAGE
from stepgrid.host.locks import LockBusy, locked
from stepgrid.language.site import current_site
from stepgrid.model.number_format import size
from stepgrid.model.units import counted, duration
from stepgrid.run.images.disk_usage import room
from stepgrid.run.images.image import verified
from stepgrid.store.images.image_folders import Image, evict, images, record, stored
from stepgrid.summarize.formats.text import aligned
from stepgrid.workflow import host_plan

if TYPE_CHECKING:
    from stepgrid.store.store import Store


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", nargs="?", metavar="SPEC", help="only images of this spec (default: of the checkout)")
    spec_arguments.narrowing(parser)
    parser.add_argument("--verify", action="store_true", help="verify each image: list of files, sizes and checksums")
    parser.add_argument(
        "--evict", nargs="+", default=[], metavar="STAGE", help="remove these images; `all` removes every listed one"
    )


def run(args: argparse.Namespace) -> int:
    spec_arguments.wrong_site(args)
    plan = spec_arguments.quietly(args, args.spec) if args.spec else None
    if args.spec and plan is None:
        return PROBLEMS
    store = host_plan.store()
    wanted = None if plan is None else {stage.id for stage in plan.stages}
    found = [image for image in images(store) if wanted is None or image.stage in wanted]
    if args.evict:
        return _evicted(store, found, args.evict)
    if args.verify:
        return _verified(store, found)
    print("\n".join(_told(store, found)))
    return FINE


def _told(store: Store, found: Sequence[Image]) -> Iterator[str]:
    if not found:
        yield "there is no image"
        return
    now = time.time()
    rows = [(each.stage, size(each.bytes), f"used {duration(now - each.used)} ago", each.title) for each in found]
    for image, line in zip(found, aligned(rows, "", right=[1]), strict=True):
        notes = ["replayed"] if record(image.folder).get("replayed") else []
        shared = f", {size(image.bytes - image.own)} shared" if image.own < image.bytes else ""
        yield line
        if shared or notes:
            yield f"  {', '.join([f'{size(image.own)} its own{shared}', *notes])}"
    yield _totals(store, found)


def _totals(store: Store, found: Sequence[Image]) -> str:
    now = room(store, current_site().disk)
    return f"{counted(len(found), 'image')}, {size(stored(image.folder for image in found))}; {now.said}"


def _verified(store: Store, found: Sequence[Image]) -> int:
    bad = 0
    for image in found:
        wrong, how = verified(store, image.stage)
        bad += wrong is not None
        print(f"{image.stage}  {wrong or f'sound: {how}'}  {image.title}", flush=True)
    again = "`--evict` removes one, and what starts from it runs the load again"
    print(f"damaged: {bad}; {again}" if bad else "all are sound")
    return FAILED if bad else FINE


def _evicted(store: Store, found: Sequence[Image], names: Sequence[str]) -> int:
    chosen = {name: [image for image in found if name == "all" or image.stage.startswith(name)] for name in names}
    if unknown := [name for name, group in chosen.items() if not group and name != "all"]:
        print(f"there is no image {unknown[0]}: `stepgrid images` lists them, by their stages", file=sys.stderr)
        return USAGE
    left = 0
    for image in {image.stage: image for group in chosen.values() for image in group}.values():
        try:
            with locked(store.lock(image.stage), wait=False):
                evict(store, image.stage, image.stage)
            print(f"removed {image.stage}, {size(image.own)}: {image.title}")
        except LockBusy:
            left += 1
            print(f"left: {image.stage} is in use: {image.title}", file=sys.stderr)
    return FAILED if left else FINE
