"""Arguments that name a spec, its cells and results, and the plan, cells and stages that they stand for.

Functions that return a plan raise `CommandError` with all problems of the spec if it has none.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from stepgrid import pipeline
from stepgrid.cli.commands import COMMON_OPTIONS, SITE
from stepgrid.cli.failures import CommandError
from stepgrid.errors import CLAIM_FAILED, PROBLEMS
from stepgrid.host.terminal_output import folded
from stepgrid.language.problems import Problem, Problems, SpecError, count_problems, format_problems, nearest
from stepgrid.language.site import current_site
from stepgrid.model.plan import Plan, PlannedCell
from stepgrid.model.records import Json
from stepgrid.model.status import StatusWord
from stepgrid.model.units import UnitError, quantity
from stepgrid.plan import actions
from stepgrid.store import plans
from stepgrid.store.plans import Request
from stepgrid.workflow import host_plan

SPEC_HELP = "a spec file, such as specs/quickstart.yaml"
RESULTS_HELP = "a spec, a plan (`stepgrid plans`), either with @DATE, or a file that `stepgrid export` wrote"
FAILS, UNDECIDED = "fails", "undecided"  # results of claims, and words of `--strict`
_DIGEST = re.compile(r"[0-9a-f]{20}")


def add_spec(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", help=SPEC_HELP)
    add_narrowing(parser)


def add_cells(parser: argparse.ArgumentParser, cells: str) -> None:
    parser.add_argument("spec", metavar="SPEC", help=SPEC_HELP)
    parser.add_argument("cells", nargs="*", metavar="CELL", help=cells)
    add_narrowing(parser)


def add_narrowing(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose a scale, some of the cells, and other values."""
    for option in COMMON_OPTIONS:
        option.add_to(parser)


def add_site(parser: argparse.ArgumentParser) -> None:
    SITE.add_to(parser)


def add_strict(parser: argparse.ArgumentParser) -> None:
    """Add two options without a value: with an optional one, `--strict SPEC` would take the spec for it."""
    parser.add_argument(
        "--strict",
        action="store_const",
        const=FAILS,
        help=f"end with status {CLAIM_FAILED} when a claim of the spec fails",
    )
    parser.add_argument(
        "--strict=undecided",
        dest="strict",
        action="store_const",
        const=UNDECIDED,
        help=f"end with status {CLAIM_FAILED} also when a claim is undecided",
    )


def add_gate(parser: argparse.ArgumentParser, effect: str = "what --fail-on counts as a difference") -> None:
    parser.add_argument(
        "--fail-on", metavar="RESULT[,STEP…]", action="append", default=[],
        help=f"end with status {CLAIM_FAILED} when a comparison (of these steps) is slower, different or undecided",
    )  # fmt: skip
    parser.add_argument(
        "--smallest-effect", metavar="SHARE[,STEP…]", action="append", default=[],
        help=f"{effect}, such as 5%%, in all steps or in these",
    )  # fmt: skip


def add_where(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--where",
        metavar="AXIS=LABEL",
        action="append",
        default=[],
        help="only cells with this label, of each side that has the axis; repeatable",
    )


def parse_quantity(text: str, dimension: str = "duration") -> float:
    """Parse the value of an option."""
    try:
        return float(quantity(text, dimension))
    except UnitError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def explain_words(parser: argparse.ArgumentParser, **kinds: Iterable[StatusWord]) -> None:
    """List in the help what the words of a command's output mean."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    lines = [f"{kind}:\n" + "".join(f"  {word:13}{word.meaning}\n" for word in words) for kind, words in kinds.items()]
    parser.epilog = "\n".join(lines)


def compile_spec(
    args: argparse.Namespace, spec: str | None = None, on_builds: bool = False
) -> tuple[Plan | None, Sequence[Problem]]:
    """Return the plan of a spec on this host, if it has one, and all problems.

    `on_builds`: ask its builds, too, whether they take their options."""
    problems = Problems()
    for problem in use_site(args):
        problems.append(problem)
    plan: Plan | None = None
    draft: Plan | None = None
    try:
        draft = plan = pipeline.compile_spec(spec_request(args, spec), problems)
        faults: Sequence[Problem] = problems.warnings
    except SpecError as error:
        draft, faults = error.draft, error.problems
    if draft is None or not on_builds:
        return plan, faults
    for problem in host_plan.build_problems(draft, host_plan.store()):  # `problems` has the faults
        problems.append(problem)
    return (None if problems.errors else plan), problems.items


def check_scales(
    args: argparse.Namespace, spec: str, plan: Plan | None, problems_of_spec: Sequence[Problem]
) -> Sequence[Problem]:
    """Add the problems of the spec's scales to its own."""
    from stepgrid.plan import assembly

    problems = Problems()
    for problem in problems_of_spec:
        problems.append(problem)
    store = host_plan.store()
    facts, judge = host_plan.host_facts(store), partial(host_plan.build_problems, store=store)
    full_plan = None if narrowing(args) else plan
    context = assembly.CompileContext(differs=host_plan.stand_in_differences(current_site(), facts), judge=judge)
    assembly.check_scales(host_plan.spec_name(spec), facts, problems, full_plan, context)
    return problems.items


