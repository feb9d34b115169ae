"""stepgrid lock SPEC: asks sources what they are now, and holds them to it in the lock file beside the spec."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepgrid.build.pins import moving_sources, resolve_all
from stepgrid.cli.shared import spec_arguments
from stepgrid.host.files import write_text
from stepgrid.language import lock_file
from stepgrid.language.problems import Problem, Problems, SpecError, format_problems, nearest
from stepgrid.language.site import current_site
from stepgrid.model.plan import Plan
from stepgrid.model.units import counted
from stepgrid.plan.compilation import scales
from stepgrid.workflow import host_plan

if TYPE_CHECKING:
    from stepgrid.build.pins import Answers, MovingSource


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", help="a spec file, such as specs/quickstart.yaml")
    what = "update existing pins: all of them, or only those of these builds"
    parser.add_argument("--update", nargs="*", metavar="BUILD", help=what)
    what = "one of the spec's `scales`, may be repeated (default: the spec without a scale, and all of its scales)"
    parser.add_argument("--scale", dest="scales", action="append", metavar="NAME", help=what)
    spec_arguments.local(parser)


def run(args: argparse.Namespace) -> int:
    plans, problems = _plans(args)
    spec_arguments.tell(args.spec, plans[0] if plans else None, problems)
    if not plans:
        return 1
    job = _Job(args, plans[0].spec, moving_sources(plans), lock_file.read(plans[0].spec, Problems()))
    if wrong := job.unknown():
        print(wrong, file=sys.stderr)
        return 2
    return job.done()


def _plans(args: argparse.Namespace) -> tuple[Sequence[Plan], Sequence[Problem]]:
    """Of all that counts; none where something of it is wrong."""
    problems, plans = Problems(), []
    for problem in spec_arguments.wrong_site(args):
        problems.append(problem)
    for scale in args.scales or (None, *scales(host_plan.named(args.spec))):
        try:
            plans.append(host_plan.compiled(args.spec, scale, Problems()))
        except SpecError as error:
            for problem in error.problems:
                problems.append(problem)
    return ([] if problems.errors else plans), problems.errors


@dataclass(frozen=True, slots=True)
class _Job:
    args: argparse.Namespace
    spec: str
    wanted: Mapping[str, MovingSource]
    held: lock_file.Lock

    def unknown(self) -> str | None:
        """A build to update that there is not."""
        known = {name for each in self.wanted.values() for name in each.names}
        for name in self.args.update or ():
            if name not in known:
                return f"no build `{name}` has a source that moves; {nearest(name, known)}"
        return None

    def done(self) -> int:
        asked = {name: each for name, each in self.wanted.items() if self._is_asked(name, each)}
        answers = resolve_all(asked, self.held.pins, current_site(), lambda name: print(f"{name} …", file=sys.stderr))
        self._tell(answers)
        if not self._write(answers):
            return 3
        left = [name for name in answers.moved if not self._updates(name)]
        return 3 if answers.failed else 1 if left else 0

    def _is_asked(self, name: str, each: MovingSource) -> bool:
        """What is held is looked at where that costs little: a published artifact stays what it is."""
        return name not in self.held.pins or self._updates(name) or "git" in each.source

    def _updates(self, name: str) -> bool:
        given = self.args.update
        if given is None:
            return False
        return not given or not set(given).isdisjoint(self.wanted[name].names)

    def _dropped(self) -> list[str]:
        """What nothing uses any more goes when all is moved."""
        everything = self.args.update == [] and not self.args.scales
        return [name for name in self.held.pins if name not in self.wanted] if everything else []

    def _tell(self, answers: Answers) -> None:
        for name, now in answers.pinned.items():
            print(f"new: {name}: {now}")
        for name, now in answers.moved.items():
            was, place = self.held.pins[name], self.held.at[name]
            if self._updates(name):
                print(f"moved: {name}: {was} -> {now}")
            else:
                hint = "`--update` takes what it is now"
                print(f"{place}: {name} is held to {was}, and is {now} now; {hint}", file=sys.stderr)
        for name in self._dropped():
            print(f"removed: {name}: no scale of the spec uses it")
        for name, why in answers.failed.items():
            kept = "stays as it is held" if name in self.held.pins else "is not held"
            print(f"{name} {kept}: {why}", file=sys.stderr)
        self._warn_of_unused()

    def _warn_of_unused(self) -> None:
        problems = Problems()
        if not self.args.scales and not self._dropped():
            lock_file.warn_of_unused(self.held, self.wanted, problems)
        if problems.items:
            print(format_problems(problems.items), file=sys.stderr)

    def _write(self, answers: Answers) -> bool:
        """Whether the file holds what it is to hold."""
        moved = {name: now for name, now in answers.moved.items() if self._updates(name)}
        dropped = self._dropped()
        kept = {name: pin for name, pin in self.held.pins.items() if name not in dropped}
        pins = {**kept, **answers.pinned, **moved}
        file = lock_file.path(self.spec)
        if pins != self.held.pins or (pins and not file.is_file()):
            try:
                write_text(file.resolve(), lock_file.text(pins))
            except OSError as error:
                print(f"{file} cannot be written: {error.strerror}", file=sys.stderr)
                return False
        changed = len(answers.pinned) + len(moved) + len(dropped)
        lacking = sum(name not in pins for name in answers.failed)
        more = f", {lacking} not held" if lacking else ""
        print(f"{file}: {counted(len(pins), 'source')} held, {changed or 'nothing'} changed{more}")
        return True
