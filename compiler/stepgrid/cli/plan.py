"""stepgrid plan SPEC: the actions of a run and their reasons, answered from the store without Snakemake."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.cli.output import WIDTH
from stepgrid.cli.spec_arguments import add_spec, compile_spec, explain_words, print_warnings, spec_error
from stepgrid.errors import FINE
from stepgrid.host.terminal_output import cut, wrap
from stepgrid.language.site import current_site
from stepgrid.language.sources import network_sources
from stepgrid.model.plan import BUILD, MOST_LOADS
from stepgrid.model.status import Action, Status
from stepgrid.model.units import counted, duration, percent, size
from stepgrid.plan import difference, estimate
from stepgrid.plan.difference import Input
from stepgrid.plan.estimate import MADE_BY, Node, Preview, search_text
from stepgrid.run.status_lines import loads_so_far
from stepgrid.summarize import json_text
from stepgrid.summarize.formats import aligned
from stepgrid.workflow import host_plan
from stepgrid.workflow.run_preview import preview_run

SHOWN_STAGES = 5  # of a group
SHOWN_INPUTS = 6  # of a group's reason
MOST_MACHINES = 1000


def add_plan_arguments(parser: argparse.ArgumentParser) -> None:
    add_spec(parser)
    explain_words(parser, status=Status, action=Action)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people, or as a JSON object")
    parser.add_argument("--machines", metavar="N", type=_machine_count, help="what N equal machines would make of it")
    parser.add_argument("--gantt", metavar="FILE", type=Path, help="with --machines: write the chart as SVG")
    parser.add_argument("--budget", metavar="TIME", type=_seconds, help="which loads, runs and durations fit into 12h")
    parser.add_argument("--apply", action="store_true", help="with --budget: write the first of them into the spec")
    parser.add_argument("--all", action="store_true", help=f"list every stage, not only {SHOWN_STAGES} of a group")


def _machine_count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_MACHINES:
        raise argparse.ArgumentTypeError(f"wanted a number of machines, 1 to {MOST_MACHINES}")
    return int(text)


def _seconds(text: str) -> float:
    from stepgrid.model.units import UnitError, quantity

    try:
        return float(quantity(text, "duration"))
    except UnitError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run_plan(args: argparse.Namespace) -> int:
    plan, problems = compile_spec(args, on_builds=True)
    if plan is None:
        raise spec_error(args.spec, problems)
    if args.format == "text":
        print_warnings(args.spec, problems, args.all_warnings)
    preview = preview_run(plan, host_plan.store())
    if args.machines:
        from stepgrid.cli.plan_capacity import print_fleet

        print_fleet(args, preview)
    elif args.budget is not None:
        from stepgrid.cli.plan_capacity import print_choices

        print_choices(args, preview)
    elif args.format == "json":
        print(json_text.text(estimate.preview_json(preview)))
    else:
        print("\n".join(plan_lines(preview, None if args.all else SHOWN_STAGES)))
    return FINE


def plan_lines(preview: Preview, most: int | None) -> Iterator[str]:
    """Totals first, then what runs, grouped by reason; `most` stages of each group, None for all."""
    plan = preview.plan
    yield f"{plan.spec}{f' ({plan.scale})' if plan.scale else ''}: {plan.title}"
    yield from _totals(preview)
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
        yield from _group_lines(nodes, build_labels, most)


def _totals(preview: Preview) -> Iterator[str]:
    plan = preview.plan
    repeats = {len(cell.repeats) for cell in plan.cells}
    times = f" x {repeats.pop()} repeats" if len(repeats) == 1 and repeats != {1} else ""
    nodes = f"{counted(len(plan.builds), 'build')}, {counted(len(plan.stages), 'stage')}"
    yield _row("plan", f"{counted(len(plan.cells), 'cell')}{times}: {nodes}")
    for search in plan.searches:
        yield _row("search", search_text(search))
    if loads := loads_so_far(plan):
        yield _row("loads", loads)
    yield _row("to do", _remaining_work(preview))
    if preview.to_read:
        results = "1 result is" if preview.to_read == 1 else f"{preview.to_read} results are"
        yield _row("read", f"{results} read again from kept output, nothing is measured for it")
    if sources := _fetched_sources(preview):
        yield from wrap(", ".join(sources), _row("fetch", ""), _row("", ""), width=WIDTH)
    if preview.nodes:
        yield _row("status", _status_counts(preview.nodes))
    if preview.running:
        yield _row("disk", _disk_space(preview))
    if preview.saved >= 1:
        yield _row("sharing", f"saves {duration(preview.saved)} against running every cell from scratch")
    if preview.power is not None:
        yield _row("repeats", _needed_loads(preview))
    if preview.abandoned:
        yield _row("earlier", f"{counted(len(preview.abandoned), 'result')} of this spec no longer belong to it (kept)")


def _row(name: str, text: str) -> str:
    return f"  {name:8} {text}"


def _remaining_work(preview: Preview) -> str:
    if not preview.running:
        return "nothing"
    counts = {kind: sum(node.status.kind == kind for node in preview.running) for kind in ("build", "stage")}
    text = ", ".join(counted(count, kind) for kind, count in counts.items() if count)
    if not counts["stage"]:
        return text  # how long a build takes is not known
    if preview.seconds is None:
        return f"{text}, of unknown length"
    unknown = sum(node.seconds is None for node in preview.running if not node.status.is_build)
    suffix = f", and {counted(unknown, 'stage')} of unknown length" if unknown else ""
    return f"{text}: about {duration(preview.seconds)}{suffix}"


def _fetched_sources(preview: Preview) -> list[str]:
    """List what missing builds take from the network, each source once."""
    missing = {node.status.id for node in preview.running if node.status.is_build}
    mirror = current_site().mirror
    sources = {
        source: None for build in preview.plan.builds if build.id in missing for source in network_sources(build.source)
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
        return "no image and no build is added"
    if preview.bytes is None:
        return f"unknown: nothing like {'it' if unknown == 1 else 'these'} was made before"
    suffix = f", and {counted(unknown, 'image or build')} of unknown size" if unknown else ""
    return f"about {size(preview.bytes)} for images and builds{suffix}"


def _needed_loads(preview: Preview) -> str:
    """Say how many loads make a difference visible, and how many decide a verdict beyond the smallest effect."""
    power, effect = preview.power, preview.plan.report.smallest_effect
    assert power is not None
    noise = f"loads of a cell differ by {percent(power.spread)} ({power.step}); to see 3 % between two cells:"
    if power.loads > MOST_LOADS:
        return f"{noise} over {MOST_LOADS} loads, or longer steps"
    text = f"{noise} {power.loads} loads{'' if power.seconds is None else f', {duration(power.seconds)}'}"
    if not effect:
        return text
    loads = power.verdict
    number = "no number" if loads is None else f"over {MOST_LOADS}" if loads > MOST_LOADS else str(loads)
    return f"{text}; for a verdict beyond {percent(effect)}: {number}"


def _group_lines(nodes: Sequence[Node], build_labels: Mapping[str, Iterable[str]], most: int | None) -> Iterator[str]:
    first = nodes[0].status
    seconds = sum(node.seconds or 0.0 for node in nodes)
    takes = f", about {duration(seconds)}" if nodes[0].runs and seconds else ""
    title = f"{first.action} ({first.status}): {counted(len(nodes), first.kind)}{takes}"
    line = f"{title}: {first.because}" if first.because else title
    if len(line) <= WIDTH:
        yield line
    else:
        yield title
        yield from wrap(first.because, "    ", width=WIDTH)
    yield from _input_lines(nodes[0].inputs, None if most is None else SHOWN_INPUTS)
    listed = nodes if most is None or len(nodes) <= most + 1 else nodes[:most]
    rows = [
        (
            node.status.id,
            "" if node.seconds is None else duration(node.seconds),
            ", ".join(build_labels.get(node.status.id, (node.status.title,))),
        )
        for node in listed
    ]
    yield from (cut(line, WIDTH) for line in aligned(rows, right=[1]))
    if len(listed) < len(nodes):
        yield f"  … and {len(nodes) - len(listed):,} more (--all)"


def _input_lines(inputs: Sequence[Input], most: int | None) -> Iterator[str]:
    for change in inputs[:most]:
        yield f"    {difference.input_text(change)}{f' ({change.where})' if change.where else ''}"
    if most is not None and len(inputs) > most:
        yield f"    … and {len(inputs) - most:,} inputs more (--all)"