def compiled_plan(args: argparse.Namespace) -> Plan:
    """Compile the command's spec, and print its warnings."""
    plan, problems = compile_spec(args)
    if plan is None:
        raise spec_error(args.spec, problems)
    print_warnings(args.spec, problems, args.all_warnings)
    return plan


def quiet_plan(args: argparse.Namespace, spec: str | None = None) -> Plan:
    """Compile a spec without its warnings, for a command that shows no new figures.

    Imported results have no spec: the digest of their plan names them."""
    name = spec or args.spec
    if _DIGEST.fullmatch(name) and not Path(name).exists():
        use_site(args)
        store = host_plan.store()
        if imported := plans.imported_plan(store, name):
            if narrowing(args) or args.scale is not None:
                words = "--scale, --only and --set are about a spec: results that were imported have none"
                raise CommandError(words, PROBLEMS)
            return imported
    plan, problems = compile_spec(args, name)
    if plan is None:
        raise spec_error(name, problems)
    return plan


def use_site(args: argparse.Namespace) -> Sequence[Problem]:
    """Read the command's site file, once, and return its problems."""
    if "site_problems" not in args:
        args.site_problems = host_plan.use_site_file(
            args.site, partial(ask, question="is it yours? use it from now on?")
        )
    problems: Sequence[Problem] = args.site_problems
    return problems


def ask(text: str, question: str) -> bool:
    """Ask at a terminal; anywhere else the answer is no."""
    if not sys.stdin.isatty():
        return False
    print(text, file=sys.stderr)
    return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")


def spec_error(spec: str, problems: Sequence[Problem]) -> CommandError:
    text = f"{format_problems(problems)}\n" if problems else ""
    return CommandError(f"{text}\n{spec}: {count_problems(problems)}", SpecError.status)


def warn_of_other_results(plan: Plan) -> None:
    """Name the folder that has results of a plan where this one has none."""
    if note := host_plan.other_results(plan):
        print(folded(note, sys.stderr), file=sys.stderr)


def print_warnings(spec: str, problems: Sequence[Problem], is_every: bool = True) -> None:
    """Print warnings; unless `is_every`, without those that were shown for this spec before today."""
    if not problems:
        return
    text = format_problems(problems)
    if not is_every:
        text = host_plan.warnings_once_a_day(host_plan.store(), spec, text)
    print(folded(text, sys.stderr), file=sys.stderr)


def narrowing(args: argparse.Namespace) -> dict[str, Json]:
    """Return --only and --set, as far as they are set, under the names that Snakemake's --config has for them."""
    values = {"only": args.only, "set": list(args.sets)}
    return {name: value for name, value in values.items() if value}


def spec_request(args: argparse.Namespace, spec: str | None = None) -> Request:
    return Request(spec or args.spec, args.scale, args.only, tuple(args.sets))


def select_cells(plan: Plan, names: Sequence[str]) -> list[PlannedCell]:
    """Return the named cells, or all if none is named."""
    return [select_cell(plan, name) for name in names] or list(plan.cells)


def select_cell(plan: Plan, name: str) -> PlannedCell:
    """Return the cell with this id, or the only one with these labels."""
    if "=" not in name:
        cells = [cell for cell in plan.cells if cell.id == name] or [c for c in plan.cells if c.id.startswith(name)]
        if len(cells) == 1:
            return cells[0]
        sentence = "more than one cell begins with" if cells else "there is no cell"
        axes = ",".join(f"{axis}={label}" for axis, label in plan.cells[0].labels.items())
        raise CommandError(f"{sentence} `{name}`: give a cell's id, or its labels, such as {axes}")
    cells = list(plan.cells)
    for part in name.split(","):
        axis, _, label = part.strip().partition("=")
        cells = _cells_with(plan, cells, axis.strip(), label.strip())
    if len(cells) > 1:
        values = {axis.name: {cell.labels.get(axis.name) for cell in cells} for axis in plan.axes}
        texts = (f"{name}={'|'.join(sorted(map(str, labels)))}" for name, labels in values.items() if len(labels) > 1)
        raise CommandError(f"{len(cells)} cells have {name}; add {', '.join(texts)}")
    return cells[0]


def _cells_with(plan: Plan, cells: Sequence[PlannedCell], axis: str, label: str) -> list[PlannedCell]:
    labels = {axis.name: axis.labels for axis in plan.axes}
    if axis not in labels:
        raise CommandError(f"there is no axis `{axis}`: {nearest(axis, labels)}")
    if label not in labels[axis]:
        raise CommandError(f"axis `{axis}` has no cell at `{label}`: {nearest(label, labels[axis])}")
    matches = [cell for cell in cells if cell.labels.get(axis) == label]
    if not matches:
        choices = ", ".join(sorted({cell.labels[axis] for cell in cells if axis in cell.labels})) or "none with it"
        raise CommandError(f"no cell has {axis}={label} together with the other labels; there is {choices}")
    return matches


def check_steps(plan: Plan, names: Sequence[str]) -> None:
    step_names = actions.step_names(plan)
    for name in names:
        if name not in step_names:
            raise CommandError(f"there is no step `{name}`: {nearest(name, step_names)}")
