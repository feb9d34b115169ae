"""stepgrid plan SPEC: the actions of a run and their reasons, answered from the store without Snakemake."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stepgrid.cli.output import WIDTH
from stepgrid.cli.spec_arguments import (
    add_spec,
    compile_spec,
    explain_words,
    print_warnings,
    spec_error,
    warn_of_other_results,
)
from stepgrid.errors import FINE
from stepgrid.host.terminal_output import cut, text_width, wrap
from stepgrid.language.site import current_site
from stepgrid.model.plan import BUILD, FINALISTS, MOST_LOADS, PlannedTune, design_text
from stepgrid.model.status import Action, Status
from stepgrid.model.units import counted, duration, percent, size
from stepgrid.plan import difference
from stepgrid.plan.difference import ChangedInput
from stepgrid.run.status_lines import loads_so_far, time_left
from stepgrid.summarize import formats
from stepgrid.summarize.formats import aligned
from stepgrid.workflow import host_plan
from stepgrid_inspect.preview import MADE_BY, Node, Preview, preview_json, preview_run, search_text

SHOWN_STAGES = 5  # of a group
SHOWN_INPUTS = 6  # of a group's reason
SHOWN_METRICS = 4  # of those that are read again


def add_plan_arguments(parser: argparse.ArgumentParser) -> None:
    add_spec(parser)
    explain_words(parser, status=Status, action=Action)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people, or as a JSON object")
    parser.add_argument(
        "--all", action="store_true", help=f"list everything, not only {SHOWN_STAGES} stages of a group"
    )
    parser.add_argument("--ids", action="store_true", help="list stages and builds with their ids")


def run_plan(args: argparse.Namespace) -> int:
    plan, problems = compile_spec(args, on_builds=True)
    if plan is None:
        raise spec_error(args.spec, problems)
    if args.format == "text":
        print_warnings(args.spec, problems, args.all_warnings)
    warn_of_other_results(plan)
    preview = preview_run(plan, host_plan.store())
    if args.format == "json":
        print(formats.json_text(preview_json(preview)))
    else:
        form = _Form(None if args.all else SHOWN_STAGES, args.ids, text_width(sys.stdout, WIDTH))
        print("\n".join(plan_lines(preview, form)))
    return FINE


class _Form(NamedTuple):
    most: int | None  # stages of a group; None for all
    with_ids: bool
    width: int  # columns


def plan_lines(preview: Preview, form: _Form) -> Iterator[str]:
    """Show totals, then what runs, grouped by reason."""
    plan = preview.plan
    yield from wrap(f"{plan.spec}{f' ({plan.scale})' if plan.scale else ''}: {plan.title}", "", "  ", form.width)
    for name, text in _totals(preview):
        yield from wrap(text, f"  {name:8} ", " " * 11, form.width)
    groups: dict[tuple[Any, ...], list[Node]] = {}
    for node in preview.nodes:
        if node.status.action is not Action.KEEP:
            inputs = tuple((change.field, repr(change.old), repr(change.new)) for change in node.inputs)
            reason = node.status.kind, node.status.action, node.status.status, node.status.because, inputs
            groups.setdefault(reason, []).append(node)
    build_labels: dict[str, dict[str, None]] = {}
    for cell in plan.cells:
        build_labels.setdefault(cell.build, {})[cell.labels[BUILD]] = None
    for nodes in groups.values():
        yield ""
        yield from _group_lines(nodes, build_labels, form)


def _totals(preview: Preview) -> Iterator[tuple[str, str]]:
    plan = preview.plan
    repeats = {len(cell.repeats) for cell in plan.cells}
    times = f" x {repeats.pop()} repeats" if len(repeats) == 1 and repeats != {1} else ""
    nodes = f"{counted(len(plan.builds), 'build')}, {counted(len(plan.stages), 'stage')}"
    yield "plan", f"{counted(len(plan.cells), 'cell')}{times}: {nodes}"
    if plan.design:
        yield "design", "; ".join((design_text(plan), *plan.design.notes))
    for search in plan.searches:
        yield "search", search_text(search)
    if plan.profile:
        yield "profile", _profile_cost(preview)
    if loads := loads_so_far(plan):
        yield "loads", f"{loads}{_budget(preview, plan.tune) if plan.tune else ''}"
    yield "to do", _remaining_work(preview)
    if preview.to_read:
        yield "read", _reading(preview)
    if sources := _fetched_sources(preview):
        yield "fetch", ", ".join(sources)
    if preview.nodes:
        yield "status", _status_counts(preview.nodes)
    if preview.running:
        yield "disk", _disk_space(preview)
    if preview.saved >= 1:
        yield "sharing", f"saves {duration(preview.saved)} against running every cell from scratch"
    if preview.power is not None:
        yield "repeats", _needed_loads(preview)
    if preview.abandoned:
        verb = "belongs" if len(preview.abandoned) == 1 else "belong"
        yield "earlier", f"{counted(len(preview.abandoned), 'result')} no longer {verb} to this spec (kept)"


def _profile_cost(preview: Preview) -> str:
    """Say what runs again under a profiler and how long that takes, at most where verdicts choose it."""
    plan = preview.plan
    assert plan.profile is not None
    seconds = {node.status.id: node.status.seconds or 0.0 for node in preview.nodes}
    count, takes = len(plan.profile.stages), sum(seconds[stage] for stage in plan.profile.stages.values())
    chosen = f"{counted(count, 'stage')} again under perf, {duration(takes)}" if count else "no stage so far"
    if not plan.profile.waits:
        return chosen
    measuring = {
        repeat.stages[step.stage]
        for cell in plan.cells
        for step in cell.steps
        if step.measured
        for repeat in cell.repeats
        if not repeat.run
    }
    most = f"at most {counted(len(measuring), 'stage')}, {duration(sum(seconds[stage] for stage in measuring))}"
    return f"{chosen}; steps that differ are profiled after the verdicts: {most}"


def _budget(preview: Preview, tune: PlannedTune) -> str:
    """, within 1h00m: 17 points take about 12m00s, fresh loads of 5 cells about 18m00s"""
    if tune.budget is None:
        return ""
    seconds = {node.status.id: node.status.seconds for node in preview.nodes}
    chains = [cell.repeats[0].stages for cell in preview.plan.cells]
    by_stage = {stage: seconds.get(stage) for chain in chains for stage in chain}
    tries = sum(once or 0.0 for once in by_stage.values())
    stages = {stage for chain in chains[: FINALISTS + 1] for stage in chain}  # those that they share run once
    fresh = tune.confirm * sum(by_stage[stage] or 0.0 for stage in stages)
    points = counted(len(chains), "point")
    if None in by_stage.values():
        return f", within {duration(tune.budget)} with the {points}, which take an unknown time"
    text = f", within {duration(tune.budget)}: {points} take about {duration(tries)}"
    text += f", fresh loads of {FINALISTS + 1} cells about {duration(fresh)}"
    return text if tries + fresh <= tune.budget else f"{text}; too little time: fewer cells are confirmed, or none"


def _reading(preview: Preview) -> str:
    """2 metrics are read again from kept output (p99, qps; 12 results)"""
    names, results = preview.metrics_to_read, counted(preview.to_read, "result")
    if not names:  # another parser reads them
        return f"{results} {'is' if preview.to_read == 1 else 'are'} read again from kept output"
    listed = ", ".join([*names[:SHOWN_METRICS], *(["…"] if len(names) > SHOWN_METRICS else [])])
    verb = "is" if len(names) == 1 else "are"
    return f"{counted(len(names), 'metric')} {verb} read again from kept output ({listed}; {results})"


def _remaining_work(preview: Preview) -> str:
    if not preview.running:
        return "nothing"
    builds = sum(node.status.is_build for node in preview.running)
    stages = [node for node in preview.running if not node.status.is_build]
    texts = [f"build: {builds}"] if builds else []
    if stages:
        unknown = sum(node.seconds is None for node in stages)
        takes = f", about {time_left(preview.time)}" if preview.seconds is not None else ", of unknown length"
        further = f", and {counted(unknown, 'stage')} of unknown length" if unknown and preview.seconds else ""
        texts.append(f"measure: {counted(len(stages), 'stage')}{takes}{further}")
    return "; ".join(texts)


def _fetched_sources(preview: Preview) -> list[str]:
    """List what missing builds take from the network, each source once."""
    from stepgrid.workflow.missing_tools import build_downloads

    missing = {node.status.id for node in preview.running if node.status.is_build}
    mirror = current_site().mirror
    sources = {
        source: None for build in preview.plan.builds if build.id in missing for source in build_downloads(build)
    }
    return [f"{kind} {name}{' (mirror)' if mirror(name) != name else ''}" for kind, name in sources]


def _status_counts(nodes: Sequence[Node]) -> str:
    counts = Counter(node.status.status for node in nodes)
    shared = sum(node.status.why.startswith(MADE_BY) for node in nodes)
    notes = {Status.DONE: f" ({shared:,} by another spec)" if shared else ""}
    return ", ".join(f"{counts[status]:,} {status}{notes.get(status, '')}" for status in Status if counts[status])


def _disk_space(preview: Preview) -> str:
    unknown = sum(node.bytes is None for node in preview.sized)
    if not preview.sized:
        return "no image or build is added"
    if preview.bytes is None:
        return "unknown: nothing similar was built or loaded before"
    suffix = f", and {counted(unknown, 'image or build')} of unknown size" if unknown else ""
    return f"about {size(preview.bytes)} for images and builds{suffix}"


def _needed_loads(preview: Preview) -> str:
    """Say how many loads make a difference visible, and how many decide a verdict beyond the smallest effect."""
    power, effect = preview.power, preview.plan.report.smallest_effect
    assert power is not None
    spread = f"loads differ by {percent(power.spread)} ({power.step})"
    if power.loads > MOST_LOADS:
        return f"{spread}: a difference of 3 % needs over {MOST_LOADS} loads, or longer steps"
    takes = "" if power.seconds is None else f" ({duration(power.seconds)})"
    text = f"{spread}: a difference of 3 % shows with {power.loads} loads{takes}"
    if not effect:
        return text
    loads = power.verdict
    number = "no number of" if loads is None else f"over {MOST_LOADS}" if loads > MOST_LOADS else str(loads)
    return f"{text}, a verdict beyond {percent(effect)} with {number} loads"


def _group_lines(nodes: Sequence[Node], build_labels: Mapping[str, Iterable[str]], form: _Form) -> Iterator[str]:
    first, most = nodes[0].status, form.most
    seconds = sum(node.seconds or 0.0 for node in nodes)
    takes = f", about {duration(seconds)}" if nodes[0].runs and seconds else ""
    is_new = first.action is Action.MEASURE and first.status is Status.MISSING
    word = "build" if is_new and first.is_build else str(first.action) if is_new else f"{first.action} ({first.status})"
    title = f"{word}: {len(nodes) if word == 'build' else counted(len(nodes), first.kind)}{takes}"
    line = f"{title}: {first.because}" if first.because else title
    if len(line) <= form.width:
        yield line
    else:
        yield title
        yield from wrap(first.because, "    ", width=form.width)
    yield from _input_lines(nodes[0].inputs, None if most is None else SHOWN_INPUTS)
    listed = nodes if most is None or len(nodes) <= most + 1 else nodes[:most]
    has_times = any(node.seconds is not None for node in listed)
    rows = [
        (
            *([node.status.id] if form.with_ids else []),
            *(["" if node.seconds is None else duration(node.seconds)] if has_times else []),
            ", ".join(build_labels.get(node.status.id, (node.status.title,))),
        )
        for node in listed
    ]
    right = [len(rows[0]) - 2] if has_times else []
    yield from (cut(line, form.width) for line in aligned(rows, right=right))
    if len(listed) < len(nodes):
        yield f"  … and {len(nodes) - len(listed):,} more (--all)"


def _input_lines(inputs: Sequence[ChangedInput], most: int | None) -> Iterator[str]:
    for change in inputs[:most]:
        yield f"    {difference.input_text(change)}{f' ({change.where})' if change.where else ''}"
    if most is not None and len(inputs) > most:
        yield f"    … and {len(inputs) - most:,} inputs more (--all)"
