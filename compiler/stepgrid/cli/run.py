"""stepgrid run SPEC: the one-line shorthand of `snakemake --config spec=SPEC`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stepgrid.cli.shared import claim_gate, spec_arguments
from stepgrid.errors import FAILED, FINE, PROBLEMS, USAGE
from stepgrid.host import locks

if TYPE_CHECKING:
    from stepgrid.model.plan import Plan

RULES = ("build", "run", "collect", "summarize", "all")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", help="the file that describes the experiment")
    _options(parser)
    what = "start no stage that would end after 6h, or after 07:30 (other values are passed to Snakemake's --until)"
    parser.add_argument("--until", metavar="TIME", type=_time, help=what)
    more = parser.add_argument("more", nargs=argparse.REMAINDER, metavar="…", help="more arguments, for Snakemake")
    more.required = False  # else a missing spec is said to be "SPEC, …"


def run(args: argparse.Namespace) -> int:
    """Builds, measures, collects and summarizes what is not there yet."""
    from stepgrid.host.processes import signals

    signals.exit_on_signals(FAILED)
    args, more = _sorted(args)
    if wrong := _wrong_until(more):
        print(wrong, file=sys.stderr)
        return USAGE
    if problems := spec_arguments.wrong_site(args):
        spec_arguments.tell(problems[0].where.file, None, problems)
        return PROBLEMS
    if args.on and (lacking := _without_cluster()):
        print(lacking, file=sys.stderr)
        return USAGE
    return _run(args, more)


def _run(args: argparse.Namespace, more: Sequence[str]) -> int:
    from stepgrid.workflow import shown_warnings
    from stepgrid.workflow.run_request import Fault, work_of

    if args.all_warnings:
        os.environ[shown_warnings.ALL] = "1"
    values = {"spec": args.spec, "scale": args.scale, "until": args.until, **_narrowed(args)}
    request = {name: value for name, value in values.items() if value is not None}
    try:
        work = work_of(request, args.dry_run, bool(args.on))
    except Fault as fault:
        print(fault, file=sys.stderr)
        return fault.status
    if work.is_over and not more:
        print(work.nothing_to_do)
        return _gated(work.plan, args)
    if args.dry_run and not args.on and not more:  # Snakemake's graph of 50,000 jobs takes a gigabyte
        print("\n".join(work.jobs))
        return FINE
    if args.no_wait and not args.on and (users := locks.host_users_with_age()):
        print(f"the host is in use by {', '.join(users)}; `--no-wait`: nothing was started", file=sys.stderr)
        return FAILED
    status = _started(request, args, [*_profile(args), *more])
    return status if status != FINE else _gated(work.plan, args)


def _without_cluster() -> str:
    """What `--on slurm` needs and is not there."""
    from importlib.util import find_spec

    from stepgrid.language.site import current_site

    if find_spec("snakemake_executor_plugin_slurm") is None:
        return "--on slurm: Snakemake's plug-in is not installed: pip install 'stepgrid[slurm]'"
    site = current_site()
    if site.slurm is None:
        where = f"the site file {site.path} has" if site.path else "there is"
        return f"--on slurm: {where} no `slurm` that names the nodes (docs/machines.md)"
    return ""


def _profile(args: argparse.Namespace) -> list[str]:
    """Snakemake's words for it."""
    from stepgrid.model.package_data import PROFILES

    return ["--profile", str(PROFILES / args.on)] if args.on else []


def _gated(plan: Plan, args: argparse.Namespace) -> int:
    """Claims are judged when the run has ended well, and were asked for."""
    if args.strict is None or args.dry_run:
        return FINE
    from stepgrid.summarize.refresh import current
    from stepgrid.workflow import host_plan

    return claim_gate.status(current(host_plan.store(), plan), args.strict)


