"""stepgrid check SPEC …: compile specs within limits of memory and time, show every problem, and try samples."""

from __future__ import annotations

import argparse
import json
import math
import shlex
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from stepgrid.cli.failures import CommandError
from stepgrid.cli.spec_arguments import add_narrowing, check_scales, compile_spec, print_warnings, spec_error
from stepgrid.errors import FINE, PROBLEMS
from stepgrid.host.limits import limited
from stepgrid.host.terminal_output import folded
from stepgrid.language.lock_file import spec_path
from stepgrid.language.problems import Problem, format_annotation, nearest, problem_record
from stepgrid.language.site import current_site
from stepgrid.model.plan import BUILD, Plan, PlannedStep, design_text
from stepgrid.model.units import counted, duration
from stepgrid.plugins.driver import OutputReader, SampleFigure
from stepgrid.plugins.registry import DESIGNS, driver, read_settings
from stepgrid.summarize import formats

LARGE_GRID, LONG_RUN = 100, 7200.0  # cells, and seconds of measuring, from which `check` proposes a design


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("specs", nargs="+", metavar="SPEC", help="spec files")
    add_narrowing(parser)
    parser.add_argument(
        "--format",
        choices=("text", "json", "github"),
        default="text",
        help="the output format: for people, a JSON list, or annotations of a pull request",
    )
    parser.add_argument(
        "--try",
        dest="samples",
        metavar="[STEP=]FILE",
        action="append",
        default=[],
        help="show what each metric would be in a sample of a step's output (a folder: its stdout, stderr and files)",
    )


def run_check(args: argparse.Namespace) -> int:
    with limited(", ".join(args.specs)):
        return _check(args)


def _check(args: argparse.Namespace) -> int:
    plans: list[Plan | None] = []
    all_problems: dict[Problem, None] = {}  # a fault of a library is one problem, however many specs include it
    for spec in dict.fromkeys(map(spec_path, args.specs)):
        plan, problems = compile_spec(args, spec, on_builds=True)
        if args.scale is None:
            problems = check_scales(args, spec, plan, problems)
            plan = None if any(problem.severity == "error" for problem in problems) else plan
        plans.append(plan)
        all_problems.update(dict.fromkeys(problems))
        if args.format == "text" and plan is None:
            print(folded(str(spec_error(spec, problems)), sys.stderr), file=sys.stderr)
        elif args.format == "text":
            print_warnings(spec, problems)
    if args.format == "json":
        print(formats.json_text([problem_record(problem) for problem in all_problems]))
        return FINE if all(plans) else PROBLEMS
    if args.format == "github":
        print("".join(f"{format_annotation(problem)}\n" for problem in all_problems), end="")
    for plan in filter(None, plans):
        lines = [f"{plan.spec}: fine; {plan_size(plan)}", *_design_lines(args, plan), *_host_lines(plan)]
        print(folded("\n".join(lines), sys.stdout))
    samples = [try_sample(plan, sample) for plan in filter(None, plans) for sample in args.samples]
    return FINE if all(plans) and all(samples) else PROBLEMS


def plan_size(plan: Plan) -> str:
    """4 cells, 2 builds, 6 stages; about 4m02s of measuring"""
    counts = ((len(plan.cells), "cell"), (len(plan.builds), "build"), (len(plan.stages), "stage"))
    text = ", ".join(counted(count, name) for count, name in counts)
    from stepgrid.run.status_lines import load_limits, time_left
    from stepgrid.store.status import StatusReader
    from stepgrid.workflow import host_plan

    reader = StatusReader(host_plan.store(), plan)
    first = reader.estimate_stages(plan.stages)
    text += f"; about {time_left(first)} of measuring"
    if plan.tune is not None:
        budget = "" if plan.tune.budget is None else f", {duration(plan.tune.budget)} with the search (`budget`)"
        return f"{text} at first{budget}"
    if plan.until is None:
        return text

    within = math.inf if plan.until.within is None else plan.until.within
    most = reader.estimate_stages(stage for stage in plan.stages if not stage.load).share(plan.until.most)
    if first.ends[0] > within:
        return f"{text}, longer than `within`: nothing is added to the first loads ({load_limits(plan.until)})"
    return f"{text}{'' if most.ends[1] > within else f', at most {time_left(most)}'} ({load_limits(plan.until)})"


def _design_lines(args: argparse.Namespace, plan: Plan) -> Iterator[str]:
    """Say what the plan's design is, or propose designs of a large grid, with what each would take."""
    if plan.design is not None:
        yield "; ".join((f"design {design_text(plan)}", *plan.design.notes))
    elif len(plan.cells) >= LARGE_GRID and sum(stage.seconds for stage in plan.stages) >= LONG_RUN:
        yield "a design measures a part of this grid (docs/guides/tune.md):"
        for name in DESIGNS.names():
            number = DESIGNS.get(name).proposed
            sets = [*args.sets, f"design={name}" if number is None else f"design.{name}={number}"]
            design, _ = compile_spec(argparse.Namespace(**{**vars(args), "sets": sets}), plan.spec)
            if design is not None and len(design.cells) < len(plan.cells):
                yield f"  design: {name if number is None else f'{{{name}: {number}}}'}: {plan_size(design)}"


