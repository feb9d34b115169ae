"""stepgrid run SPEC: build, measure, collect and summarize what is missing; `snakemake --config spec=SPEC` in short."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from stepgrid.cli.failures import CommandError
from stepgrid.cli.output import check_gate, gate_status, read_gate
from stepgrid.cli.spec_arguments import (
    SPEC_HELP,
    add_gate,
    add_narrowing,
    add_strict,
    ask,
    narrowing,
    spec_error,
    use_site,
)
from stepgrid.errors import BUSY, FAILED, FINE, USAGE
from stepgrid.host.processes import signals
from stepgrid.language.site import current_site
from stepgrid.model.plan import Plan
from stepgrid.package import PROFILES
from stepgrid.pipeline import remaining_work
from stepgrid.workflow import host_plan

if TYPE_CHECKING:
    from stepgrid.summarize.gate import Gate
    from stepgrid.workflow.remaining_work import RemainingWork

RULES = ("build", "run", "summarize", "all")


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    parser.allow_abbrev = False  # an option of Snakemake's may begin as one of these
    parser.set_defaults(more=[])
    parser.epilog = "Any other option is Snakemake's."
    parser.add_argument("spec", metavar="SPEC", help=SPEC_HELP)
    add_narrowing(parser)
    parser.add_argument("-n", "--dry-run", action="store_true", help="show the jobs, run none")
    parser.add_argument("--on", choices=("slurm",), help="measure on the nodes that the site file's `slurm` names")
    parser.add_argument(
        "--no-wait",
        action="store_true",
        help="start nothing while another run goes on, here or on this host (exit status 5)",
    )
    add_strict(parser)
    add_gate(parser)
    parser.add_argument(
        "--until",
        metavar="TIME",
        action="append",
        default=[],
        help="start no stage that would end later: in 6h, or after 07:30 (a rule's name is for Snakemake's --until)",
    )


def run_run(args: argparse.Namespace) -> int:
    signals.exit_on_signals(FAILED)
    end_time, rules = _separate_until(args.until)
    args.more += ["--until", *rules] if rules else []
    snakemake_words = args.more
    if problems := use_site(args):
        raise spec_error(problems[0].where.file, problems)
    if args.more:
        _check_words(args.more)
    if args.on:
        _check_cluster()
        snakemake_words = ["--profile", str(PROFILES / args.on), *snakemake_words]
    if args.all_warnings:
        os.environ[host_plan.ALL_WARNINGS] = "1"
    values = {"spec": args.spec, "scale": args.scale or None, "until": end_time, **narrowing(args)}
    request = {name: value for name, value in values.items() if value is not None}
    request |= {"no_wait": True} if args.no_wait else {}
    gate = read_gate(args) if args.fail_on or args.smallest_effect else None  # its verdicts import numpy
    work = _remaining_work(request, args)
    if gate is not None:
        check_gate(gate, work.plan)
    if work.is_over and not args.more:
        print(work.nothing_to_do)
        return _gate_status(work.plan, args, gate)
    if args.dry_run and not snakemake_words:  # Snakemake's graph of 50,000 jobs takes a gigabyte
        print("\n".join(work.jobs))
        return FINE
    status = _run_snakemake(request, args, snakemake_words)
    return status if status != FINE else _gate_status(work.plan, args, gate)


def _remaining_work(request: Mapping[str, object], args: argparse.Namespace) -> RemainingWork:
    """Compile the spec; where all that is wrong is that git does not ignore outputs/, offer to write the line."""
    from stepgrid.workflow.run_request import Refusal

    try:
        return remaining_work(request, args.dry_run, bool(args.on))
    except Refusal as fault:
        from stepgrid.build.pins import IGNORE_HINT, IGNORE_LINE

        errors = [problem for problem in fault.problems if problem.severity == "error"]
        if args.dry_run or not errors or not all(problem.hint.startswith(IGNORE_HINT) for problem in errors):
            raise
        if not ask(errors[0].message, f"add the line `{IGNORE_LINE}` to {Path('.gitignore').absolute()}?"):
            raise
    descriptor = os.open(".gitignore", os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    with open(descriptor, "r+", encoding="utf-8") as file:  # noqa: PTH123 - no link is followed
        text = file.read()
        file.write(f"{IGNORE_LINE}\n" if text.endswith("\n") or not text else f"\n{IGNORE_LINE}\n")
    return remaining_work(request, args.dry_run, bool(args.on))


def _separate_until(values: Sequence[str]) -> tuple[str | None, list[str]]:
    """Tell a time from rules, which are left to Snakemake.

    Any other value is refused: Snakemake would search for it among its files."""
    from stepgrid.run.end_time import EXPECTED, parse_end_time

    times = [value for value in values if parse_end_time(value, 0.0) is not None]
    rules = [value for value in values if value not in times]
    for value in rules:
        if value not in RULES:
            raise CommandError(f"--until: expected {EXPECTED}; or a rule: {', '.join(RULES)}; found `{value}`")
    return times[-1] if times else None, rules


def _check_words(words: Sequence[str]) -> None:
    """Refuse what no option of this command or of Snakemake is, without the page that Snakemake prints of its own."""
    from difflib import get_close_matches

    from snakemake.cli import get_argument_parser, parse_config
    from snakemake.exceptions import CliException

    def refuse(message: str) -> NoReturn:
        raise CommandError(f"an option of Snakemake's: {message}")

    parser_of_run, parser = argparse.ArgumentParser(), get_argument_parser()
    add_run_arguments(parser_of_run)
    parser.error = refuse
    try:
        values, unknown = parser.parse_known_args(words)
        parse_config(values.config)
    except (CliException, ValueError) as error:  # of Snakemake's own readers of values
        refuse(str(error))
    for word in unknown:
        options = re.findall(r"--[\w-]+", parser_of_run.format_usage() + parser.format_usage())
        close = get_close_matches(word.partition("=")[0], options, n=1, cutoff=0.7)
        hint = f"did you mean `{close[0]}`?" if close else "`stepgrid run -h` lists those of stepgrid"
        raise CommandError(f"neither stepgrid run nor Snakemake has an option `{word}`: {hint}")


def _check_cluster() -> None:
    from importlib.util import find_spec

    if find_spec("snakemake_executor_plugin_slurm") is None:
        raise CommandError("--on slurm: Snakemake's plug-in is not installed: pip install 'stepgrid[slurm]'")
    site = current_site()
    if site.slurm is None:
        owner = f"the site file {site.path} has" if site.path else "there is"
        raise CommandError(f"--on slurm: {owner} no `slurm` that names the nodes (docs/guides/machines.md)")


def _gate_status(plan: Plan, args: argparse.Namespace, gate: Gate | None) -> int:
    """Judge comparisons and claims after a run that ended well, if `--fail-on` or `--strict` asks for it."""
    if (args.strict is None and not (gate and gate.conditions)) or args.dry_run:
        return FINE
    from stepgrid.summarize.gate import NO_GATE
    from stepgrid.summarize.report_files import current_report

    return gate_status(current_report(host_plan.store(), plan), gate or NO_GATE, args.strict)


def _run_snakemake(request: Mapping[str, object], args: argparse.Namespace, words: Sequence[str]) -> int:
    """Run Snakemake in this process, so that it has the signals, and its exit status differs from a spec's problem."""
    from stepgrid.workflow import snakemake

    config = request if args.site is None else {**request, "site": args.site}
    try:
        if not words:
            return FINE if snakemake.execute(config) else FAILED
        status = snakemake.run_command_line(config_words(config), ["--dry-run", *words] if args.dry_run else words)
    except (SystemExit, KeyboardInterrupt) as end:
        status = getattr(end, "code", FAILED)
        return BUSY if status == BUSY else FAILED if status else FINE
    if status in (FINE, BUSY):
        return status
    is_snakefile_read = "stepgrid.workflow.hooks" in sys.modules
    return FAILED if is_snakefile_read else USAGE


def config_words(config: Mapping[str, object]) -> list[str]:
    """Return the words of Snakemake's --config, quoted so that it hands texts on to `plan_request` unchanged."""
    from stepgrid.workflow.run_request import quote_texts

    texts: dict[str, Any] = {"only": [config.get("only")], "set": config.get("set")}
    return [f"{name}={quote_texts(texts[name]) if name in texts else value}" for name, value in config.items()]
