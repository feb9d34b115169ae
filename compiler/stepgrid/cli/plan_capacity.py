"""stepgrid plan --machines and --budget: a plan on several machines, and the loads, runs and durations that fit."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from stepgrid.cli.failures import CommandError
from stepgrid.cli.output import write_output
from stepgrid.cli.spec_arguments import compile_spec, print_warnings, spec_error
from stepgrid.errors import PROBLEMS
from stepgrid.language import spec_file
from stepgrid.model.table import Cell, Column, Table
from stepgrid.model.units import UnitError, counted, duration, percent, quantity, size
from stepgrid.plan.estimate import Fleet, Placed, Preview, Schedule, estimate_fleet, fleet_json
from stepgrid.summarize import budget, formats
from stepgrid.summarize.budget import Choice, WidthForecast
from stepgrid.summarize.formats import text_table
from stepgrid.summarize.report_files import current_report
from stepgrid.workflow import host_plan

CHART_WIDTH = 72  # letters
BUILD, AGAIN, STAGE, IDLE = "░", "▒", "█", "·"
MOST_LINES = 64  # machines that are drawn
LABEL_WIDTH, BAR_HEIGHT, BARS_WIDTH = 90, 22, 900  # of the SVG, in pixels
COLOURS = {BUILD: "#b9c6d3", AGAIN: "#e0a458", STAGE: "#3b6ea5"}
DURATION = ("params", "duration")
HEADS = ("loads", "runs", "duration", "to measure", "images", "± typical", "± noisiest", "found")
NOTES = (
    "±: how far the 95 % interval of a ratio would reach",
    "found: the difference at the noisiest step that would have a verdict 4 times in 5",
)


def print_fleet(args: argparse.Namespace, preview: Preview) -> None:
    """Print how several machines would share the work; with `--gantt`, write it as SVG, too."""
    machines = estimate_fleet(preview, args.machines)
    if args.format == "json":
        print(formats.json_text(fleet_json(machines)))
    else:
        print("\n".join(_fleet_lines(machines)))
    if args.gantt:
        write_output(_svg(machines.schedule), args.gantt, args.replace)


def _fleet_lines(machines: Fleet) -> Iterator[str]:
    schedule = machines.schedule
    if not schedule.placed:
        yield "nothing to do"
        return
    times, alone = machines.faster, duration(machines.alone.seconds)
    takes = f"{counted(schedule.machines, 'machine')}: {duration(schedule.seconds)}"
    yield f"{takes}; one alone: {alone} ({times:.1f} times as long)"
    saved = schedule.seconds - machines.one_more.seconds
    groups = f"{counted(machines.groups, 'group')} of what is compared within a load; the shortest possible: "
    gain = f"one more saves {duration(saved)}" if saved >= 1 else "one more saves nothing"
    yield f"{groups}{duration(schedule.bound)}; {gain}"
    if schedule.again:
        stages = counted(len(schedule.again), "stage")
        seconds = sum(placed.job.seconds for placed in schedule.again)
        yield f"made again, as what is compared stays on one machine: {stages} ({duration(seconds)})"
    if machines.unknown:
        yield f"{counted(machines.unknown, 'build or stage')} of unknown length, taken for nothing"
    yield from _chart(schedule)


def _chart(schedule: Schedule) -> Iterator[str]:
    """Draw a line for each machine; a letter stands for a slice of time, and shows what takes most of it."""
    slice_seconds = schedule.seconds / CHART_WIDTH
    for machine in range(min(schedule.machines, MOST_LINES)):
        jobs = [placed for placed in schedule.placed if placed.machine == machine]
        yield f"{machine + 1:4} {''.join(_letter(jobs, index, slice_seconds) for index in range(CHART_WIDTH))}"
    if schedule.machines > MOST_LINES:
        yield f"     and {schedule.machines - MOST_LINES} more"
    yield f"     0{duration(schedule.seconds):>{CHART_WIDTH - 1}}"
    yield f"     {BUILD} builds  {STAGE} stages  {AGAIN} stages that are made on another machine, too  {IDLE} idle"


def _letter(jobs: Sequence[Placed], index: int, slice_seconds: float) -> str:
    seconds = dict.fromkeys((IDLE, BUILD, AGAIN, STAGE), 0.0)
    for job in jobs:
        overlap = min(job.end, (index + 1) * slice_seconds) - max(job.start, index * slice_seconds)
        seconds[_kind(job)] += max(0.0, overlap)
    seconds[IDLE] = max(0.0, slice_seconds - sum(seconds.values()))
    return max(seconds, key=seconds.__getitem__)


def _kind(placed: Placed) -> str:
    return BUILD if placed.job.is_build else AGAIN if placed.again else STAGE


def _svg(schedule: Schedule) -> str:
    """Draw the schedule; each bar has its title as a tooltip."""
    height, scale = BAR_HEIGHT * (schedule.machines + 2), BARS_WIDTH / (schedule.seconds or 1.0)
    bars = "\n".join(_bar(placed, scale) for placed in schedule.placed)
    names = "\n".join(
        f'<text x="4" y="{BAR_HEIGHT * machine + BAR_HEIGHT + 15}">machine {machine + 1}</text>'
        for machine in range(schedule.machines)
    )
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LABEL_WIDTH + BARS_WIDTH + 10} {height + 10}" \
font-family="sans-serif" font-size="12" role="img">
<title>{escape(f"{counted(schedule.machines, 'machine')}: {duration(schedule.seconds)}")}</title>
{names}
{bars}
<text x="{LABEL_WIDTH}" y="{height}">0</text>
<text x="{LABEL_WIDTH + BARS_WIDTH}" y="{height}" text-anchor="end">{duration(schedule.seconds)}</text>
</svg>
"""


