"""stepgrid lock SPEC: pin what moves in a spec, in the lock file beside it; outdated SPEC: what is newer."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from stepgrid.build.error import BuildError
from stepgrid.build.pins import ReleaseAnswers, around_expression, list_releases, resolve, write_lock
from stepgrid.cli.failures import CommandError
from stepgrid.cli.spec_arguments import SPEC_HELP, add_site, spec_error, use_site
from stepgrid.errors import FAILED, FINE, PROBLEMS
from stepgrid.host.limits import limited, unlimited
from stepgrid.language import lock_file
from stepgrid.language.problems import Problems, SpecError, format_problems, nearest
from stepgrid.language.requirements import HASH
from stepgrid.language.scalars import Version
from stepgrid.language.site import current_site
from stepgrid.language.sources import (
    LISTED_KINDS,
    can_move,
    open_source,
    release_text,
    source_key,
    source_kind,
    source_parts,
)
from stepgrid.model.plan import LINK, Plan, PlannedBuild
from stepgrid.model.records import Json
from stepgrid.model.site import Site
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


# Sources that move, and what they are now


class MovingSource(NamedTuple):
    """A source that moves, one build of it, and the names of all its builds and of their families."""

    source: Mapping[str, Json]
    build: PlannedBuild
    names: Collection[str]


class PinAnswers(Struct, frozen=True):
    """Answers of the sources by their names in a lock file."""

    pinned: dict[str, str] = {}  # that were not held before
    moved: dict[str, str] = {}  # that are not what they are held to
    failed: dict[str, str] = {}  # that gave no answer, and why


def moving_sources(plans: Iterable[Plan]) -> dict[str, MovingSource]:
    sources: dict[str, MovingSource] = {}
    for plan in plans:
        for build in (build for build in plan.builds if LINK not in build.recipe):
            names = {build.name, *(cell.labels["build"] for cell in plan.cells if cell.build == build.id)}
            names |= {name.removesuffix(f"-{build.version}") for name in names}
            for source in filter(can_move, source_parts(build.source)):
                earlier = sources[source_key(source)].names if source_key(source) in sources else ()
                sources[source_key(source)] = MovingSource(source, build, {*earlier, *names})
    return dict(sorted(sources.items()))


def resolve_all(
    sources: Mapping[str, MovingSource], pins: Mapping[str, str], site: Site, report: Callable[[str], None]
) -> PinAnswers:
    """Ask sources what they are now; `report` gets the name of each before it is asked, which may take a while."""
    answers = PinAnswers()
    for name, moving in sources.items():
        report(name)
        try:
            current = resolve(moving.source, moving.build, site)
        except (BuildError, OSError) as error:
            answers.failed[name] = str(error)
            continue
        if name not in pins:
            answers.pinned[name] = current
        elif pins[name] != current:
            answers.moved[name] = current
    return answers


# Builds that a spec has, beside the newest release of their registry


class Outlook(NamedTuple):
    """Builds of one registry, the newest version that they use, and the newest that there is."""

    builds: Sequence[str]
    used: str
    newest: str  # empty: nobody lists any, or the registry failed
    registry: str
    failure: str = ""

    @property
    def is_outdated(self) -> bool:
        return bool(self.newest and self.used) and Version(self.newest) > self.used


def outlooks(builds: Iterable[PlannedBuild], site: Site, report: Callable[[str], None]) -> Iterator[Outlook]:
    """Ask the registry of each build for its newest release; `report` gets its name before."""
    groups: dict[str, list[PlannedBuild]] = {}
    for build in builds:
        groups.setdefault(source_key(_reopen(build)), []).append(build)
    for group in groups.values():
        source, newest, failure = _reopen(group[0]), "", ""
        kind, text = source_kind(source) or "", release_text(source)
        registry = source_key({key: source[key] for key in (kind, "suite") if key in source}).removesuffix(f":{text}")
        if kind in LISTED_KINDS and (not text or around_expression(text)):
            report(registry)
            try:
                newest = max(list_releases(source, site), key=Version, default="")
            except (BuildError, OSError) as error:
                failure = str(error)
        versions = {build.name: build.version for build in group}
        names = sorted(versions, key=lambda name: Version(versions[name]))
        used = versions[names[-1]]  # Debian's releases are series: 1.0 holds 1.0.20
        yield Outlook(names, used, used if used.startswith(f"{newest}.") else newest, registry, failure)


def _reopen(build: PlannedBuild) -> dict[str, Json]:
    """Leave the version of a resolved source open again: v{{ _ }}."""
    source, text = open_source(build.source), release_text(build.source)
    pattern = re.escape(build.version).replace(r"\.", "[._]")
    key = {"git": "ref", "maven": "maven"}.get(source_kind(source) or "", "version")
    if build.version and (match := re.search(rf"(?<!\d){pattern}(?!\d)", text)):
        opened = f"{text[: match.start()]}{{{{ _ }}}}{text[match.end() :]}"
        source[key] = f"{str(source[key]).removesuffix(text)}{opened}"
    return source
