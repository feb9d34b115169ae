"""An expansion to a plan. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from compiler.expand.builds import Build
from compiler.expand.cells import Cell, Expansion
from compiler.language.nodes import key_place
from compiler.language.problem import Problems, nearest
from compiler.language.read import Document
from compiler.plan import alike, files, identity, stages
from compiler.plan.model import Axis, Plan, PlannedBuild, PlannedCell, PlannedStage, Report
from compiler.plan.order import ranks

BUILD = "build"


def assemble(
    document: Document,
    expansion: Expansion,
    pins: Mapping[str, str],
    problems: Problems,
) -> Plan:
    """`pins`: build name -> what holds its source still."""
    spec, hardware = document.spec, expansion.hardware
    machine = identity.hardware_id({key: value for key, value in hardware.items() if key != "declared"})
    builds = {build.name: _build(build, pins.get(build.name, "")) for build in expansion.builds}
    tree = stages.Tree(spec.seed, spec.repeat.loads, spec.repeat.runs)
    cells = tuple(_cell(cell, builds[cell.build.name].id, machine, tree) for cell in expansion.cells)
    alike.check(expansion.axes, cells, problems)
    axes = _axes(expansion, cells)
    report = _report(document, axes, problems)
    problems.stop_on_errors()
    unnumbered = Plan(
        digest="",
        title=spec.title,
        spec=document.path,
        scale=document.scale,
        axes=axes,
        cells=cells,
        builds=tuple(sorted({build.id: build for build in builds.values()}.values(), key=lambda build: build.id)),
        stages=_stages(tree, [axis.name for axis in axes if axis.name != BUILD], machine, document),
        hardware={**hardware, "id": machine},
        report=report,
        warnings=tuple(f"{problem.where}: {problem.message}" for problem in problems.warnings),
    )
    return replace(unnumbered, digest=identity.text_digest(files.encode(unnumbered)))


def _build(build: Build, pin: str) -> PlannedBuild:
    node = identity.build_id(build.engine, build.version, build.source, pin)
    return PlannedBuild(node, build.name, build.engine, build.version, build.source, str(build.where))


def _cell(cell: Cell, build: str, machine: str, tree: stages.Tree) -> PlannedCell:
    repeats = tree.add(cell, stages.Root(build, machine))
    labels = {axis: str(label) for axis, label in cell.labels.items()}
    node = "c-" + identity.digest(dict(labels))
    return PlannedCell(node, labels, build, tuple(stages.cell_steps(cell)), repeats)


def _axes(expansion: Expansion, cells: Sequence[PlannedCell]) -> tuple[Axis, ...]:
    """The build axis first, then the sweep's, with the labels that cells have, in the order of the spec."""
    builds = tuple(dict.fromkeys(cell.labels[BUILD] for cell in cells))
    found = [Axis(BUILD, builds)]
    for axis in expansion.axes:
        there = {cell.labels.get(axis.name) for cell in cells}
        labels = tuple(point.label for point in axis.points if point.label in there)
        found.append(Axis(axis.name, labels, expansion.changes[axis.name]))
    return tuple(found)


def _stages(tree: stages.Tree, axes: Sequence[str], machine: str, document: Document) -> tuple[PlannedStage, ...]:
    drafts = list(tree.drafts.values())
    rank = ranks(drafts, document.spec.order, document.spec.seed)
    planned = (
        PlannedStage(
            id=draft.id,
            title=stages.title(draft, axes),
            build=draft.build,
            parent=draft.parent,
            children=tuple(sorted(draft.children)),
            load=draft.load,
            run=draft.run,
            hardware=machine,
            steps=draft.steps,
            seconds=draft.seconds,
            rank=rank[draft.id],
        )
        for draft in drafts
    )
    return tuple(sorted(planned, key=lambda stage: stage.id))


def _report(document: Document, axes: Sequence[Axis], problems: Problems) -> Report:
    known = {axis.name: axis.labels for axis in axes}
    for axis, label in document.spec.report.base.items():
        if axis not in known:
            hint = nearest(axis, known)
            where = key_place(label, label.where)
            problems.add("undefined-name", where, f"report.base: there is no axis `{axis}`", hint, len(axis))
        elif label not in known[axis]:
            hint = nearest(label, known[axis])
            message = f"report.base: axis `{axis}` has no cell at `{label}`"
            problems.add("undefined-name", label.where, message, hint, len(label))
    base = {axis: str(label) for axis, label in document.spec.report.base.items()}
    return Report(base, document.spec.report.smallest_effect)
