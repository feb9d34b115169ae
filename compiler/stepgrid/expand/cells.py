"""Expansion of a checked spec to its cells: each a build, labels, and segments of steps between checkpoints. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from stepgrid.expand import axes, builds, checks, definitions, steps
from stepgrid.expand.axes import Axis, Choice
from stepgrid.expand.builds import Build, Families
from stepgrid.expand.clients import Clients
from stepgrid.expand.definitions import Differs, Machines, stands_in_for_none
from stepgrid.expand.evaluation import EvaluationContext, Segment, Sequences
from stepgrid.expand.grid import Also, DesignUse, Grid, Machine, Names
from stepgrid.expand.options import OptionSets
from stepgrid.expand.setup import SpecFiles
from stepgrid.expand.steps import StepEntry, StepRange
from stepgrid.language import expressions
from stepgrid.language.problems import Location, Problems
from stepgrid.language.spec_file import Document
from stepgrid.language.yaml import Seq, Text, node_location
from stepgrid.model.plan import PlannedDesign
from stepgrid.model.records import Json


class Cell(NamedTuple):
    choice: Choice
    segments: tuple[Segment, ...]  # the steps between boundaries
    hardware: Mapping[str, Json]


class Expansion(NamedTuple):
    builds: Sequence[Build]  # that cells use, sources resolved
    clients: Sequence[Build]  # of steps, likewise
    axes: Sequence[Axis]
    changes: Mapping[str, tuple[str, ...] | None]  # axis -> the steps that it changes; None = all
    cells: Sequence[Cell]
    hardware: Mapping[str, Json]  # of the spec; a cell may have another
    before_checkpoints: Mapping[str, frozenset[str]]  # checkpoint -> the steps before it
    build_names: Sequence[str]  # of the builds that are compared, also in cells that are left out
    design: PlannedDesign | None  # that chose the cells
    forbidden: Sequence[Mapping[str, str]]  # of a search: what `exclude` takes away, by the axes that it is about


def expand(
    document: Document,
    host: Mapping[str, Json],
    problems: Problems,
    only: str | None = None,
    differs: Differs = stands_in_for_none,
) -> Expansion:
    """Expand a spec; `only` is an expression that the cells must fulfil, beyond what the spec says.

    Cells lack the steps that have faults, which are reported."""
    defined = definitions.gather(document, problems)
    machines = Machines(document, defined, host, problems, differs)
    machine = {"hardware": Machine.of(machines.base, None)}
    document = document._replace(settle=lambda text: expressions.settle(text, machine))
    families = Families(document, defined, problems)
    all_builds = families.builds()
    swept = axes.resolve(document, defined.options, problems)
    entries = steps.resolve(document, defined, problems)
    names = Names(swept, machines)
    chosen = axes.chosen_builds(document, all_builds, problems)
    step_entries = [entry for entry in entries if isinstance(entry, StepEntry)]
    main_entries = [entry for entry in step_entries if entry.timing is None]
    checks.check_probes(document, main_entries, all_builds, problems)
    checks.check_collectors(document, main_entries, all_builds, problems)
    if not chosen and not problems.errors:
        where = document.nodes.at.get("builds", document.nodes.where)
        problems.add("no-builds", where, "no build is left to measure", "all of them are `abstract`", len("builds"))
    if not (chosen and entries):
        problems.stop_on_errors()
    sound = not problems.errors  # what follows from an earlier fault is not reported as well
    step_range = StepRange(swept, entries, problems)
    grid = Grid(chosen, all_builds, names, problems, _sweep_location(document))
    choices = _choices(document, grid, only, problems)
    if not choices and sound and not problems.errors:
        _report_no_choices(document, only, problems)
    if sound and only is None and document.scale is None:  # what is for other cells, or for another scale, is no fault
        checks.warn_unused_points(swept, choices, chosen, problems)
    unknown = checks.find_unknown_params(document, swept, entries, defined.options)
    sets, clients = OptionSets(defined.options, problems), Clients(families)
    context = EvaluationContext(
        spec=document.spec,
        where=document.nodes.where,
        sets=sets,
        names=names,
        problems=problems,
        clients=clients,
        files=SpecFiles(document, problems),
        shared_settings={},
        intended_settings=unknown.intended_settings,
        misspelt_params=unknown.misspelt,
    )
    sequences = Sequences(choices, entries, step_range, context)
    pairs = ((choice, sequences.segments(choice)) for choice in choices)
    cells = [Cell(choice, segments, names.machine(choice.points)) for choice, segments in pairs if segments]
    segment_checks = checks.SegmentChecks(entries, problems)
    for cell in cells:
        segment_checks.check(cell.choice, cell.segments)
    used = dict.fromkeys(choice.build for choice in choices)
    used_builds = builds.resolve_sources(used, names.of_build, document.path, problems)
    client_builds = builds.resolve_sources(clients.builds, names.of_build, document.path, problems)
    checks.check_local_programs([*used_builds, *client_builds], document.path, problems)
    unknown.report(problems)
    if sound and only is None and document.scale is None:
        segments = (segment for cell in cells for segment in cell.segments)
        checks.warn_overridden_params(unknown.only_settings, step_entries, segments, problems)
    entries_by_name = {entry.name: entry for entry in step_entries}
    for cell in cells:
        checks.check_running_server(document, cell.choice, cell.segments, problems)
        checks.check_page_list(document, cell.choice, cell.segments, problems)
        checks.check_equal(document, cell.choice, cell.segments, entries_by_name, problems)
    if sound:
        if only is None:  # what is for the other cells is no fault of these
            sets.report_unused()
        checks.check_unused_sets(document, problems)
        if not cells and not problems.errors:
            problems.add("no-steps", document.nodes.where, "no step's `when` holds in any cell")
    changes = {axis.name: step_range.names(axis) for axis in swept}
    return Expansion(
        used_builds,
        client_builds,
        swept,
        changes,
        cells,
        machines.base,
        step_range.before_checkpoints,
        [build.name for build in chosen],
        grid.design,
        tuple(grid.forbidden(document.spec.exclude)) if document.spec.tune else (),
    )


def _choices(document: Document, grid: Grid, only: str | None, problems: Problems) -> list[Choice]:
    spec, nodes = document.spec, document.nodes.get("also")
    pairs = zip(spec.also, nodes if isinstance(nodes, Seq) else (), strict=True)
    also: list[Also] = [(entry, node_location(node, document.nodes.where)) for entry, node in pairs]
    wanted = Text(only, Location("--only", 1, 1)) if only else None
    design = DesignUse.of(document, problems)
    if design is None and spec.design is not None:
        return []  # its fault is reported, and the whole grid may be too large
    return grid.choices(spec.exclude, also, wanted, spec.repeat.highest * spec.repeat.runs, design)


def _sweep_location(document: Document) -> Location:
    return document.nodes.at.get("sweep", document.nodes.where)


def _report_no_choices(document: Document, only: str | None, problems: Problems) -> None:
    if only:
        where, hint = Location("--only", 1, 1), "`--only` holds for none of them"
        problems.add("empty-grid", where, "no cell is left", hint)
    else:
        hint = "`exclude` or the points' `when` leave nothing"
        problems.add("empty-grid", _sweep_location(document), "the sweep has no cells", hint, len("sweep"))