def _host_lines(plan: Plan) -> Iterator[str]:
    """Say which builds are unchecked or cannot be made on this host, and propose a placement."""
    from stepgrid.workflow import host_plan, missing_tools

    store = host_plan.store()
    builds = host_plan.unchecked_builds(plan, store)
    if count := len(builds):
        scale = ["--scale", plan.scale] if plan.scale else []
        command = shlex.join(["stepgrid", "builds", plan.spec, *scale, "--yes"])
        verb = "it is" if count == 1 else "they are"
        sources = dict.fromkeys(" ".join(source) for build in builds for source in missing_tools.build_downloads(build))
        fetched = f"; this fetches {', '.join(sources)}" if sources else ""
        yield f"options of {counted(count, 'build')} are unchecked until {verb} made: `{command}`{fetched}"
    yield from missing_tools.missing_clients(plan, store, current_site())
    if text := missing_tools.placement(plan):
        yield f"{text}; {missing_tools.launch_line()} keeps both on one"


# Samples: the output of a step, read as that of its runs will be.

ReadingSteps: TypeAlias = Mapping[str, Mapping[str, tuple[PlannedStep, list[str]]]]  # step -> way of reading -> builds


def try_sample(plan: Plan, argument: str) -> bool:
    """Print what each declared metric of a step would be, in each way that builds read it; tell if none is missing."""
    steps = _reading_steps(plan)
    name, path = _split_sample(steps, argument)
    is_complete = True
    with tempfile.TemporaryDirectory(prefix="stepgrid-try-") as temporary:
        folder = _lay_out_sample(path, Path(temporary))
        for step, builds in steps[name].values():
            reader = driver(step.kind)
            assert isinstance(reader, OutputReader)
            figures = list(reader.read_sample(folder, step.settings))
            owner = f" of {', '.join(builds)}" if len(steps[name]) > 1 else ""
            print(f"{path} as the output of {name}{owner}:")
            print("\n".join(line for figure in figures for line in _sample_lines(figure)))
            is_complete = is_complete and not any(figure.fault for figure in figures)
    return is_complete


def _reading_steps(plan: Plan) -> ReadingSteps:
    """Index the steps that declare what is read of their output."""
    stages = {stage.id: stage for stage in plan.stages}
    steps: dict[str, dict[str, tuple[PlannedStep, list[str]]]] = {}
    for cell in plan.cells:
        for step in (step for stage in cell.repeats[0].stages for step in stages[stage].steps):
            readings = read_settings(step)
            if any(readings.values()):
                key = json.dumps(readings, sort_keys=True)
                builds = steps.setdefault(step.name, {}).setdefault(key, (step, []))[1]
                builds += [] if cell.labels[BUILD] in builds else [cell.labels[BUILD]]
    return steps


def _split_sample(steps: ReadingSteps, argument: str) -> tuple[str, Path]:
    """Split STEP=FILE; the step may be left out where one step alone declares metrics."""
    step, is_named, file = argument.partition("=")
    if not is_named or (step not in steps and Path(argument).exists()):
        step, file = "", argument
    fault = None
    if not steps:
        fault = "no step of the spec declares metrics or a series"
    elif not step and len(steps) > 1:
        fault = (
            f"several steps declare metrics ({', '.join(steps)}): say which, as in `--try {next(iter(steps))}={file}`"
        )
    elif step and step not in steps:
        fault = f"no step `{step}` declares metrics\n   = {nearest(step, steps)}"
    elif not Path(file).exists():
        fault = "there is no such file"
    if fault:
        raise CommandError(f"--try {argument}: {fault}")
    return step or next(iter(steps)), Path(file)


def _lay_out_sample(sample: Path, folder: Path) -> Path:
    """Return the folder of a step; a file stands for stdout, and for a file of its name that a metric is read from."""
    if sample.is_dir():
        return sample
    content = sample.read_bytes()  # once: it may be a pipe
    for name in {"stdout", sample.name}:
        (folder / name).write_bytes(content)
    return folder


def _sample_lines(figure: SampleFigure) -> Iterator[str]:
    if figure.figure is None:
        yield f"  {figure.name}: no figure: {figure.fault}"
    else:
        yield f"  {figure.name}: {figure.figure:,.10g} {figure.unit}".rstrip()
    if figure.nearest:
        yield f"    the nearest line: {figure.nearest.strip()}"
