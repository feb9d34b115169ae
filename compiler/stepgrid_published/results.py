"""Folders of published results: read whole or not at all, planned like a spec of ours, and published in the store.

Whatever is not understood is skipped only where the command says so. The published summary files are written again,
with a table of the figures that our rules make differently."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from stepgrid.collect.step_figures import STATED
from stepgrid.host.files import make_folder, write_json
from stepgrid.model.figures import rows
from stepgrid.model.plan import (
    BUILD,
    IMPORT,
    STAGE_PREFIX,
    CellStep,
    Plan,
    PlannedAxis,
    PlannedBuild,
    PlannedCell,
    PlannedRepeat,
    PlannedReport,
    PlannedStage,
    PlannedStep,
)
from stepgrid.model.records import replace
from stepgrid.model.units import counted
from stepgrid.plan import identity, plan_file
from stepgrid.store import plans
from stepgrid.store.paths import ATTEMPT_FILE, BUILD_FILE, RESULT_FILE
from stepgrid.store.results import result_checksums
from stepgrid.store.store import Store
from stepgrid_published.importer import (
    IMPORTERS,
    Faults,
    FolderError,
    ImportedStep,
    ImportProblem,
    RecomputedFigure,
    sort_problems,
)

HARDWARE = {"id": "elsewhere"}
SHOWN_FILES = 5  # of a folder, by name
DIFFERENCES = "legacy-and-clean.tsv"


class PublishedPlan(Struct, frozen=True):
    plan: Plan
    stages: Mapping[str, Sequence[ImportedStep]]  # by id; planned stages that a run lacks are missing


class PublishedFolder(Struct, frozen=True):
    planned: PublishedPlan
    summaries: Mapping[str, str]  # as published, by name
    differences: Sequence[RecomputedFigure]
    skipped: Sequence[ImportProblem] = ()
    unsummarized: Sequence[ImportProblem] = ()  # results that no published summary has
    derived: Sequence[Path] = ()  # files that are made of those that were read
    truncated: Sequence[Path] = ()  # files whose last line is half a line
    refused: Sequence[ImportProblem] = ()  # of files with faults, where the others were imported


def read_folder(kind: str, folder: Path, skip_unknown: bool = False) -> PublishedFolder:
    """Read published results; a FolderError holds everything that keeps them from being read."""
    faults, importer = Faults(), IMPORTERS.get(kind)
    _check_links(folder)
    try:
        records = importer.read(folder, faults)
    except (ValueError, ArithmeticError, RecursionError) as error:  # a number of too many digits, say
        problem = ImportProblem(folder, None, f"a file in it cannot be read: {str(error).partition(':')[0]}")
        raise FolderError([*faults, problem]) from None
    faults.stop()
    steps = [_with_valid_texts(step) for step in importer.measured(records)]
    _check_steps(kind, folder, steps, faults)
    unread = sorted(path for path in folder.rglob("*") if path.is_file() and path not in faults.read)
    derived = [path for path in unread if importer.aside(path.name.removesuffix(".gz"))]
    unknown = [*faults.unknown, *_unknown_files([path for path in unread if path not in derived])]
    if unknown and not skip_unknown:
        raise FolderError([*unknown, *faults.refused], unknown=True)
    if faults.cut:
        sentence = f"half a line at the end of {counted(len(faults.cut), 'file')} is not read: {list_names(faults.cut)}"
        unknown.append(ImportProblem(folder, None, sentence))
    skipped, refused = sort_problems([*unknown, *faults.left_out]), sort_problems(faults.refused)
    warnings = [f"refused: {fault.sentence}" for fault in refused]
    warnings += [f"left out: {fault.sentence}" for fault in skipped]
    path = folder.resolve()
    title = f"{kind} results of {path.parent.name}/{path.name}"
    return PublishedFolder(
        plan_results(kind, title, str(folder), steps, warnings),
        importer.legacy(records),
        importer.differences(records),
        skipped,
        importer.unsummarized(records),
        derived,
        faults.cut,
        refused,
    )


def _check_links(folder: Path) -> None:
    """Refuse links out of the folder: files are copied, and shown."""
    root = os.path.realpath(folder)
    links = [path for path in folder.rglob("*") if path.is_symlink()]
    outside = [path for path in links if os.path.commonpath((root, os.path.realpath(path))) != root]
    if outside:
        sentence = "is a link out of the folder: replace it by a copy of what it leads to"
        raise FolderError([ImportProblem(path, None, sentence) for path in sorted(outside)])


def _with_valid_texts(step: ImportedStep) -> ImportedStep:
    """Replace bytes that are no UTF-8, which summaries have as surrogates: no result can hold them."""

    def valid(text: str) -> str:
        return text.encode("utf-8", errors="surrogateescape").decode("utf-8", errors="replace")

    def all_valid(texts: Mapping[str, str]) -> dict[str, str]:
        return {name: valid(text) for name, text in texts.items()}

    return replace(
        step,
        build=valid(step.build),
        step=valid(step.step),
        version=valid(step.version),
        labels=all_valid(step.labels),
        variables=all_valid(step.variables),
        figures=replace(step.figures, facts=all_valid(step.figures.facts)),
    )


def _check_steps(kind: str, folder: Path, steps: Sequence[ImportedStep], faults: Faults) -> None:
    if not steps:
        if faults.refused:
            raise FolderError(faults.refused)
        faults.add(folder, None, f"there are no {kind} results in it{_other_results(kind, folder)}")
    counts = Counter((f"{_title(_key(step))}, load {step.load + 1}", _name(step)) for step in steps)
    for title, name in (key for key, count in counts.items() if count > 1):
        faults.add(folder, None, f"two results of {name} of {title} in it: one may not stand for both")
    if list(faults):
        raise FolderError([*faults, *faults.refused])


def _other_results(kind: str, folder: Path) -> str:
    """Name kinds that have results in the folder, else the first folder in it that has some of this kind."""
    if kinds := [name for name in IMPORTERS.names() if name != kind and _holds_results(name, folder)]:
        return f"; there are those of {' and '.join(kinds)}"
    folders = sorted(path for path in folder.iterdir() if path.is_dir())
    first = next((path for path in folders if _holds_results(kind, path)), None)
    return f"; {first.name} in it has some: import its folders one by one" if first else ""


def _holds_results(kind: str, folder: Path) -> bool:
    faults, importer = Faults(), IMPORTERS.get(kind)
    try:
        return bool(importer.measured(importer.read(folder, faults))) and not list(faults)
    except FolderError:
        return False


def _unknown_files(paths: Sequence[Path]) -> Iterator[ImportProblem]:
    for folder in dict.fromkeys(path.parent for path in paths):
        files = [path for path in paths if path.parent == folder]
        count = "1 file is" if len(files) == 1 else f"{len(files):,} files are"
        yield ImportProblem(folder, None, f"{count} not understood: {list_names(files)}")


def list_names(files: Sequence[Path]) -> str:
    suffix = f" and {len(files) - SHOWN_FILES:,} more" if len(files) > SHOWN_FILES else ""
    return f"{', '.join(path.name for path in files[:SHOWN_FILES])}{suffix}"


def write_summaries(target: Path, folder: PublishedFolder) -> None:
    """Write the published summary files, and the table of the figures that differ."""
    target.mkdir(parents=True, exist_ok=True)
    for name, text in folder.summaries.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
    if folder.differences:
        rows = [("file", "row", "figure", "legacy", "clean", "why")]
        rows += [(fig.file, fig.row, fig.figure, fig.legacy, fig.clean, fig.why) for fig in folder.differences]
        (target / DIFFERENCES).write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


# The plan: a stage for each run, a cell for each build and combination of labels.


class _Key(NamedTuple):
    build: str
    labels: tuple[tuple[str, str], ...]


def plan_results(
    kind: str, title: str, source: str, steps: Sequence[ImportedStep], warnings: Sequence[str] = ()
) -> PublishedPlan:
    """Plan what was measured. `source`: the folder, as it was given."""
    runs: dict[_Key, dict[int, dict[str, ImportedStep]]] = {}
    builds: dict[str, PlannedBuild] = {}
    for step in steps:
        runs.setdefault(_key(step), {}).setdefault(step.load, {})[_name(step)] = step
        if step.build not in builds:
            published = {"published": step.build}
            build_id = identity.build_id(kind, step.version, published, "")
            builds[step.build] = PlannedBuild(build_id, step.build, kind, step.version, published)
    planner = _Planner(kind, builds)
    cells = tuple(planner.plan_cell(key, loads) for key, loads in runs.items())
    axes = tuple(_list_axes(steps))
    plan = Plan(
        digest="",
        title=title,
        spec=f"{IMPORT} {kind} {source}",
        scale=None,
        axes=axes,
        cells=cells,
        builds=tuple(sorted(builds.values(), key=lambda build: build.id)),
        stages=tuple(sorted(planner.stages.values(), key=lambda stage: stage.id)),
        hardware=HARDWARE,
        report=PlannedReport({BUILD: axes[0].labels[0]}),
        warnings=tuple(warnings),
    )
    return PublishedPlan(replace(plan, digest=plan_file.digest(plan)), planner.steps)


class _Planner(Struct, frozen=True):
    kind: str
    builds: Mapping[str, PlannedBuild]
    stages: dict[str, PlannedStage] = {}
    steps: dict[str, Sequence[ImportedStep]] = {}  # that were measured, by stage

    def plan_cell(self, key: _Key, loads: Mapping[int, Mapping[str, ImportedStep]]) -> PlannedCell:
        """Plan the loads. Where runs lack steps, each step has a stage of its own, so that one may be missing."""
        steps = {name: step for run in loads.values() for name, step in run.items()}
        is_whole = all(run.keys() == steps.keys() for run in loads.values())
        blocks = [list(steps)] if is_whole else [[name] for name in steps]
        repeats = tuple(
            PlannedRepeat(load, 0, tuple(self._plan_stage(key, load, block, loads[load]) for block in blocks))
            for load in sorted(loads)
        )
        cell_steps = tuple(
            CellStep(name, self.kind, stage, index, True, steps[name].step, steps[name].variables)
            for stage, block in enumerate(blocks)
            for index, name in enumerate(block)
        )
        cell = "c-" + identity.digest([self.kind, *key])
        return PlannedCell(cell, {BUILD: key.build, **dict(key.labels)}, self.builds[key.build].id, cell_steps, repeats)

    def _plan_stage(self, key: _Key, load: int, block: Sequence[str], run: Mapping[str, ImportedStep]) -> str:
        steps = [run[name] for name in block if name in run]
        content = [
            [_stated_body(step), [hashlib.sha256(path.read_bytes()).hexdigest() for path in step.files]]
            for step in steps
        ]
        stage = STAGE_PREFIX + identity.digest([self.kind, *key, load, list(block), content])
        self.stages[stage] = PlannedStage(
            id=stage,
            title=f"{_title(key)}, load {load + 1}: {', '.join(block)}",
            build=self.builds[key.build].id,
            parent=None,
            children=(),
            load=load,
            run=0,
            hardware=HARDWARE["id"],
            steps=tuple(PlannedStep(name, self.kind, 0, {}, {}, 0) for name in block),
            seconds=sum(step.seconds or 0.0 for step in steps),
            rank=len(self.stages),
        )
        if steps:
            self.steps[stage] = steps
        return stage


def _key(step: ImportedStep) -> _Key:
    return _Key(step.build, tuple(sorted(step.labels.items())))


def _title(key: _Key) -> str:
    return " ".join([key.build, *(f"{axis}={label}" for axis, label in key.labels)])


def _name(step: ImportedStep) -> str:
    return " ".join([step.step, *(f"{name}={value}" for name, value in step.variables.items())])


def _list_axes(steps: Sequence[ImportedStep]) -> Iterator[PlannedAxis]:
    """List builds, labels that differ between databases, and variables that were tried on one database."""
    yield PlannedAxis(BUILD, tuple(dict.fromkeys(step.build for step in steps)))
    for name in dict.fromkeys(name for step in steps for name in step.labels):
        yield PlannedAxis(name, _sort_labels(step.labels[name] for step in steps if name in step.labels))
    for name in dict.fromkeys(name for step in steps for name in step.variables):
        users = [step for step in steps if name in step.variables]
        labels = _sort_labels(step.variables[name] for step in users)
        yield PlannedAxis(name, labels, tuple(dict.fromkeys(step.step for step in users)))


def _sort_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """Sort numbers; others stay in order."""
    unique = tuple(dict.fromkeys(labels))
    return tuple(sorted(unique, key=int)) if all(label.isdecimal() for label in unique) else unique


# Results in the store: all are prepared before the first is published, so that nothing is half imported.


def publish(store: Store, planned: PublishedPlan) -> tuple[int, int]:
    """Publish results; count those that are new, and those that were here already."""
    plan, new_stages = planned.plan, set[str]()
    stages = {stage.id: stage for stage in plan.stages}
    with store.staging("import-legacy") as staged:
        for build in plan.builds:
            make_folder(staged / build.id)
            record = {"id": build.id, "name": build.name, "engine": build.engine, "version": build.version}
            write_json(staged / build.id / BUILD_FILE, {**record, "route": "published"}, durable=False)
        for stage, steps in planned.stages.items():
            _write_result(staged / stage, stages[stage], steps, plan.digest)
        plans.publish(store, plan)
        for build in plan.builds:
            store.publish_import(staged / build.id, store.build_record(build.id))
        for stage in planned.stages:
            if store.result(stage):
                continue
            result = store.results_of(stage) / staged.name
            store.publish_import(staged / stage, result)
            store.set_mark(stage, result / RESULT_FILE)
            new_stages.add(stage)
        plans.outdate_summaries(store, new_stages)
    return len(new_stages), len(planned.stages) - len(new_stages)


def _write_result(folder: Path, stage: PlannedStage, steps: Sequence[ImportedStep], plan: str) -> None:
    for planned_step, (index, step) in zip(stage.steps, enumerate(steps), strict=False):
        name = "".join(letter if letter.isalnum() or letter in "._=-" else "_" for letter in planned_step.name)
        step_folder = folder / "steps" / f"{index}-{name}"
        step_folder.mkdir(parents=True)
        for path in step.files:
            shutil.copyfile(path, step_folder / path.name)
        write_json(step_folder / STATED, _stated_body(step), durable=False)
        if step.argv:
            write_json(step_folder / "command.json", {"argv": list(step.argv), "env": {}}, durable=False)
    first = steps[0]
    attempt = {"stage": stage.id, "attempt": folder.parent.name, "build": stage.build}
    facts = {"plan": plan, "started": first.started, "host": dict(first.host)}
    write_json(folder / ATTEMPT_FILE, {**attempt, **facts}, durable=False)
    records = [{"name": step.step, "kind": stage.steps[0].kind, **_times(step)} for step in steps]
    result = {**attempt, "status": "done", **_times(first), "steps": records, "files": result_checksums(folder)}
    write_json(folder / RESULT_FILE, result, durable=False)


def _times(step: ImportedStep) -> Mapping[str, object]:
    times = {"started": step.started, "seconds": step.seconds}
    return {name: value for name, value in times.items() if value is not None}


def _stated_body(step: ImportedStep) -> dict[str, object]:
    figures = step.figures
    optional = {  # few steps have these: without them the body, and so the stage's id, is what it was before
        "counters": dict(figures.counters),
        "levels": [dict(level) for level in figures.levels],
        "histograms": [list(bucket) for bucket in rows(figures.histograms)],
        "rates": [list(rate) for rate in figures.rates],
    }
    return {
        "failure": step.failure,
        "metrics": dict(figures.metrics),
        "facts": {**figures.facts, **({"source": step.source} if step.source else {})},
        "qps": [list(pair) for pair in figures.qps],
        "warnings": list(figures.warnings),
        **{name: value for name, value in optional.items() if value},
    }
