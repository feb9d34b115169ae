"""stepgrid gc: what no spec comes to any more, and its removal."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from compiler.cli import compiled
from compiler.cli.told import size
from compiler.language.counted import counted
from compiler.language.units import duration
from compiler.plan.model import Plan
from compiler.store.reach import KINDS, Reached, Unreached, remove, unreached
from compiler.store.store import Store

SPECS = "specs/**/*.yaml"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("specs", nargs="*", metavar="SPEC", help=f"the specs that count, with all scales ({SPECS})")
    parser.add_argument("--yes", action="store_true", help="remove what is listed")
    compiled.local(parser)


def run(args: argparse.Namespace) -> int:
    specs = args.specs or [str(path) for path in sorted(Path().glob(SPECS)) if _is_spec(str(path))]
    if not specs:
        print(f"there is no spec at {SPECS}: say which specs count, else all results would go", file=sys.stderr)
        return 2
    from compiler.legacy import kept
    from compiler.run import here

    compiled.wrong_site(args)
    plans = list(_plans(specs, args))
    if None in plans:
        print("nothing was looked at: what a wrong spec comes to cannot be told", file=sys.stderr)
        return 1
    store = here.store()
    found = unreached(store, _reached([*(plan for plan in plans if plan is not None), *kept.plans(store)]))
    print("\n".join(_told(found, specs, args.yes)), flush=True)
    return _removed(store, found) if args.yes and found else 0


def _removed(store: Store, found: Sequence[Unreached]) -> int:
    from compiler.store.lock import Busy

    try:
        left = list(remove(store, found))
    except Busy as busy:
        who = ", ".join(map(str, busy.holders)) or "unknown"
        print(f"a run is active in this checkout (pid {who}): nothing was removed; try again later", file=sys.stderr)
        return 3
    for each in left:
        print(f"left: {each.folder} is in use", file=sys.stderr)
    print(f"removed {counted(len(found) - len(left), 'place')}")
    return 0


def _is_spec(path: str) -> bool:
    """A library defines, a spec builds. One that cannot be read is for its errors to be shown."""
    nodes = _loaded(path)
    return not nodes or "builds" in nodes or "title" in nodes


def _plans(specs: Sequence[str], args: argparse.Namespace) -> Iterator[Plan | None]:
    """Of every scale of every spec; None for one that is wrong, once its problems were printed."""
    for spec in specs:
        scales = _loaded(spec).get("scales")
        for scale in (None, *(scales if isinstance(scales, dict) else ())):
            asked = {**vars(args), "spec": spec, "scale": scale, "only": None, "sets": ()}
            yield compiled.compiled(argparse.Namespace(**asked))


def _loaded(path: str) -> Mapping[str, object]:
    from compiler.language.load import load
    from compiler.language.problem import Problems

    return load(path, Problems()) or {}


def _reached(plans: Sequence[Plan]) -> Reached:
    from compiler.run.images.need import shapes

    return Reached(
        frozenset(plan.digest for plan in plans),
        frozenset(build.id for plan in plans for build in plan.builds),
        frozenset(stage.id for plan in plans for stage in plan.stages),
        frozenset(shape for plan in plans for shape in shapes(plan)),
    )


def _told(found: Sequence[Unreached], specs: Sequence[str], removes: bool) -> Iterator[str]:
    of = specs[0] if len(specs) == 1 else f"{counted(len(specs), 'spec')}"
    if not found:
        yield f"everything under outputs/ is reached by {of}"
        return
    yield f"not reached by {of}, at any scale:"
    for kind in KINDS:
        listed = [each for each in found if each.kind == kind]
        if listed:
            yield f"  {kind}: {len(listed):,}, {size(sum(each.bytes for each in listed))}"
            yield from (f"    {each.folder}  {size(each.bytes)}{_last_use(each)}" for each in listed)
    how = "" if removes else "; `stepgrid gc --yes` removes it"
    yield f"in all {size(sum(each.bytes for each in found))} in {counted(len(found), 'place')}{how}"


def _last_use(each: Unreached) -> str:
    from compiler.store.images import last_used

    return f", used {duration(time.time() - last_used(each.folder))} ago" if each.kind == "images" else ""
