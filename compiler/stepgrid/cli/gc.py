"""stepgrid gc: unreferenced results, builds and images go to the trash; the trash is restored or emptied."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from stepgrid.cli.shared import spec_arguments
from stepgrid.host.locks import LockBusy
from stepgrid.model.number_format import size
from stepgrid.model.units import counted, duration
from stepgrid.store import trash
from stepgrid.store.store import Store
from stepgrid.store.trash import UnmovedPath
from stepgrid.store.unreferenced import KINDS, Entry, entries, unreferenced
from stepgrid.summarize.formats.text import aligned

if TYPE_CHECKING:
    from stepgrid.cli.shared.references import References

SPECS = "specs/**/*.yaml"
FINE, WRONG, USAGE, REFUSED = 0, 1, 2, 3


def arguments(parser: argparse.ArgumentParser) -> None:
    what = f"specs whose results are kept, beside {SPECS} and those of stored plans, with all scales"
    parser.add_argument("specs", nargs="*", metavar="SPEC", help=what)
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--yes", action="store_true", help="move the listed files to the trash")
    action.add_argument("--restore", action="store_true", help="restore everything from the trash")
    action.add_argument("--empty", action="store_true", help="delete everything in the trash")
    what = "a spec or plan whose results are no longer kept, may be repeated"
    parser.add_argument("--forget", metavar="SPEC|PLAN", action="append", default=[], help=what)
    spec_arguments.local(parser)


def run(args: argparse.Namespace) -> int:
    from stepgrid.language.problems import format_problems
    from stepgrid.workflow import host_plan

    if any(problem.severity == "error" for problem in spec_arguments.wrong_site(args)):
        print(format_problems(args.wrong_site), file=sys.stderr)
        return WRONG
    store = host_plan.store()
    try:
        return _restored(store) if args.restore else _emptied(store) if args.empty else _collected(store, args)
    except LockBusy as busy:
        who = ", ".join(map(str, busy.holders)) or "unknown"
        print(f"this checkout is in use (pid {who}): nothing was changed; try again later", file=sys.stderr)
        return REFUSED


def _collected(store: Store, args: argparse.Namespace) -> int:
    from stepgrid.cli.shared.references import UnreadablePlan, references

    with ExitStack() as held:
        if args.yes and store.root.is_dir():
            held.enter_context(trash.alone(store))  # before the first look: a run changes what is needed
        listed = entries(store)  # before the plans: an import publishes its plan first
        try:
            known = references(store, _specs(args), _forgotten(args))
        except UnreadablePlan as unreadable:
            print(unreadable, file=sys.stderr)
            return WRONG
        if status := _refused(known, args):
            return status
        found = unreferenced(listed, known.needed)
        print("\n".join(_told(store, known, found, args)), flush=True)
        return _moved(store, found) if args.yes and found else FINE


def _specs(args: argparse.Namespace) -> Sequence[str]:
    from stepgrid.workflow import host_plan

    shipped = [str(path) for path in sorted(Path().glob(SPECS)) if _is_spec(str(path))]
    return [host_plan.named(spec) for spec in (*args.specs, *shipped)]


def _forgotten(args: argparse.Namespace) -> Sequence[str]:
    from stepgrid.workflow import host_plan

    return [host_plan.named(each) for each in args.forget]


def _refused(known: References, args: argparse.Namespace) -> int:
    """Where specs that were named are wrong, or nothing says what is needed."""
    from stepgrid.workflow import host_plan

    wrong = [spec for spec in args.specs if host_plan.named(spec) in known.wrong]
    for spec in wrong:
        spec_arguments.tell(spec, None, known.wrong[host_plan.named(spec)])
    if wrong:
        print("nothing was moved: the results that a spec needs are known when it has no errors", file=sys.stderr)
        return WRONG
    if not (known.specs or known.wrong or known.plans or args.forget):
        print(f"no spec at {SPECS} and no stored plan: name the specs that count", file=sys.stderr)
        return USAGE
    return FINE


def _moved(store: Store, found: Sequence[Entry]) -> int:
    left = trash.move(store, found)
    _tell(left)
    back = "`stepgrid gc --restore` puts them back, `stepgrid gc --empty` deletes them"
    print(f"moved {counted(len(found) - len(left), 'place')} to the trash; {back}")
    return FINE


def _restored(store: Store) -> int:
    with trash.alone(store):
        number, left = trash.restore(store)
    _tell(left)
    print(f"restored {counted(number, 'place')} from the trash")
    return REFUSED if left else FINE


def _emptied(store: Store) -> int:
    number, _ = trash.holds(store)
    freed = trash.empty(store)
    print(f"deleted {counted(number, 'place')} of the trash, {size(freed)}")
    return FINE


def _tell(left: Sequence[UnmovedPath]) -> None:
    for each in left:
        print(f"{each.path} stays: {each.why}", file=sys.stderr)


def _is_spec(path: str) -> bool:
    """A library defines, a spec builds. One that cannot be read is for its errors to be shown."""
    nodes = _loaded(path)
    return not nodes or "builds" in nodes or "title" in nodes


def _loaded(path: str) -> Mapping[str, object]:
    from stepgrid.language.problems import Problems
    from stepgrid.language.yaml import load

    return load(path, Problems()) or {}


def _told(store: Store, known: References, found: Sequence[Entry], args: argparse.Namespace) -> Iterator[str]:
    yield from known.kept
    specs = known.specs[0] if len(known.specs) == 1 else counted(len(known.specs), "spec")
    if found:
        sizes = {each.path: each.bytes for each in found}
        yield f"unreferenced by {specs}, at all scales:"
        yield from _listed(found, sizes)
        yield f"in all {size(sum(sizes.values()))} in {counted(len(found), 'place')}{_hint(args)}"
    else:
        yield f"no unreferenced results under {store.root}/ ({specs}, at all scales)"
    number, held = trash.holds(store)
    if held:
        yield f"the trash holds {counted(number, 'place')}, {size(held)}: `stepgrid gc --empty` deletes them"


def _listed(found: Sequence[Entry], sizes: Mapping[Path, int]) -> Iterator[str]:
    for kind in KINDS:
        of_kind = [each for each in found if each.kind == kind]
        if of_kind:
            yield f"  {kind}: {len(of_kind):,}, {size(sum(sizes[each.path] for each in of_kind))}"
            rows = [(str(each.path), size(sizes[each.path]), _last_use(each)) for each in of_kind]
            yield from aligned(rows, "    ", right=[1])


def _hint(args: argparse.Namespace) -> str:
    """The same command with `--yes`."""
    if args.yes:
        return ""
    site = ["--site", args.site] if args.site else []
    words = ["stepgrid", "gc", *args.specs, *(word for each in args.forget for word in ("--forget", each)), *site]
    return f"; `{shlex.join([*words, '--yes'])}` moves them to the trash"


def _last_use(each: Entry) -> str:
    from stepgrid.store.images.image_folders import last_used

    return f"used {duration(time.time() - last_used(each.path))} ago" if each.kind == "images" else ""
