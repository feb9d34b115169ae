"""stepgrid lock SPEC: pin what moves in a spec, in the lock file beside it; outdated SPEC: what is newer."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence

from stepgrid.build.pins import PinAnswers, ReleaseAnswers, moving_sources, outlooks, resolve_all, write_lock
from stepgrid.cli.failures import CommandError
from stepgrid.cli.spec_arguments import SPEC_HELP, add_site, spec_error, use_site
from stepgrid.errors import FAILED, FINE, PROBLEMS
from stepgrid.host.limits import limited, unlimited
from stepgrid.language import lock_file
from stepgrid.language.problems import Problems, SpecError, format_problems, nearest
from stepgrid.language.requirements import HASH
from stepgrid.language.site import current_site
from stepgrid.model.plan import Plan
from stepgrid.model.units import counted
from stepgrid.plan.assembly import CompileContext, compile_spec, scales
from stepgrid.summarize.formats import aligned
from stepgrid.workflow import host_plan


def add_lock_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", help=SPEC_HELP)
    parser.add_argument(
        "--update",
        nargs="*",
        metavar="BUILD",
        help="update existing pins: all of them, or only those of these builds",
    )
    parser.add_argument(
        "--upgrade",
        action="store_true",
        help="ask again for the newest releases that the spec wants (`versions: {newest: …}`)",
    )
    _add_scales(parser)
    add_site(parser)


def _add_scales(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scale",
        dest="scales",
        action="append",
        metavar="NAME",
        help="one of the spec's `scales`; repeatable (default: the spec without a scale, and all of its scales)",
    )


def run_lock(args: argparse.Namespace) -> int:
    lock = lock_file.read(host_plan.spec_name(args.spec), Problems())
    plans, newest = _compile_scales(args, args.upgrade)
    spec, sources = plans[0].spec, moving_sources(plans)
    builds = {name for source in sources.values() for name in source.names}
    for name in args.update or ():
        if name not in builds:
            raise CommandError(f"no build `{name}` has a source that moves; {nearest(name, builds)}")
    builds_to_update = set(builds if args.update == [] else args.update or ())
    updated = {name for name, source in sources.items() if not builds_to_update.isdisjoint(source.names)}
    # A published artifact stays what it is: of pinned sources only git is asked again, which costs little.
    asked_sources = {
        name: source
        for name, source in sources.items()
        if name not in lock.pins or name in updated or "git" in source.source
    }
    answers = resolve_all(asked_sources, lock.pins, current_site(), _print_progress)
    is_full_update = (args.update == [] or args.upgrade) and not args.scales
    unused = [name for name in lock.pins if name not in sources] if is_full_update else []
    versions = {**({} if is_full_update else lock.versions), **newest.releases}
    changes = _print_releases(lock, versions, newest.failed)
    _print_changes(lock, answers, updated, unused)
    if not args.scales and not unused:
        problems = Problems()
        lock_file.warn_of_unused(lock, sources, problems)
        if problems.items:
            print(format_problems(problems.items), file=sys.stderr)
    moved = {name: pin for name, pin in answers.moved.items() if name in updated}
    pins = {name: pin for name, pin in lock.pins.items() if name not in unused}
    pins |= {**answers.pinned, **moved}
    _write(spec, lock, pins, versions)
    lacking = sum(name not in pins for name in answers.failed)
    changes += len(answers.pinned) + len(moved) + len(unused)
    text = f"{counted(len(pins), 'source')} held, {changes or 'nothing'} changed"
    print(f"{lock_file.path(spec)}: {text}{f', {lacking} not held' if lacking else ''}")
    if answers.failed or newest.failed:
        return FAILED
    return PROBLEMS if answers.moved.keys() - moved.keys() else FINE


def add_outdated_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", help=SPEC_HELP)
    _add_scales(parser)
    add_site(parser)


def run_outdated(args: argparse.Namespace) -> int:
    plans, _ = _compile_scales(args)
    builds = {build.id: build for plan in plans for build in plan.builds}.values()
    rows, is_failed = [("builds", "used", "newest", "", "registry")], False
    for outlook in outlooks(builds, current_site(), _print_progress):
        mark = "newer" if outlook.is_outdated else ""
        rows.append((", ".join(outlook.builds), outlook.used, outlook.newest or "-", mark, outlook.registry))
        if outlook.failure:
            print(f"{outlook.registry}: {outlook.failure}", file=sys.stderr)
            is_failed = True
    print("\n".join(aligned(rows, "")))
    return FAILED if is_failed else FINE


def _print_progress(name: str) -> None:
    print(f"{name} …", file=sys.stderr)


def _compile_scales(args: argparse.Namespace, renew: bool = False) -> tuple[Sequence[Plan], ReleaseAnswers]:
    """Compile the spec at all of its scales, or at the chosen ones. `renew`: ask again for newest releases."""
    problems, plans = Problems(), []
    for problem in use_site(args):
        problems.append(problem)
    spec, facts = host_plan.spec_name(args.spec), host_plan.host_facts(host_plan.store())
    newest = ReleaseAnswers(current_site(), renew=renew, report=_print_progress)
    context = CompileContext(
        differs=host_plan.stand_in_differences(current_site(), facts), ask_releases=unlimited()(newest.find)
    )
    for scale in args.scales or (None, *scales(spec)):
        try:
            with limited(args.spec):
                plans.append(compile_spec(spec, scale, facts, Problems(), context))
        except SpecError as error:
            for problem in error.problems:
                problems.append(problem)
    if problems.errors or not plans:
        raise spec_error(args.spec, problems.errors)
    return plans, newest


def _print_releases(lock: lock_file.Lock, versions: Mapping[str, lock_file.Releases], failed: Mapping[str, str]) -> int:
    """Print what became of the newest releases, and count the changes."""
    changes = [key for key in {**lock.versions, **versions} if lock.versions.get(key) != versions.get(key)]
    for key in changes:
        old, new = (", ".join(releases.get(key, ())) for releases in (lock.versions, versions))
        if not new:
            print(f"removed: {key}: no scale of the spec asks for it")
        else:
            print(f"moved: {key}: {old} -> {new}" if old else f"new: {key}: {new}")
    for key, reason in failed.items():
        print(f"{key} stays as it is held: {reason}", file=sys.stderr)
    return len(changes)


def _print_changes(lock: lock_file.Lock, answers: PinAnswers, updated: set[str], unused: Sequence[str]) -> None:
    for name, pin in answers.pinned.items():
        print(f"new: {name}: {_line(pin)}")
    for name, pin in answers.moved.items():
        if name in updated:
            print(f"moved: {name}: {_line(lock.pins[name])} -> {_line(pin)}")
        else:
            sentence = f"{name} is held to {_line(lock.pins[name])}, and is {_line(pin)} now"
            sentence += "; `--update` takes what it is now"
            print(f"{lock.at[name]}: {sentence}", file=sys.stderr)
    for name in unused:
        print(f"removed: {name}: no scale of the spec uses it")
    for name, reason in answers.failed.items():
        consequence = "stays as it is held" if name in lock.pins else "is not held"
        print(f"{name} {consequence}: {reason}", file=sys.stderr)


def _line(pin: str) -> str:
    """Shorten lines of libraries to their versions."""
    return ", ".join(line.partition(HASH)[0] for line in pin.splitlines())


def _write(
    spec: str, lock: lock_file.Lock, pins: Mapping[str, str], versions: Mapping[str, lock_file.Releases]
) -> None:
    file = lock_file.path(spec)
    if (pins, versions) == (lock.pins, lock.versions) and (file.is_file() or not pins):
        return
    try:
        write_lock(spec, pins, versions)
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error.strerror}", FAILED) from error