def _bar(placed: Placed, scale: float) -> str:
    x, width = LABEL_WIDTH + placed.start * scale, max(placed.job.seconds * scale, 0.5)
    tooltip = escape(f"{placed.job.title}: {duration(placed.job.seconds)}, from {duration(placed.start)} on")
    box = f'x="{x:.1f}" y="{BAR_HEIGHT * placed.machine + BAR_HEIGHT}" width="{width:.1f}" height="{BAR_HEIGHT - 4}"'
    colour = COLOURS[_kind(placed)]
    return f'<rect {box} fill="{colour}" stroke="white" stroke-width="0.5"><title>{tooltip}</title></rect>'


def print_choices(args: argparse.Namespace, preview: Preview) -> None:
    """Print which loads, runs and durations fit into the budget; with `--apply`, write the first into the spec."""
    spec = Path(args.spec)
    seconds = _duration_of(spec)
    forecasts = budget.forecasts(current_report(host_plan.store(), preview.plan))
    costs = budget.costs(preview, seconds)
    if not forecasts or costs is None:
        sentence = "nothing to go by: at least two measured loads of an arm and its base"
        raise CommandError(f"{args.spec}: {sentence}", PROBLEMS)
    effect = preview.plan.report.smallest_effect
    affordable = budget.choices(forecasts, costs, args.budget, effect)
    if args.format == "json":
        print(formats.json_text([choice._asdict() for choice in affordable]))
    else:
        present = budget.choice(forecasts, costs, effect, (costs.loads, costs.runs, 1.0))
        print("\n".join(_choice_lines(affordable, present, forecasts, seconds)))
    if args.apply:
        if not affordable:
            raise CommandError(f"{spec}: nothing fits: not even two loads", PROBLEMS)
        _apply(args, spec, affordable[0], seconds)


def _duration_of(spec: Path) -> float | None:
    """Read the seconds of `params: {duration: …}`, if it is a plain value."""
    text = spec_file.get_value(spec.read_text(encoding="utf-8"), DURATION)
    try:
        return None if text is None else float(quantity(text, "duration"))
    except UnitError:
        return None


def _choice_lines(
    affordable: Sequence[Choice], present: Choice, forecasts: Sequence[WidthForecast], seconds: float | None
) -> Iterator[str]:
    widths = f"± {percent(present.typical)}, ± {percent(present.noisiest)} at the noisiest step"
    yield f"  now      {counted(present.loads, 'load')}, {counted(present.runs, 'run')} of each: {widths}"
    yield f"  noise    of the variance {_variance_shares(forecasts, present.runs)}"
    columns = tuple(Column(head) for head in HEADS)
    rows = tuple(tuple(map(Cell, _choice_row(choice, seconds))) for choice in affordable)
    yield ""
    yield from text_table(Table("what fits, the narrowest first", columns, rows, notes=NOTES)).splitlines()


def _variance_shares(forecasts: Sequence[WidthForecast], runs: int) -> str:
    """Split the variance of a load's ratio."""
    total = sum(forecast.parts.variance(runs, 1.0) for forecast in forecasts)
    parts = {
        "between loads": sum(forecast.parts.loads for forecast in forecasts),
        "between runs": sum(forecast.parts.runs for forecast in forecasts) / runs,
        "within a run": sum(forecast.parts.series for forecast in forecasts) / runs,
    }
    return ", ".join(f"{part / total:.0%} {name}".replace("%", " %") for name, part in parts.items())


def _choice_row(choice: Choice, seconds: float | None) -> tuple[str, ...]:
    length = "-" if seconds is None else duration(seconds * choice.longer)
    images = "-" if choice.bytes is None else size(choice.bytes) if choice.bytes else "0"
    widths = (percent(share) for share in (choice.typical, choice.noisiest, choice.difference))
    return (str(choice.loads), str(choice.runs), length, duration(choice.seconds), images, *widths)


def _apply(args: argparse.Namespace, spec: Path, choice: Choice, seconds: float | None) -> None:
    """Write the choice into the spec; restore the spec if that does not change its number of loads."""
    before = spec.read_text(encoding="utf-8")
    repeat = str(choice.loads) if choice.runs == 1 else f"{{loads: {choice.loads}, runs: {choice.runs}}}"
    text, change = spec_file.set_key(before, "repeat", repeat), f"wrote `repeat: {repeat}`"
    if seconds is not None and choice.longer != 1:
        length = seconds * choice.longer
        length_text = f"{length:g}s" if length % 60 else f"{length / 60:g}m"
        text = spec_file.replace_value(text, DURATION, length_text) or text
        change = f"{change}, `duration: {length_text}`"
    spec.write_text(text, encoding="utf-8")
    plan, problems = compile_spec(args)
    if plan is None or max(stage.load for stage in plan.stages) + 1 != choice.loads:
        spec.write_text(before, encoding="utf-8")
        sentence = f"{spec}: left as it was: something else than its `repeat` says how many loads there are"
        if plan is None:
            raise CommandError(f"{spec_error(args.spec, problems)}\n{sentence}", PROBLEMS)
        print_warnings(args.spec, problems)
        raise CommandError(sentence, PROBLEMS)
    print(f"{spec}: {change}")