def config_of(args: argparse.Namespace) -> list[str]:
    """What Snakemake hands on to `work_of` as it was given, quotes and all."""
    from stepgrid.workflow import config_texts

    plain = {"spec": args.spec, "scale": args.scale or None, "site": args.site, "until": args.until}
    listed = {name: value if isinstance(value, list | tuple) else [value] for name, value in _narrowed(args).items()}
    return [
        *(f"{name}={value}" for name, value in plain.items() if value is not None),
        *(f"{name}={config_texts.written(value)}" for name, value in listed.items()),
    ]


def _options(parser: argparse.ArgumentParser) -> None:
    spec_arguments.narrowing(parser)
    parser.add_argument("-n", "--dry-run", action="store_true", help="show the jobs, run none")
    parser.add_argument("--on", choices=("slurm",), help="measure on the nodes that the site file's `slurm` names")
    parser.add_argument("--no-wait", action="store_true", help="start nothing while the host is in use by another run")
    claim_gate.arguments(parser)


def _sorted(args: argparse.Namespace) -> tuple[argparse.Namespace, list[str]]:
    """Our options are ours after the spec too, where argparse has left everything to `more`."""
    later = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    _options(later)
    until, rest = _until(args.more)
    own, more = later.parse_known_args(rest)
    own.until = until or args.until
    own.spec, own.scale, own.dry_run = args.spec, own.scale or args.scale, own.dry_run or args.dry_run
    own.only, own.sets = own.only or args.only, [*args.sets, *own.sets]
    own.site = own.site if own.site is not None else args.site
    own.all_warnings = own.all_warnings or args.all_warnings
    own.on = own.on or args.on
    own.strict, own.no_wait = own.strict or args.strict, own.no_wait or args.no_wait
    return own, [argument for argument in more if argument != "--"]


def _until(given: Sequence[str]) -> tuple[str | None, list[str]]:
    """Of what stands after the spec: our time, if it is one, and the rest. A rule's name is left to Snakemake."""
    rest, found = list(given), None
    for index in reversed(range(len(given))):
        name, equals, value = given[index].partition("=")
        value = value if equals else "".join(given[index + 1 : index + 2])
        if name == "--until" and _is_time(value):
            found = value
            del rest[index : index + (1 if equals else 2)]
    return found, rest


def _wrong_until(more: Sequence[str]) -> str | None:
    """Of a value that is neither a time nor a rule, which Snakemake would search for among its files."""
    from stepgrid.run.run_end_time import EXPECTED

    for given, after in zip(more, [*more[1:], ""], strict=False):
        name, equals, value = given.partition("=")
        if name == "--until" and (value if equals else after) not in RULES:
            found = value if equals else after
            return f"--until: expected {EXPECTED}; or a rule: {', '.join(RULES)}; found `{found}`"
    return None


def _time(text: str) -> str:
    from stepgrid.run.run_end_time import EXPECTED

    if not _is_time(text):
        raise argparse.ArgumentTypeError(f"expected {EXPECTED}, found {text!r}")
    return text


def _is_time(text: str) -> bool:
    from stepgrid.run.run_end_time import read

    return read(text, 0.0) is not None


def _narrowed(args: argparse.Namespace) -> dict[str, Any]:
    """--only and --set as Snakemake's --config names them."""
    given = spec_arguments.narrowed(args)
    return {"set" if name == "sets" else name: value for name, value in given.items()}


def _started(request: Mapping[str, Any], args: argparse.Namespace, more: Sequence[str]) -> int:
    """In this process: signals reach Snakemake itself, and its exit status can be told from a problem in the spec."""
    from stepgrid.workflow import snakemake_run

    config = request if args.site is None else {**request, "site": args.site}
    try:
        if not more:
            return FINE if snakemake_run.execute(config) else FAILED
        status = snakemake_run.command_line(config_of(args), ["--dry-run", *more] if args.dry_run else more)
    except (SystemExit, KeyboardInterrupt) as end:
        return FAILED if getattr(end, "code", True) else FINE
    refused = "stepgrid.workflow.snakemake_hooks" not in sys.modules  # the Snakefile was not read
    return (USAGE if refused else FAILED) if status else FINE
