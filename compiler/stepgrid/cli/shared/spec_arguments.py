"""What every command that takes a spec does first: its arguments, and the plan or the problems."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from stepgrid.language.problems import Problem, Problems, SpecError
from stepgrid.model.plan import Plan
from stepgrid.model.status import StatusWord

_DIGEST = re.compile(r"[0-9a-f]{20}")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", help="a spec file, such as specs/quickstart.yaml")
    narrowing(parser)


def narrowing(parser: argparse.ArgumentParser) -> None:
    """What is looked at: a scale, some of the cells, other values."""
    parser.add_argument("--scale", metavar="NAME", help="one of the spec's `scales`")
    parser.add_argument(
        "--only", metavar="EXPR", help="only the cells for which this holds, such as \"cache == 'lru'\""
    )
    parser.add_argument(
        "--set",
        dest="sets",
        metavar="PATH=VALUE",
        action="append",
        default=[],
        help="set a value, such as params.keys=1M",
    )
    what = "also the warnings that were shown for this spec before today"
    parser.add_argument("--all-warnings", action="store_true", help=what)
    local(parser)


def local(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--site", metavar="FILE", help="facts of this machine (default: site.yaml, if it exists)")


def with_words(parser: argparse.ArgumentParser, **kinds: Iterable[StatusWord]) -> None:
    """Help repeats what the words that a command says mean."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    lines = [f"{kind}:\n" + "".join(f"  {word:13}{word.meaning}\n" for word in words) for kind, words in kinds.items()]
    parser.epilog = "\n".join(lines)


def asked(
    args: argparse.Namespace, spec: str | None = None, on_builds: bool = False
) -> tuple[Plan | None, Sequence[Problem]]:
    """The plan of a spec on this host, if it has one, and everything that was found about it.

    `on_builds`: also what its builds would not take."""
    from stepgrid.workflow import catalogue_check, host_plan

    problems = Problems()
    for problem in wrong_site(args):
        problems.append(problem)
    plan: Plan | None = None
    draft: Plan | None = None
    try:
        draft = plan = host_plan.compiled(spec or args.spec, args.scale, problems, **narrowed(args))
        faults: Sequence[Problem] = problems.warnings
    except SpecError as error:
        draft, faults = error.draft, error.problems
    if draft is None or not on_builds:
        return plan, faults
    for problem in (*faults, *catalogue_check.problems(draft, host_plan.store())):
        problems.append(problem)
    return (None if problems.errors else plan), problems.items


def wrong_site(args: argparse.Namespace) -> Sequence[Problem]:
    """The command goes by its site file from here on; what is wrong with it, whoever asks first."""
    from stepgrid.workflow import host_plan

    if "wrong_site" not in args:
        args.wrong_site = host_plan.use(args.site)
    found: Sequence[Problem] = args.wrong_site
    return found


def with_scales(args: argparse.Namespace, spec: str, plan: Plan | None, found: Sequence[Problem]) -> Sequence[Problem]:
    """What was found, and what is wrong in the spec's scales."""
    from stepgrid.language.site import current_site
    from stepgrid.plan.compilation import check_scales
    from stepgrid.workflow import catalogue_check, host_plan

    problems = Problems()
    for problem in found:
        problems.append(problem)
    store = host_plan.store()
    facts, judge = host_plan.host(store), partial(catalogue_check.problems, store=store)
    whole = None if narrowed(args) else plan
    check_scales(host_plan.named(spec), facts, problems, host_plan.differing(current_site(), facts), whole, judge)
    return problems.items


def narrowed(args: argparse.Namespace) -> dict[str, Any]:
    """--only and --set, where they are given."""
    given = {"only": args.only, "sets": list(args.sets)}
    return {name: value for name, value in given.items() if value}


def narrowing_of(args: argparse.Namespace) -> list[str]:
    """The words of a command line that say the same spec, scale, cells and values."""
    options = {"--scale": args.scale, "--only": args.only, "--site": args.site}
    words = [word for name, value in options.items() if value is not None for word in (name, value)]
    return [args.spec, *words, *(word for value in args.sets for word in ("--set", value))]


def compiled(args: argparse.Namespace, spec: str | None = None) -> Plan | None:
    """The plan; None after the problems were printed. Warnings are printed too."""
    plan, problems = asked(args, spec)
    tell(spec or args.spec, plan, problems, args.all_warnings)
    return plan


def quietly(args: argparse.Namespace, spec: str) -> Plan | None:
    """As `compiled`, where nothing is measured: warnings are left to the commands that are about figures.

    Results that were imported have no spec: their plan's digest names them.
    """
    if (imported := _imported(args, spec)) is not None:
        return _whole(args, imported)
    plan, problems = asked(args, spec)
    tell(spec, plan, () if plan else problems)
    return plan


def _imported(args: argparse.Namespace, name: str) -> Plan | None:
    if not _DIGEST.fullmatch(name) or Path(name).exists():
        return None
    from stepgrid.transfer import published_plan
    from stepgrid.workflow import host_plan

    wrong_site(args)
    return published_plan.named(host_plan.store(), name) or published_plan.brought(host_plan.store(), name)


def _whole(args: argparse.Namespace, imported: Plan) -> Plan | None:
    if not narrowed(args) and args.scale is None:
        return imported
    print("--scale, --only and --set are about a spec: results that were imported have none", file=sys.stderr)
    return None


def tell(spec: str, plan: Plan | None, problems: Sequence[Problem], every: bool = True) -> None:
    """`every`: also the warnings that were shown before today."""
    from stepgrid.language.problems import count_problems, format_problems

    if problems:
        text = format_problems(problems)
        print(text if every or plan is None else _once_a_day(spec, text), file=sys.stderr)
    if plan is None:
        print(f"\n{spec}: {count_problems(problems)}", file=sys.stderr)


def _once_a_day(spec: str, text: str) -> str:
    from stepgrid.workflow import host_plan
    from stepgrid.workflow.shown_warnings import once_a_day

    return once_a_day(host_plan.store(), spec, text)
