"""A checked spec to its cells: each a build, labels, and the segments of steps between checkpoints. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stepgrid.expand import build_sources, builds, definitions, external_servers
from stepgrid.expand.axes import axis, unused_points
from stepgrid.expand.axes.axis import Axis
from stepgrid.expand.axes.choice import Choice
from stepgrid.expand.axes.step_range import StepRange
from stepgrid.expand.builds import Build
from stepgrid.expand.client_builds import Clients
from stepgrid.expand.expression_names import Names
from stepgrid.expand.grid import Also, Grid
from stepgrid.expand.hardware import Differs, Machines, stands_in_for_none
from stepgrid.expand.step_entry import Checkpoint, StepEntry
from stepgrid.expand.steps import collectors, probes, step_list
from stepgrid.expand.steps.evaluation import EvaluationContext
from stepgrid.expand.steps.files import AttachedFiles
from stepgrid.expand.steps.inputs import Inputs
from stepgrid.expand.steps.option_layers import Layers
from stepgrid.expand.steps.resolved_step import Segment
from stepgrid.expand.steps.segments import Sequences
from stepgrid.expand.unknown_params import UnknownParams, unknown_params
from stepgrid.language.problems import Location, Problems
from stepgrid.language.spec_file import Document
from stepgrid.language.yaml import Seq, Text, node_location


class Cell(NamedTuple):
    choice: Choice
    segments: tuple[Segment, ...]  # the steps between boundaries
    hardware: Mapping[str, Any]


class Expansion(NamedTuple):
    builds: Sequence[Build]  # that cells use, sources resolved
    clients: Sequence[Build]  # of steps, likewise
    axes: Sequence[Axis]
    changes: Mapping[str, tuple[str, ...] | None]  # axis -> the steps that it changes; None = all
    cells: Sequence[Cell]
    hardware: Mapping[str, Any]  # of the spec; a cell may have another


def expand(
    document: Document,
    host: Mapping[str, Any],
    problems: Problems,
    only: str | None = None,
    differs: Differs = stands_in_for_none,
) -> Expansion:
    """`only`: an expression that the cells must fulfil, beyond what the spec says.

    Where something is wrong, the cells lack the steps that are."""
    defined = definitions.gather(document, problems)
    machines = Machines(document, defined, host, problems, differs)
    every = builds.resolve(document, defined, problems)
    axes = axis.resolve(document, defined.options, problems)
    items = step_list.resolve(document, defined, problems)
    machines.learn(axes)
    chosen = axis.chosen_builds(document, every, problems)
    steps = [item for item in items if isinstance(item, StepEntry)]
    probes.check(document, steps, every, problems)
    collectors.check(document, steps, problems)
    if not chosen and not problems.errors:
        _no_builds(document, problems)
    if not (chosen and items):
        problems.stop_on_errors()
    sound = not problems.errors  # what follows from an earlier fault is not said as well
    reach, names = StepRange(axes, items, problems), Names(axes, machines)
    spec, whole = document.spec, document.nodes
    grid = Grid(chosen, every, axes, names, problems, whole.at.get("sweep", whole.where))
    wanted = Text(only, Location("--only", 1, 1)) if only else None
    choices = grid.choices(spec.exclude, _also(document), wanted, spec.repeat.highest * spec.repeat.runs)
    if not choices and sound and not problems.errors:
        _no_cells(document, wanted, problems)
    if sound and only is None and document.scale is None:  # what is for other cells, or for another scale, is no fault
        unused_points.warn(axes, choices, chosen, problems)
    unknown = _unknown(document, axes, items, defined)
    layers = Layers(defined.options, problems)
    clients = Clients(document, defined, problems)
    files = AttachedFiles(document, problems), Inputs(document, problems)
    ground = EvaluationContext(
        spec, whole.where, layers, names, problems, clients, *files, unknown.meant, unknown.misspelt
    )
    cells = list(_cells(choices, Sequences(choices, items, reach, ground), machines))
    made = [dict.fromkeys(choice.build for choice in choices), clients.used]
    used, brought = (build_sources.builds(each, names, problems) for each in made)
    unknown.report(problems)
    for cell in cells:
        external_servers.check(document, cell.choice, cell.segments, problems)
    if sound:
        if only is None:  # what is for the other cells is no fault of these
            ground.layers.report_unused()
        _finish(document, cells, problems)
    return Expansion(used, brought, axes, {each.name: reach.names(each) for each in axes}, cells, machines.base)


def _also(document: Document) -> list[Also]:
    listed = document.nodes.get("also")
    nodes = listed if isinstance(listed, Seq) else ()
    return [
        (said, node_location(node, document.nodes.where)) for said, node in zip(document.spec.also, nodes, strict=True)
    ]


def _cells(choices: Iterable[Choice], sequences: Sequences, machines: Machines) -> Iterator[Cell]:
    for choice in choices:
        segments = sequences.segments(choice)
        if segments:
            yield Cell(choice, segments, machines.of(point for point in choice.points if point is not None))


def _no_builds(document: Document, problems: Problems) -> None:
    where = document.nodes.at.get("builds", document.nodes.where)
    problems.add("no-builds", where, "no build is left to measure", "all of them are `abstract`", len("builds"))


def _unknown(
    document: Document,
    axes: Sequence[Axis],
    items: Sequence[StepEntry | Checkpoint],
    defined: definitions.ResolvedDefinitions,
) -> UnknownParams:
    if not all(item.name for item in items):  # the one that could not be read may take it
        return UnknownParams((), frozenset(), {})
    steps = [item for item in items if isinstance(item, StepEntry)]
    return unknown_params(document.spec, axes, steps, defined.options, document.nodes.where)


def _no_cells(document: Document, only: Text | None, problems: Problems) -> None:
    if only is not None:
        problems.add("empty-grid", only.where, "no cell is left", "`--only` holds for none of them")
        return
    where = document.nodes.at.get("sweep", document.nodes.where)
    hint = "`exclude` or the points' `when` leave nothing"
    problems.add("empty-grid", where, "the sweep has no cells", hint, len("sweep"))


def _finish(document: Document, cells: Sequence[Cell], problems: Problems) -> None:
    definitions.check_used(document, problems)
    if not cells and not problems.errors:
        problems.add("no-steps", document.nodes.where, "no step's `when` holds in any cell")
