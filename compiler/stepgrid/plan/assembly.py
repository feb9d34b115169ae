"""An expansion to a plan. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from stepgrid.expand.axes import Axis as SweptAxis
from stepgrid.expand.cells import Expansion
from stepgrid.language.problems import Problems
from stepgrid.language.spec_file import Document
from stepgrid.model.plan import Axis, Json, Plan, PlannedCell, PlannedStage
from stepgrid.model.search import AxisSearch
from stepgrid.plan import builds, identical_points, identity, plan_file, report_check, stage_tree
from stepgrid.plan.cells import Cells
from stepgrid.plan.order import NO_RECORDS, LoadCounts, LoadRecords, ranks
from stepgrid.plan.pins import Pins
from stepgrid.plan.stage_tree import Setups

BUILD = "build"


def assemble(
    document: Document,
    expansion: Expansion,
    pins: Mapping[str, Pins],
    problems: Problems,
    narrowed: bool = False,
    made: builds.OfStore = lambda node: None,
    choice: stage_tree.Choice = stage_tree.todays,
    requested: LoadRecords = NO_RECORDS,
) -> Plan:
    """`pins`: build name -> what holds its source still. `narrowed`: the report is about more cells than there are.

    `made`: what the store has of a build; `choice`: of a stage's ids the one of its results; `requested`: which loads
    it has, and which were asked for."""
    spec = document.spec
    every = (*expansion.builds, *expansion.clients)
    planned = {build.name: builds.planned(build, pins.get(build.name, Pins()), made) for build in every}
    ids = {name: build.id for name, build in planned.items()}
    tree = stage_tree.Tree(spec.seed, _load_counts(document, requested), spec.repeat.runs, Setups(ids), choice)
    planner = Cells([axis.name for axis in expansion.axes], ids, tree, spec.share)
    cells = tuple([planner.planned(cell) for cell in expansion.cells])
    identical_points.check(_telling(expansion), cells, problems)
    axes = _axes(expansion, cells)
    steps = (draft.steps for draft in tree.drafts.values())
    report = report_check.compile_report(document, axes, cells, steps, Problems() if narrowed else problems)
    unnumbered = Plan(
        digest="",
        title=spec.title,
        spec=document.path,
        scale=document.scale,
        axes=axes,
        cells=cells,
        builds=tuple(sorted({build.id: build for build in planned.values()}.values(), key=lambda build: build.id)),
        stages=_stages(tree, [axis.name for axis in axes if axis.name != BUILD], document),
        hardware=identity.machine(expansion.hardware),
        report=report,
        warnings=tuple(f"{problem.where}: {problem.message}" for problem in problems.warnings),
        machines=dict(sorted(planner.machines.items())),
        share=spec.share,
        until=spec.repeat.adaptive,
        searches=tuple(_searches(cells, tree)),
    )
    return replace(unnumbered, digest=plan_file.digest(unnumbered))


def _load_counts(document: Document, records: LoadRecords) -> LoadCounts:
    """Add to a fixed number what a claim asks for, to confirm it."""
    repeat, claims = document.spec.repeat, document.spec.claims
    fresh = max((claim.confirm or 0 for claim in claims), default=0) if repeat.until is None else 0
    return LoadCounts(repeat.fewest, repeat.highest + fresh, records, repeat.until is not None)


def _telling(expansion: Expansion) -> Sequence[SweptAxis]:
    """Axes whose points should differ: on a host that stands in for several machines they are one."""
    if not any("real" in cell.hardware for cell in expansion.cells):
        return expansion.axes
    return [axis for axis in expansion.axes if all(point.hardware is None for point in axis.points)]


def _axes(expansion: Expansion, cells: Sequence[PlannedCell]) -> tuple[Axis, ...]:
    """The build axis first, then the sweep's, with the labels that cells have, in the order of the spec."""
    found = [Axis(BUILD, tuple(dict.fromkeys(cell.labels[BUILD] for cell in cells)))]
    for axis in expansion.axes:
        there = {cell.labels.get(axis.name) for cell in cells}
        labels = tuple(point.label for point in axis.points if point.label in there)
        found.append(Axis(axis.name, labels, expansion.changes[axis.name]))
    return (*found, *_variables(cells))


def _variables(cells: Sequence[PlannedCell]) -> Iterator[Axis]:
    """The variables of live grids are axes of what they run."""
    labels: dict[str, dict[str, None]] = defaultdict(dict)
    changed: dict[str, dict[str, None]] = defaultdict(dict)
    for steps in {id(cell.steps): cell.steps for cell in cells}.values():
        for step in steps:
            for name, value in step.variables.items():
                labels[name][value] = None
                changed[name][step.step] = None
    return (Axis(name, tuple(labels[name]), tuple(changed[name])) for name in labels)


def _searches(cells: Sequence[PlannedCell], tree: stage_tree.Tree) -> Iterator[dict[str, Json]]:
    """Yield the searches of live grids, each once, for the report and the estimates."""
    names: set[tuple[str, str]] = set()
    for cell in cells:
        chain = cell.repeats[0].stages
        for step in cell.steps:
            if step.measured and step.variables:
                search = AxisSearch.of(tree.drafts[chain[step.stage]].steps[step.index].setup)
                if search is not None and (step.step, search.variable) not in names:
                    names.add((step.step, search.variable))
                    yield {"step": step.step, **{k: v for k, v in search.to_json().items() if k != "number"}}


def _stages(tree: stage_tree.Tree, axes: Sequence[str], document: Document) -> tuple[PlannedStage, ...]:
    drafts = list(tree.drafts.values())
    rank = ranks(drafts, document.spec.order, document.spec.seed)
    planned = (
        PlannedStage(
            id=draft.id,
            title=stage_tree.title(draft, axes),
            build=draft.build,
            parent=draft.parent,
            children=tuple(sorted(draft.children)),
            load=draft.load,
            run=draft.run,
            hardware=draft.hardware,
            steps=draft.steps,
            seconds=draft.seconds,
            rank=rank[draft.id],
            todays=tree.todays.get(draft.id, ""),
        )
        for draft in drafts
    )
    return tuple(sorted(planned, key=lambda stage: stage.id))
